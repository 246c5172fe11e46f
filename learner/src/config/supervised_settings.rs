//! The sections `[pretrain]` and `[offline]`: how a network learns from human games, and from data sets. Meaning and
//! source of each key: `config/hive-original.toml`.

use std::ops::Bound::{Excluded, Included};

use std::ops::RangeInclusive;

use net::{Device, DeviceChoice, TrainingPrecision, TrainingSettings};
use samples::human_games::GameTypes;
use samples::split::Split;
use serde::{Deserialize, Serialize};
use shared::bounds::{THREAD_COUNTS, THREADS};
use shared::setting::{SettingError, check_range};

use super::{BATCH_SIZES, LEARNING_RATE_END, STEP_COUNTS};

/// How a network learns without self-play.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupervisedSettings {
    /// `auto`, `cpu` or `cuda:N`.
    pub device: DeviceChoice,
    /// Threads of a step on the CPU, 0..=1024, of which no more are used than there are cores; 0: all cores.
    pub threads: usize,
    /// The numbers in which a step multiplies: `float32`, `bfloat16` or `auto`.
    pub precision: TrainingPrecision,
    /// Threads that make batches ahead of the steps, 1..=1024.
    pub batch_threads: usize,
    /// Seed of the weights, the split and the order.
    pub seed: u64,
    /// Share of the games that is held out to measure with, above 0 and below 1.
    pub held_out_share: f64,
    /// Types of Hive that are learned from: `all` that the network's type includes, or its `own`. Of human games also those
    /// of `replay.human_games`.
    pub game_types: GameTypes,
    /// Positions a step, 1..=65,536.
    pub batch_size: u32,
    /// Times that every game is learned from, at most; 1..=100,000.
    pub epochs: u32,
    /// How the learning rate falls.
    pub learning_rate_schedule: LearningRateSchedule,
    /// Learning rate after the warm-up, above 0 and below 10.
    pub learning_rate: f64,
    /// Factor on the learning rate of the policy head, 0..=1,000,000.
    pub policy_rate_scale: f64,
    /// Factor on the learning rate of the value head, 0..=1,000,000.
    pub value_rate_scale: f64,
    /// Lowest learning rate, above 0 and at most `learning_rate`.
    pub learning_rate_min: f64,
    /// Epochs over which the learning rate rises from 0 in a straight line, 0..=1000.
    pub warmup_epochs: f64,
    /// Epochs without a better held-out loss after which the learning rate is halved (`plateau`), 1..=100,000.
    pub plateau_patience: u32,
    /// Epochs without a better held-out loss after which training ends, 0..=100,000; 0: never.
    pub stop_patience: u32,
    /// Momentum of SGD, at least 0 and below 1.
    pub momentum: f64,
    /// Weight decay of SGD, at least 0 and below 1.
    pub weight_decay: f64,
    /// Length to which a longer gradient is shortened, 0..=1,000,000; 0: none is.
    pub gradient_clip_norm: f64,
    /// Weight of the value error beside the policy's cross-entropy, 0..=1,000,000.
    pub value_loss_weight: f64,
    /// Weight of what the outlook heads get wrong, 0..=1,000,000; idle without them.
    pub outlook_loss_weight: f64,
    /// Steps between two checkpoints, 1..=100,000,000.
    pub checkpoint_steps: u32,
}

/// How the learning rate falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningRateSchedule {
    /// Halved whenever the held-out loss has not improved for `plateau_patience` epochs.
    Plateau,
    /// Along a cosine over all epochs.
    Cosine,
}

impl SupervisedSettings {
    /// Possible values of `epochs` and `plateau_patience`.
    pub const EPOCHS: RangeInclusive<u32> = 1..=100_000;

    /// Returns how a trainer on `device` changes the weights.
    #[must_use]
    pub fn optimizer(&self, device: Device) -> TrainingSettings {
        TrainingSettings {
            policy_rate_scale: self.policy_rate_scale,
            value_rate_scale: self.value_rate_scale,
            momentum: self.momentum,
            weight_decay: self.weight_decay,
            gradient_clip_norm: (self.gradient_clip_norm != 0.0).then_some(self.gradient_clip_norm),
            weight_average_decay: None,
            value_loss_weight: self.value_loss_weight,
            outlook_loss_weight: self.outlook_loss_weight,
            precision: self.precision.on(device),
        }
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        check_range("threads", self.threads, THREADS)?;
        check_range("batch_threads", self.batch_threads, THREAD_COUNTS)?;
        check_range("held_out_share", self.held_out_share, Split::HELD_OUT_SHARES)?;
        check_range("batch_size", self.batch_size, BATCH_SIZES)?;
        check_range("epochs", self.epochs, Self::EPOCHS)?;
        check_range("learning_rate", self.learning_rate, (Excluded(0.0), Excluded(LEARNING_RATE_END)))?;
        check_range("learning_rate_min", self.learning_rate_min, (Excluded(0.0), Included(self.learning_rate)))?;
        check_range("warmup_epochs", self.warmup_epochs, 0.0..=1000.0)?;
        check_range("plateau_patience", self.plateau_patience, Self::EPOCHS)?;
        check_range("stop_patience", self.stop_patience, ..=*Self::EPOCHS.end())?;
        check_range("checkpoint_steps", self.checkpoint_steps, STEP_COUNTS)?;
        check_range("gradient_clip_norm", self.gradient_clip_norm, TrainingSettings::GRADIENT_CLIP_NORMS)?;
        self.optimizer(Device::CPU).check()
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
        assert_eq!(offline.learning_rate_schedule, LearningRateSchedule::Plateau);
        assert_eq!((offline.plateau_patience, offline.learning_rate_min), (5, 1e-6));
        assert!(offline.stop_patience > offline.plateau_patience, "halved before training ends");
    }
}
