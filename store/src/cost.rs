//! Reading what a run took: its cost, its positions, and numbers of which only the newest is kept.

use super::read::read_cost;
use super::{IterationCost, Reader, StoreError};

impl Reader {
    /// Returns what all iterations cost together; `None` if that of one is not known, since it began before costs were
    /// counted.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn run_cost(&self) -> Result<Option<IterationCost>, StoreError> {
        let costs = self.list(&format!("SELECT {} FROM iterations", self.cost_columns), [], |row| read_cost(row, 0))?;
        let add = |sum: IterationCost, cost: IterationCost| IterationCost {
            evaluation_count: sum.evaluation_count + cost.evaluation_count,
            training_sample_count: sum.training_sample_count + cost.training_sample_count,
            flop: sum.flop + cost.flop,
        };
        Ok(costs.into_iter().try_fold(IterationCost::default(), |sum, cost| Some(add(sum, cost?))))
    }
    /// Returns the number of positions of the self-play games of all iterations.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn iteration_position_count(&self) -> Result<u64, StoreError> {
        self.number("SELECT coalesce(sum(position_count), 0) FROM iterations")
    }

    /// Returns the newest value of a metric; `None` if there is none, or it was not finite.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn newest_metric(&self, name: &str) -> Result<Option<f64>, StoreError> {
        let sql = "SELECT value FROM metrics WHERE name = ?1 ORDER BY rowid DESC LIMIT 1";
        Ok(self.list(sql, [name], |row| row.get::<_, Option<f64>>(0))?.pop().flatten())
    }
}
