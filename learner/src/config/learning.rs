//! Sections about training on the games of the run: `[training]`, `[replay]`.

use std::ops::Bound::{Excluded, Included};
use std::path::PathBuf;

use net::{Device, DeviceChoice, TrainingPrecision, TrainingSettings};
use serde::{Deserialize, Serialize};
use shared::record::ValueTarget;
use shared::setting::{SettingError, check_range, check_that};

use super::{BATCH_SIZE_MAX, LEARNING_RATE_END, THREADS_MAX};

/// How the network learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// `auto`, `cpu` or `cuda:N`.
    pub device: DeviceChoice,
    /// Threads of a step on the CPU, 0..=1024; 0: all cores.
    pub threads: usize,
    /// The numbers in which a step multiplies: `float32`, `bfloat16` or `auto`.
    pub precision: TrainingPrecision,
    /// Positions a step, 1..=65,536.
    pub batch_size: u32,
    /// Steps an iteration, at least 1.
    pub steps_per_iteration: u32,
    /// Learning rate at the first step of the run, above 0 and below 10.
    pub learning_rate_max: f64,
    /// The same for a run that starts from a network, if it is less: what was learned must not be unlearned.
    pub learning_rate_max_from_network: f64,
    /// Learning rate at the last step of the run, above 0 and at most `learning_rate_max`.
    pub learning_rate_min: f64,
    /// Iterations over which the learning rate falls along a cosine, at least 1.
    pub iterations: u32,
    /// Momentum of SGD, at least 0 and below 1.
    pub momentum: f64,
    /// Weight decay of SGD, at least 0 and below 1.
    pub weight_decay: f64,
    /// Length to which a longer gradient is shortened, 0 or more; 0: none is.
    pub gradient_clip_norm: f64,
    /// Weight of the value error beside the policy's cross-entropy, at least 0.
    pub value_loss_weight: f64,
    /// What the value learns from a game.
    pub value_target: ValueTargetKind,
    /// Worth of an outcome one sample later (`discount`), 0..=1.
    pub value_target_discount: f32,
    /// Share of the rest of the game against the next search's value (`td`), 0..=1.
    pub value_target_lambda: f32,
    /// Share of the search's value against the outcome (`blend`), 0..=1.
    pub value_target_weight: f32,
    /// Steps between two checkpoints, at least 1.
    pub checkpoint_steps: u32,
}

/// What the value learns from a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueTargetKind {
    /// How it ended.
    Outcome,
    /// How it ended, worth less the longer it takes.
    Discount,
    /// The search's values that followed, then how it ended.
    Td,
    /// The search's value of the position, mixed with how it ended.
    Blend,
}

impl TrainingConfig {
    /// Returns the rule by which value targets are made.
    #[must_use]
    pub const fn value_target_rule(&self) -> ValueTarget {
        match self.value_target {
            ValueTargetKind::Outcome => ValueTarget::Outcome,
            ValueTargetKind::Discount => ValueTarget::Discount { discount: self.value_target_discount },
            ValueTargetKind::Td => ValueTarget::Td { lambda: self.value_target_lambda },
            ValueTargetKind::Blend => ValueTarget::Blend { weight: self.value_target_weight },
        }
    }

    /// Returns how a trainer on `device` changes the weights.
    #[must_use]
    pub fn optimizer(&self, device: Device) -> TrainingSettings {
        TrainingSettings {
            momentum: self.momentum,
            weight_decay: self.weight_decay,
            gradient_clip_norm: (self.gradient_clip_norm != 0.0).then_some(self.gradient_clip_norm),
            value_loss_weight: self.value_loss_weight,
            precision: self.precision.on(device),
            ..TrainingSettings::default()
        }
    }

    /// Returns between which rates the learning rate of a run falls. A run that starts from a network takes the smaller
    /// one of its two first rates.
    #[must_use]
    pub fn learning_rates(&self, is_from_network: bool) -> LearningRates {
        let max = self.learning_rate_max;
        let first = if is_from_network { max.min(self.learning_rate_max_from_network) } else { max };
        LearningRates { first, last: self.learning_rate_min.min(first) }
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        check_range("threads", self.threads, ..=THREADS_MAX)?;
        check_range("batch_size", self.batch_size, 1..=BATCH_SIZE_MAX)?;
        check_range("steps_per_iteration", self.steps_per_iteration, 1..)?;
        check_range("iterations", self.iterations, 1..)?;
        check_range("checkpoint_steps", self.checkpoint_steps, 1..)?;
        let rates = (Excluded(0.0), Excluded(LEARNING_RATE_END));
        check_range("learning_rate_max", self.learning_rate_max, rates)?;
        check_range("learning_rate_max_from_network", self.learning_rate_max_from_network, rates)?;
        check_range("learning_rate_min", self.learning_rate_min, (Excluded(0.0), Included(self.learning_rate_max)))?;
        check_range("value_target_discount", self.value_target_discount, 0.0..=1.0)?;
        check_range("value_target_lambda", self.value_target_lambda, 0.0..=1.0)?;
        check_range("value_target_weight", self.value_target_weight, 0.0..=1.0)?;
        self.optimizer(Device::CPU).check()
    }
}

/// Between which rates the learning rate of a run falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearningRates {
    /// At the first step.
    pub first: f64,
    /// From the last step of the fall on.
    pub last: f64,
}

/// What the network learns from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayConfig {
    /// Positions kept, at least 1: the newest.
    pub position_count_max: u32,
    /// Positions below which no training starts, at least 1 and at most `position_count_max`.
    pub position_count_min: u32,
    /// Share of each batch that comes from decided human games, 0..=1.
    pub human_share: f64,
    /// Generation at which that share has fallen to nothing; 0: it stays.
    pub human_share_generations: u32,
    /// Those games: files, folders, zip archives.
    pub human_games: Vec<PathBuf>,
}

impl ReplayConfig {
    pub(super) fn check(&self) -> Result<(), SettingError> {
        check_range("position_count_max", self.position_count_max, 1..)?;
        check_range("position_count_min", self.position_count_min, 1..)?;
        check_that("position_count_min", self.position_count_min <= self.position_count_max, || {
            format!("{} is above replay.position_count_max", self.position_count_min)
        })?;
        check_range("human_share", self.human_share, 0.0..=1.0)?;
        let is_fed = self.human_share == 0.0 || !self.human_games.is_empty();
        check_that("human_games", is_fed, || "names no games, but replay.human_share is above 0")
    }
}
