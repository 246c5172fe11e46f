//! What a run costs: leaves answered and samples learned from, and the arithmetic of both.
//!
//! The cost of an iteration stands in the store. Here is only what has been answered since it was last written there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inference::{InferenceCounters, InferenceCounts};
use net::{Arithmetic, NetworkShape};
use shared::encoding::Encoding;
use store::{Change, IterationCost, IterationRow, StoreError};

use super::work_time::work_time_change;
use super::{Pipeline, PipelineError};
use crate::progress::RunEffort;

/// Time between two writes of the cost: what a kill may lose.
const WRITE_INTERVAL: Duration = Duration::from_secs(10);
/// Time between two writes while nothing is evaluated: the time costs too.
const IDLE_WRITE_INTERVAL: Duration = Duration::from_secs(60);
/// Operations of a PFLOP, the unit in which costs are shown.
const PFLOP: f64 = 1e15;

/// Charges iterations for what was answered and learned while they went on.
pub struct CostMeter {
    arithmetic: Arithmetic,
    inference: Arc<InferenceCounters>,
    charged: InferenceCounts,
    written_at: Instant,
}

impl CostMeter {
    /// Makes a meter of a run whose networks have this shape. What was answered before is charged to nobody.
    #[must_use]
    pub fn new(shape: &NetworkShape, inference: Arc<InferenceCounters>) -> Self {
        let charged = inference.counts();
        Self { arithmetic: shape.arithmetic(), inference, charged, written_at: Instant::now() }
    }

    /// Returns whether the cost should be written although the iteration does not go on.
    pub(super) fn is_due(&self) -> bool {
        let elapsed = self.written_at.elapsed();
        elapsed >= IDLE_WRITE_INTERVAL || (elapsed >= WRITE_INTERVAL && self.inference.counts() != self.charged)
    }

    /// Adds the evaluations since the last call, which are then to be written. Both counters only grow.
    pub(super) fn charge_evaluations(&mut self, cost: &mut IterationCost) {
        let now = self.inference.counts();
        let evaluations = now.evaluation_count - self.charged.evaluation_count;
        let active_cells = now.active_cell_count - self.charged.active_cell_count;
        cost.evaluation_count += evaluations;
        cost.flop += self.arithmetic.evaluation_flop(evaluations, active_cells);
        (self.charged, self.written_at) = (now, Instant::now());
    }

    /// Adds a training on so many samples, before which nothing but evaluations was added. Samples have as many active
    /// cells as the leaves that were evaluated, on average: both are positions of the same games.
    pub(super) fn charge_training(&self, cost: &mut IterationCost, sample_count: u64) {
        let flop = if cost.evaluation_count == 0 {
            self.arithmetic.evaluation_flop_max()
        } else {
            cost.flop / cost.evaluation_count as f64
        };
        cost.training_sample_count += sample_count;
        cost.flop += Arithmetic::TRAINING_FACTOR * flop * sample_count as f64;
    }
}

impl<E: Encoding> Pipeline<E> {
    /// Writes the iteration, charged for the evaluations so far, together with `changes`.
    pub(super) fn write(&mut self, iteration: &mut IterationRow, mut changes: Vec<Change>) -> Result<(), StoreError> {
        if let Some(cost) = &mut iteration.cost {
            self.cost.charge_evaluations(cost);
        }
        changes.push(Change::PutIteration(iteration.clone()));
        changes.push(work_time_change(self.work_time.total(), iteration.training_step_start));
        self.store.write(changes)?;
        self.show_totals()
    }

    /// Shows what the run took, as far as it is in the store.
    pub(super) fn show_totals(&mut self) -> Result<(), StoreError> {
        let reader = self.store.store().reader()?;
        let (cost, position_count) = (reader.run_cost()?, reader.iteration_position_count()?);
        self.reporter.show_totals(RunEffort { cost, position_count, work_time: self.work_time.total() });
        Ok(())
    }

    /// Writes what the iteration cost so far, now and then, so that a kill loses little of it.
    pub(super) fn keep_cost(&mut self, iteration: &mut IterationRow) -> Result<(), PipelineError> {
        if iteration.cost.is_none() || !self.cost.is_due() {
            return Ok(());
        }
        self.write(iteration, vec![]).map_err(PipelineError::StoreIteration)
    }
}

/// Writes a cost in PFLOP with three digits, or says that it is not known.
pub(super) fn format_pflop(cost: Option<&IterationCost>) -> String {
    cost.map_or("unknown".to_owned(), |cost| {
        let pflop = cost.flop / PFLOP;
        let digits = if pflop > 0.0 { (2.0 - pflop.log10().floor()).clamp(0.0, 12.0) as usize } else { 0 };
        format!("{pflop:.digits$}")
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use net::{Architecture, NetworkSettings, PolicyHead, Trunk};
    use shared::encoding::tictactoe::TicTacToeEncoding;
    use shared::game::tictactoe::TicTacToe;

    use super::*;

    fn shape(trunk: Trunk) -> NetworkShape {
        let (architecture, policy_head) = (Architecture::Residual, PolicyHead::Spatial);
        let settings = NetworkSettings {
            architecture,
            blocks: 1,
            filters: 8,
            trunk,
            policy_head,
            value_hidden: 8,
            global_pooling_every: 0,
            outlook_heads: false,
        };
        NetworkShape::new(&TicTacToeEncoding::new(TicTacToe), settings)
    }

    #[test]
    fn an_iteration_is_charged_for_what_was_answered_meanwhile() {
        let inference = Arc::new(InferenceCounters::default());
        let answer = |evaluations, cells| {
            inference.evaluation_count.fetch_add(evaluations, Ordering::Relaxed);
            inference.active_cell_count.fetch_add(cells, Ordering::Relaxed);
        };
        answer(1000, 9000);
        let shape = shape(Trunk::Cells);
        let mut meter = CostMeter::new(&shape, Arc::clone(&inference));
        let (mut first, mut second) = (IterationCost::default(), IterationCost::default());
        meter.charge_training(&mut first, 10);
        let flop_max = shape.arithmetic().evaluation_flop_max();
        assert_eq!((first.training_sample_count, first.flop), (10, 30.0 * flop_max));
        answer(3, 12);
        meter.charge_evaluations(&mut second);
        meter.charge_evaluations(&mut second);
        let flop = shape.arithmetic().evaluation_flop(3, 12);
        assert_eq!((second.evaluation_count, second.flop), (3, flop));
        meter.charge_training(&mut second, 6);
        assert_eq!(
            (second.training_sample_count, second.flop),
            (6, flop + 6.0 * flop),
            "three times a third, six times"
        );
    }

    #[test]
    fn costs_are_shown_with_three_digits() {
        let shown = |flop| format_pflop(Some(&IterationCost { flop, ..IterationCost::default() }));
        assert_eq!([shown(0.0), shown(1.234e11), shown(1.234e15), shown(1.234e19)], ["0", "0.000123", "1.23", "12340"]);
        assert_eq!(format_pflop(None), "unknown");
    }
}
