//! The sections `[pretrain]` and `[offline]`: how a network learns from people's games, and from data sets. Meaning and
//! source of each key: `config/hive-original.toml`.

use net::{DeviceChoice, TrainingPrecision};
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, require};

/// How a network learns without self-play.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfflineConfig {
    /// `auto`, `cpu` or `cuda:N`.
    pub device: DeviceChoice,
    /// Threads of a step on the CPU; 0: all cores.
    pub threads: usize,
    /// The numbers in which a step multiplies: `float32`, `bfloat16` or `auto`.
    pub precision: TrainingPrecision,
    /// Threads that make batches ahead of the steps.
    pub batch_threads: usize,
    /// Seed of the weights, of the split and of the order.
    pub seed: u64,
    /// Share of the games that is held out to measure with.
    pub held_out_share: f64,
    /// Positions a step.
    pub batch_size: u32,
    /// Times that every game is learned from, at most.
    pub epochs: u32,
    /// How the learning rate falls.
    pub learning_rate_schedule: ScheduleKind,
    /// Learning rate after the warm-up.
    pub learning_rate: f64,
    /// Times the learning rate that the weights of the policy head alone are changed with.
    pub policy_rate_scale: f64,
    /// Times the learning rate that the weights of the value head alone are changed with.
    pub value_rate_scale: f64,
    /// Learning rate that is never gone below.
    pub learning_rate_min: f64,
    /// Epochs over which the learning rate rises from nothing.
    pub warmup_epochs: f64,
    /// Epochs without a better held-out loss after which the learning rate is halved (`plateau`).
    pub plateau_patience: u32,
    /// Epochs without a better held-out loss after which training ends; 0: it never does.
    pub stop_patience: u32,
    /// Momentum of SGD.
    pub momentum: f64,
    /// Weight decay of SGD.
    pub weight_decay: f64,
    /// Weight of the value error beside the policy's cross-entropy.
    pub value_loss_weight: f64,
    /// Steps between two checkpoints.
    pub checkpoint_steps: u32,
}

/// How the learning rate falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleKind {
    /// Halved whenever the held-out loss has not become better for a while.
    Plateau,
    /// Along a cosine over all epochs: for a time that is fixed beforehand.
    Cosine,
}

impl OfflineConfig {
    /// Checks every value; `section` is where the keys stand.
    ///
    /// # Errors
    /// [`ConfigError`] naming the first key that is impossible.
    pub fn check(&self, section: &str) -> Result<(), ConfigError> {
        let require =
            |is_fine, key: &str, problem: &dyn Fn() -> String| require(is_fine, &format!("{section}.{key}"), problem);
        let counts = [
            ("batch_threads", self.batch_threads),
            ("batch_size", self.batch_size as usize),
            ("epochs", self.epochs as usize),
            ("plateau_patience", self.plateau_patience as usize),
            ("checkpoint_steps", self.checkpoint_steps as usize),
        ];
        for (key, count) in counts {
            require(count >= 1, key, &|| format!("{count} is below 1"))?;
        }
        for (key, share) in [("momentum", self.momentum), ("weight_decay", self.weight_decay)] {
            require((0.0..1.0).contains(&share), key, &|| format!("{share} is not in 0..1"))?;
        }
        let share = self.held_out_share;
        require(share > 0.0 && share < 1.0, "held_out_share", &|| format!("{share} is not between 0 and 1"))?;
        let (min, max) = (self.learning_rate_min, self.learning_rate);
        require(max > 0.0 && max < 10.0, "learning_rate", &|| format!("{max} is not in 0..10"))?;
        require(min > 0.0 && min <= max, "learning_rate_min", &|| format!("{min} is not in 0..={max}"))?;
        let epochs = self.warmup_epochs;
        require((0.0..=1000.0).contains(&epochs), "warmup_epochs", &|| format!("{epochs} is not in 0..=1000"))?;
        let weights = [
            ("policy_rate_scale", self.policy_rate_scale),
            ("value_rate_scale", self.value_rate_scale),
            ("value_loss_weight", self.value_loss_weight),
        ];
        for (key, weight) in weights {
            require((0.0..=100.0).contains(&weight), key, &|| format!("{weight} is not in 0..=100"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LearnerConfig;

    #[test]
    fn data_sets_are_learned_from_as_first_described() {
        let offline = LearnerConfig::default().offline;
        assert_eq!((offline.batch_size, offline.warmup_epochs, offline.held_out_share), (64, 1.0, 0.1));
        assert_eq!(offline.learning_rate_schedule, ScheduleKind::Plateau);
        assert_eq!((offline.plateau_patience, offline.learning_rate_min), (5, 1e-6));
        assert!(offline.stop_patience > offline.plateau_patience, "halved before it is given up");
    }
}
