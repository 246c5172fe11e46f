//! The learning rate of each step, and what the epochs' held-out losses do to it.

use net::cosine_learning_rate;
use serde::{Deserialize, Serialize};

use super::settings::{OfflineConfig, ScheduleKind};

/// How the held-out loss has gone so far.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trend {
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

impl Trend {
    /// Takes in the held-out loss of an epoch. Returns whether it is the best so far.
    pub fn add(&mut self, epoch: u32, loss: f64, config: &OfflineConfig) -> bool {
        // A loss that is no number is no better than any other.
        if self.best_epoch == 0 || loss < self.best_loss {
            *self = Self { best_epoch: epoch, best_loss: loss, stale_epochs: 0, plateau_epochs: 0, ..*self };
            return true;
        }
        self.stale_epochs += 1;
        self.plateau_epochs += 1;
        if self.plateau_epochs >= config.plateau_patience {
            self.plateau_epochs = 0;
            self.halving_count += 1;
        }
        false
    }

    /// Returns whether more epochs are not worth it.
    #[must_use]
    pub fn is_exhausted(&self, config: &OfflineConfig) -> bool {
        config.stop_patience > 0 && self.stale_epochs >= config.stop_patience
    }
}

/// Returns the learning rate of `step` (from 0) in a training of `epoch_steps` steps an epoch.
#[must_use]
pub fn learning_rate(config: &OfflineConfig, trend: &Trend, step: u64, epoch_steps: u64) -> f64 {
    let warmup_steps = config.warmup_epochs * epoch_steps as f64;
    let done = (step + 1) as f64;
    if done < warmup_steps {
        return config.learning_rate * done / warmup_steps;
    }
    match config.learning_rate_schedule {
        ScheduleKind::Plateau => {
            let halved = config.learning_rate * 0.5_f64.powi(trend.halving_count.min(1000) as i32);
            halved.max(config.learning_rate_min)
        }
        ScheduleKind::Cosine => {
            let warmup_steps = warmup_steps as u64;
            let total = (u64::from(config.epochs) * epoch_steps).saturating_sub(warmup_steps);
            let step = step.saturating_sub(warmup_steps);
            cosine_learning_rate(step, total, config.learning_rate, config.learning_rate_min)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LearnerConfig;

    fn config(learning_rate_schedule: ScheduleKind) -> OfflineConfig {
        OfflineConfig {
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
        for kind in [ScheduleKind::Plateau, ScheduleKind::Cosine] {
            let rate = |step| learning_rate(&config(kind), &Trend::default(), step, 100);
            assert!((rate(0) - 0.001).abs() < 1e-12);
            assert!((rate(49) - 0.05).abs() < 1e-12);
            assert!((rate(100) - 0.1).abs() < 1e-12);
        }
    }

    #[test]
    fn a_cosine_ends_with_the_last_epoch() {
        let rate = |step| learning_rate(&config(ScheduleKind::Cosine), &Trend::default(), step, 100);
        assert!((rate(550) - 0.055).abs() < 1e-12);
        assert!(rate(999) < 0.0101 && rate(999) >= 0.01, "{}", rate(999));
        assert!((100..999).all(|step| rate(step + 1) < rate(step)));
    }

    #[test]
    fn a_plateau_halves_and_then_ends() {
        let config = config(ScheduleKind::Plateau);
        let mut trend = Trend::default();
        let rate = |trend: &Trend| learning_rate(&config, trend, 500, 100);
        assert!(trend.add(1, 3.0, &config) && trend.add(2, 2.0, &config));
        assert!(!trend.add(3, 2.0, &config), "as good is not better");
        assert!((rate(&trend) - 0.1).abs() < 1e-12);
        assert!(!trend.add(4, 2.5, &config));
        assert!((rate(&trend) - 0.05).abs() < 1e-12);
        assert!(trend.add(5, 1.9, &config) && trend.best_epoch == 5);
        assert!((rate(&trend) - 0.05).abs() < 1e-12, "a better loss does not undo the halving");
        for epoch in 6..11 {
            assert!(!trend.is_exhausted(&config));
            assert!(!trend.add(epoch, f64::NAN, &config));
        }
        assert!(trend.is_exhausted(&config));
        assert!((rate(&trend) - 0.0125).abs() < 1e-12);
        trend.halving_count = 50;
        assert!((rate(&trend) - 0.01).abs() < 1e-12, "never below the least");
    }
}
