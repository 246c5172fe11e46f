//! Reading what a run cost.

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
}
