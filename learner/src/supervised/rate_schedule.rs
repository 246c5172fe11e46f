//! The learning rate of each step, and how the epochs' held-out losses change it.

use net::cosine_learning_rate;
use serde::{Deserialize, Serialize};

use crate::config::{LearningRateSchedule, SupervisedSettings};

/// The course of the held-out loss so far.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossTrend {
    /// Epoch of the best held-out loss, from 1; 0 before the first.
    pub best_epoch: u32,
    /// That loss.
    pub best_loss: f64,
    /// Epochs since then.
    pub stale_epochs: u32,
    /// Epochs since then or since the last halving.
    pub plateau_epochs: u32,
    /// Times that the learning rate was halved.
    pub halving_count: u32,
}

impl LossTrend {
    /// Adds the held-out loss of an epoch. Returns whether it is the best so far.
    pub fn add(&mut self, epoch: u32, loss: f64, settings: &SupervisedSettings) -> bool {
        // A loss that is not a number is never better.
        if self.best_epoch == 0 || loss < self.best_loss {
            *self = Self { best_epoch: epoch, best_loss: loss, stale_epochs: 0, plateau_epochs: 0, ..*self };
            return true;
        }
        self.stale_epochs += 1;
        self.plateau_epochs += 1;
        if self.plateau_epochs >= settings.plateau_patience {
            self.plateau_epochs = 0;
            self.halving_count += 1;
        }
        false
    }

    /// Returns whether training has stopped improving.
    #[must_use]
    pub fn is_exhausted(&self, settings: &SupervisedSettings) -> bool {
        settings.stop_patience > 0 && self.stale_epochs >= settings.stop_patience
    }
}

/// Returns the learning rate of `step` (from 0) in a training of `epoch_steps` steps an epoch.
#[must_use]
pub fn learning_rate(settings: &SupervisedSettings, trend: &LossTrend, step: u64, epoch_steps: u64) -> f64 {
    let warmup_steps = settings.warmup_epochs * epoch_steps as f64;
    let done = (step + 1) as f64;
    if done < warmup_steps {
        return settings.learning_rate * done / warmup_steps;
    }
    match settings.learning_rate_schedule {
        LearningRateSchedule::Plateau => {
            let halved = settings.learning_rate * 0.5_f64.powi(trend.halving_count.min(1000) as i32);
            halved.max(settings.learning_rate_min)
        }
        LearningRateSchedule::Cosine => {
            let warmup_steps = warmup_steps as u64;
            let total = (u64::from(settings.epochs) * epoch_steps).saturating_sub(warmup_steps);
            let step = step.saturating_sub(warmup_steps);
            cosine_learning_rate(step, total, settings.learning_rate, settings.learning_rate_min)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LearnerConfig;

    fn settings(learning_rate_schedule: LearningRateSchedule) -> SupervisedSettings {
        SupervisedSettings {
            learning_rate_schedule,
            learning_rate: 0.1,
            learning_rate_min: 0.01,
            epochs: 10,
            warmup_epochs: 1.0,
            plateau_patience: 2,
            stop_patience: 5,
            ..LearnerConfig::default().pretrain
        }
    }

    #[test]
    fn a_warm_up_rises_in_a_straight_line() {
        for kind in [LearningRateSchedule::Plateau, LearningRateSchedule::Cosine] {
            let rate = |step| learning_rate(&settings(kind), &LossTrend::default(), step, 100);
            assert!((rate(0) - 0.001).abs() < 1e-12);
            assert!((rate(49) - 0.05).abs() < 1e-12);
            assert!((rate(100) - 0.1).abs() < 1e-12);
        }
    }

    #[test]
    fn a_cosine_ends_with_the_last_epoch() {
        let rate = |step| learning_rate(&settings(LearningRateSchedule::Cosine), &LossTrend::default(), step, 100);
        assert!((rate(550) - 0.055).abs() < 1e-12);
        assert!(rate(999) < 0.0101 && rate(999) >= 0.01, "{}", rate(999));
        assert!((100..999).all(|step| rate(step + 1) < rate(step)));
    }

    #[test]
    fn a_plateau_halves_and_then_ends() {
        let settings = settings(LearningRateSchedule::Plateau);
        let mut trend = LossTrend::default();
        let rate = |trend: &LossTrend| learning_rate(&settings, trend, 500, 100);
        assert!(trend.add(1, 3.0, &settings) && trend.add(2, 2.0, &settings));
        assert!(!trend.add(3, 2.0, &settings), "as good is not better");
        assert!((rate(&trend) - 0.1).abs() < 1e-12);
        assert!(!trend.add(4, 2.5, &settings));
        assert!((rate(&trend) - 0.05).abs() < 1e-12);
        assert!(trend.add(5, 1.9, &settings) && trend.best_epoch == 5);
        assert!((rate(&trend) - 0.05).abs() < 1e-12, "a better loss does not undo the halving");
        for epoch in 6..11 {
            assert!(!trend.is_exhausted(&settings));
            assert!(!trend.add(epoch, f64::NAN, &settings));
        }
        assert!(trend.is_exhausted(&settings));
        assert!((rate(&trend) - 0.0125).abs() < 1e-12);
        trend.halving_count = 50;
        assert!((rate(&trend) - 0.01).abs() < 1e-12, "never below the least");
    }
}
