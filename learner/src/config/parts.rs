//! What each part of the program gets of the settings.

use std::time::Duration;

use shared::catalog::GameSpec;

use super::{
    AlarmConfig, GateConfig, LearnerSettings, LearningRates, PipelineMode, ReplayConfig, SelfPlayConfig, TrainingConfig,
};

/// What the pipeline goes by.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineSettings {
    /// Whether self-play goes on during training and gate.
    pub mode: PipelineMode,
    /// Iterations after which the run stops, from this start on; 0: never.
    pub iterations: u32,
    /// How games are made.
    pub self_play: SelfPlayConfig,
    /// How candidates are tested.
    pub gate: GateConfig,
    /// When to warn.
    pub alarms: AlarmConfig,
    /// Training steps of an iteration.
    pub steps_per_iteration: u32,
    /// Samples of a training step.
    pub batch_size: u32,
    /// Positions below which no training starts.
    pub position_count_min: u32,
    /// Positions kept to learn from.
    pub position_count_max: u32,
}

/// What the training thread goes by.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainerSettings {
    /// How the network learns.
    pub training: TrainingConfig,
    /// Between which rates this run's learning rate falls.
    pub learning_rates: LearningRates,
    /// What it learns from.
    pub replay: ReplayConfig,
}

/// What a worker that joins is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinTerms {
    /// What is played.
    pub game: GameSpec,
    /// How long it keeps a game without a word.
    pub lease: Duration,
    /// Batches it may have unanswered.
    pub batches_in_flight_max: u32,
    /// Leaves of a batch at most.
    pub batch_leaves_max: u32,
}

impl LearnerSettings {
    /// Returns the part of the pipeline.
    #[must_use]
    pub fn pipeline(&self) -> PipelineSettings {
        PipelineSettings {
            mode: self.run.pipeline,
            iterations: self.run.iterations,
            self_play: self.self_play.clone(),
            gate: self.gate.clone(),
            alarms: self.alarms,
            steps_per_iteration: self.training.steps_per_iteration,
            batch_size: self.training.batch_size,
            position_count_min: self.replay.position_count_min,
            position_count_max: self.replay.position_count_max,
        }
    }

    /// Returns the part of the training thread, of a run that started from a network or not.
    #[must_use]
    pub fn trainer(&self, is_from_network: bool) -> TrainerSettings {
        TrainerSettings {
            training: self.training.clone(),
            learning_rates: self.training.learning_rates(is_from_network),
            replay: self.replay.clone(),
        }
    }

    /// Returns the part of the workers.
    #[must_use]
    pub fn join_terms(&self) -> JoinTerms {
        JoinTerms {
            game: self.game.clone(),
            lease: self.server.lease,
            batches_in_flight_max: self.server.batches_in_flight_max,
            batch_leaves_max: self.inference.batch_leaves_max,
        }
    }
}
