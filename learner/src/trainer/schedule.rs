//! Learning rates of the steps of a run.

use net::{cosine_learning_rate, cosine_learning_rate_at};

use super::TrainingJob;
use crate::config::{LearningRates, TrainingConfig};

/// Returns the learning rate of the step behind `training_step` others.
///
/// Where the number of steps follows from the games, that of a whole run is not known in advance: the rate then falls
/// with the iterations done, and within an iteration with the share of its steps.
pub(super) fn learning_rate(
    config: &TrainingConfig,
    rates: LearningRates,
    job: TrainingJob,
    training_step: u64,
) -> f64 {
    let LearningRates { first, last } = rates;
    if config.uses_per_position == 0.0 {
        let step_count = u64::from(config.iterations) * u64::from(config.steps_per_iteration);
        return cosine_learning_rate(training_step, step_count, first, last);
    }
    let steps = job.step_end.saturating_sub(job.step_start).max(1);
    let share = training_step.saturating_sub(job.step_start).min(steps) as f64 / steps as f64;
    let iterations_done = f64::from(job.iteration.saturating_sub(1)) + share;
    cosine_learning_rate_at(iterations_done / f64::from(config.iterations), first, last)
}

#[cfg(test)]
mod tests {
    use shared::ids::{Generation, NetworkId};

    use super::*;
    use crate::config::LearnerConfig;

    const RATES: LearningRates = LearningRates { first: 0.01, last: 0.0001 };

    fn config(uses_per_position: f64) -> TrainingConfig {
        let training = LearnerConfig::default().training;
        TrainingConfig { iterations: 4, steps_per_iteration: 10, uses_per_position, ..training }
    }

    fn job(iteration: u32, step_start: u64, step_end: u64) -> TrainingJob {
        let (network_id, generation) = (NetworkId::FIRST, Generation::default());
        TrainingJob {
            iteration,
            window_end: 0,
            window_position_count: 1,
            step_start,
            step_end,
            candidate_id: network_id,
            best_id: network_id,
            generation,
            starts_from_best: false,
        }
    }

    #[test]
    fn a_fixed_number_of_steps_falls_with_the_steps() {
        for step in [0, 7, 40, 99] {
            let rate = learning_rate(&config(0.0), RATES, job(3, 20, 30), step);
            assert_eq!(rate.to_bits(), cosine_learning_rate(step, 40, 0.01, 0.0001).to_bits());
        }
    }

    #[test]
    fn steps_that_follow_from_the_games_fall_with_the_iterations() {
        let rate = |job, step| learning_rate(&config(4.0), RATES, job, step);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a}, expected {b}");
        close(rate(job(1, 0, 300), 0), 0.01);
        close(rate(job(3, 500, 507), 500), 0.00505);
        // The end of one iteration and the start of the next are one point, however long either is.
        close(rate(job(2, 300, 500), 500), rate(job(3, 500, 507), 500));
        // Half of the second of four: 3/8 of the way.
        close(rate(job(2, 300, 500), 400), cosine_learning_rate(3, 8, 0.01, 0.0001));
        close(rate(job(4, 507, 600), 600), 0.0001);
        close(rate(job(90, 9000, 9100), 9050), 0.0001);
    }
}
