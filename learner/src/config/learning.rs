//! Sections about training on the games of the run: `[training]`, `[replay]`.

use std::ops::Bound::{Excluded, Included};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use net::{Device, DeviceChoice, TrainingPrecision, TrainingSettings};
use serde::{Deserialize, Serialize};
use shared::bounds::THREADS;
use shared::record::{CutOffTarget, ValueTarget, ValueTargetRule};
use shared::setting::{SettingError, check_range, check_that};

use super::{BATCH_SIZES, LEARNING_RATE_END, STEP_COUNTS};

/// Learning from a position more often than this is a typing error.
const USES_PER_POSITION_MAX: f64 = 1000.0;
/// Measuring on more would take longer than the training.
const HELD_OUT_POSITIONS_MAX: u32 = 1_000_000;
/// No search reaches as many plies ahead.
const CUT_OFF_HORIZON_MAX: u32 = 1000;

/// How the network learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// `auto`, `cpu` or `cuda:N`.
    pub device: DeviceChoice,
    /// Threads of a step on the CPU, 0..=1024, of which no more are used than there are cores; 0: all cores.
    pub threads: usize,
    /// The numbers in which a step multiplies: `float32`, `bfloat16` or `auto`.
    pub precision: TrainingPrecision,
    /// Positions a step, 1..=65,536.
    pub batch_size: u32,
    /// Steps an iteration, 1..=100,000,000; at most so many if `uses_per_position` is above 0.
    pub steps_per_iteration: u32,
    /// Times that a new position is learned from on average, 0..=1000; 0: as often as `steps_per_iteration` gives.
    pub uses_per_position: f64,
    /// Learning rate at the first step of the run, above 0 and below 10.
    pub learning_rate_max: f64,
    /// The same for a run that starts from a network, above 0 and below 10, if it is less: what was learned must not be unlearned.
    pub learning_rate_max_from_network: f64,
    /// Learning rate at the last step of the run, above 0 and at most `learning_rate_max`.
    pub learning_rate_min: f64,
    /// Factor on the learning rate of the policy head, 0..=1,000,000.
    pub policy_rate_scale: f64,
    /// Factor on the learning rate of the value head, 0..=1,000,000.
    pub value_rate_scale: f64,
    /// Iterations over which the learning rate falls along a cosine, 1..=10,000,000.
    pub iterations: u32,
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
    /// Share of the average of the weights that a step keeps, at least 0 and below 1; 0: candidates are not averages.
    pub weight_average_decay: f64,
    /// What the value learns from a game.
    pub value_target: ValueTargetKind,
    /// Worth of an outcome one sample later (`discount`), 0..=1.
    pub value_target_discount: f32,
    /// Share of the rest of the game against the next search's value (`td`), 0..=1.
    pub value_target_lambda: f32,
    /// Share of the search's value against the outcome (`blend`), 0..=1.
    pub value_target_weight: f32,
    /// What stands for the outcome of a game that was cut off at the ply limit.
    pub cut_off_target: CutOffTargetKind,
    /// Positions before the ply limit whose searches do not count (`search`), 0..=1000.
    pub cut_off_horizon: u32,
    /// What training goes on from after a rejected candidate.
    pub after_rejection: AfterRejection,
    /// Steps between two checkpoints, 1..=100,000,000.
    pub checkpoint_steps: u32,
}

/// What training goes on from after a rejected candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterRejection {
    /// The weights and the velocity that the rejected candidate came from.
    Continue,
    /// The best network's weights, without velocity.
    Best,
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

/// What stands for the outcome of a game that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutOffTargetKind {
    /// A draw.
    Draw,
    /// The search's last value that does not reach the limit.
    Search,
}

impl TrainingConfig {
    /// Possible values of `iterations`.
    pub const ITERATIONS: RangeInclusive<u32> = 1..=10_000_000;

    /// Returns the rule by which value targets are made.
    #[must_use]
    pub const fn value_target_rule(&self) -> ValueTargetRule {
        let value_target = match self.value_target {
            ValueTargetKind::Outcome => ValueTarget::Outcome,
            ValueTargetKind::Discount => ValueTarget::Discount { discount: self.value_target_discount },
            ValueTargetKind::Td => ValueTarget::Td { lambda: self.value_target_lambda },
            ValueTargetKind::Blend => ValueTarget::Blend { weight: self.value_target_weight },
        };
        let cut_off_target = match self.cut_off_target {
            CutOffTargetKind::Draw => CutOffTarget::Draw,
            CutOffTargetKind::Search => CutOffTarget::Search { horizon: self.cut_off_horizon },
        };
        ValueTargetRule { value_target, cut_off_target }
    }

    /// Returns the number of steps of an iteration with so many new positions, at least 1 and at most
    /// `steps_per_iteration`: where self-play makes positions faster than training uses them, iterations must not grow
    /// without end.
    #[must_use]
    pub fn step_count(&self, position_count: u64) -> u64 {
        if self.uses_per_position == 0.0 {
            return u64::from(self.steps_per_iteration);
        }
        let steps = position_count as f64 * self.uses_per_position / f64::from(self.batch_size);
        (steps.round() as u64).clamp(1, u64::from(self.steps_per_iteration))
    }

    /// Returns how a trainer on `device` changes the weights.
    #[must_use]
    pub fn optimizer(&self, device: Device) -> TrainingSettings {
        TrainingSettings {
            momentum: self.momentum,
            weight_decay: self.weight_decay,
            gradient_clip_norm: (self.gradient_clip_norm != 0.0).then_some(self.gradient_clip_norm),
            weight_average_decay: (self.weight_average_decay != 0.0).then_some(self.weight_average_decay),
            value_loss_weight: self.value_loss_weight,
            outlook_loss_weight: self.outlook_loss_weight,
            precision: self.precision.on(device),
            policy_rate_scale: self.policy_rate_scale,
            value_rate_scale: self.value_rate_scale,
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
        check_range("threads", self.threads, THREADS)?;
        check_range("batch_size", self.batch_size, BATCH_SIZES)?;
        check_range("steps_per_iteration", self.steps_per_iteration, STEP_COUNTS)?;
        check_range("uses_per_position", self.uses_per_position, 0.0..=USES_PER_POSITION_MAX)?;
        check_range("iterations", self.iterations, Self::ITERATIONS)?;
        check_range("checkpoint_steps", self.checkpoint_steps, STEP_COUNTS)?;
        let rates = (Excluded(0.0), Excluded(LEARNING_RATE_END));
        check_range("learning_rate_max", self.learning_rate_max, rates)?;
        check_range("learning_rate_max_from_network", self.learning_rate_max_from_network, rates)?;
        check_range("learning_rate_min", self.learning_rate_min, (Excluded(0.0), Included(self.learning_rate_max)))?;
        check_range("value_target_discount", self.value_target_discount, 0.0..=1.0)?;
        check_range("value_target_lambda", self.value_target_lambda, 0.0..=1.0)?;
        check_range("value_target_weight", self.value_target_weight, 0.0..=1.0)?;
        check_range("cut_off_horizon", self.cut_off_horizon, ..=CUT_OFF_HORIZON_MAX)?;
        check_range("gradient_clip_norm", self.gradient_clip_norm, TrainingSettings::GRADIENT_CLIP_NORMS)?;
        check_range("weight_average_decay", self.weight_average_decay, TrainingSettings::WEIGHT_AVERAGE_DECAYS)?;
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
    /// Positions kept, 1..=1,000,000,000: the newest.
    pub position_count_max: u32,
    /// Positions from which on the window grows more slowly than what there is, at least 1; 0: it holds
    /// `position_count_max`, however few or many there were.
    pub window_start: u32,
    /// How much more slowly, as a power of all positions so far, above 0 and at most 1.
    pub window_exponent: f64,
    /// Positions that the window grows by for each new one, at `window_start`, 0..=1.
    pub window_slope: f64,
    /// Positions below which no training starts, at least 1 and at most `position_count_max`.
    pub position_count_min: u32,
    /// Share of each batch that comes from decided human games, 0..=1.
    pub human_share: f64,
    /// Generation at which that share has fallen to nothing; 0: it stays.
    pub human_share_generations: u32,
    /// Those games: files, folders, zip archives.
    pub human_games: Vec<PathBuf>,
    /// Share of the self-play games that is held out to measure networks with, 0..=0.5.
    pub held_out_share: f64,
    /// Positions of held-out games, of self-play and of humans each, that networks are measured on, 1..=1,000,000.
    pub held_out_positions_max: u32,
}

impl ReplayConfig {
    /// Possible values of `position_count_max`.
    pub const POSITION_COUNTS: RangeInclusive<u32> = 1..=1_000_000_000;

    /// Returns how many of the newest positions are learned from when there were `position_count` so far.
    ///
    /// With c = `window_start`, a power law (Wu 2019, appendix B): c (1 + slope ((n / c) ^ exponent - 1) / exponent).
    #[must_use]
    pub fn window_position_count(&self, position_count: u64) -> u64 {
        let (max, start) = (u64::from(self.position_count_max), f64::from(self.window_start));
        if self.window_start == 0 || position_count <= u64::from(self.window_start) {
            return max;
        }
        let grown = ((position_count as f64 / start).powf(self.window_exponent) - 1.0) / self.window_exponent;
        let window = start * (1.0 + self.window_slope * grown);
        (window.round() as u64).min(max)
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        check_range("position_count_max", self.position_count_max, Self::POSITION_COUNTS)?;
        check_range("position_count_min", self.position_count_min, Self::POSITION_COUNTS)?;
        check_that("position_count_min", self.position_count_min <= self.position_count_max, || {
            format!("{} is above replay.position_count_max", self.position_count_min)
        })?;
        check_that("window_start", self.window_start <= self.position_count_max, || {
            format!("{} is above replay.position_count_max", self.window_start)
        })?;
        check_range("window_exponent", self.window_exponent, (Excluded(0.0), Included(1.0)))?;
        check_range("window_slope", self.window_slope, 0.0..=1.0)?;
        check_range("human_share", self.human_share, 0.0..=1.0)?;
        check_range("held_out_share", self.held_out_share, 0.0..=0.5)?;
        check_range("held_out_positions_max", self.held_out_positions_max, 1..=HELD_OUT_POSITIONS_MAX)?;
        let is_fed = self.human_share == 0.0 || !self.human_games.is_empty();
        check_that("human_games", is_fed, || "names no games, but replay.human_share is above 0")
    }
}
