//! What each part of the program gets of the settings.

use std::time::Duration;

use shared::catalog::GameSpec;

use super::{
    AlarmConfig, GateConfig, LearnerSettings, LearningRates, PipelineMode, ReplayConfig, SelfPlayConfig,
    TrainingConfig, YardstickConfig,
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
    /// How the best network is measured.
    pub yardstick: YardstickConfig,
    /// When to warn.
    pub alarms: AlarmConfig,
    /// How the network learns: how many steps an iteration has.
    pub training: TrainingConfig,
    /// What it learns from: when there is enough of it, and when too much.
    pub replay: ReplayConfig,
}

/// What the training thread goes by.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainerSettings {
    /// How the network learns.
    pub training: TrainingConfig,
    /// Between which rates this run's learning rate falls.
    pub learning_rates: LearningRates,
    /// The key that says where it begins.
    pub learning_rate_key: &'static str,
    /// What it learns from.
    pub replay: ReplayConfig,
}

/// What the answer to a worker that joins holds.
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
            yardstick: self.yardstick,
            alarms: self.alarms.clone(),
            training: self.training.clone(),
            replay: self.replay.clone(),
        }
    }

    /// Returns the part of the training thread, of a run that started from a network or not.
    #[must_use]
    pub fn trainer(&self, is_from_network: bool) -> TrainerSettings {
        TrainerSettings {
            training: self.training.clone(),
            learning_rates: self.training.learning_rates(is_from_network),
            learning_rate_key: if is_from_network {
                "training.learning_rate_max_from_network"
            } else {
                "training.learning_rate_max"
            },
            replay: self.replay.clone(),
        }
    }

    /// Returns how long a stop waits for workers to leave: the last backup must have time left.
    #[must_use]
    pub fn drain_deadline(&self) -> Duration {
        let drain_deadline = self.server.drain_deadline;
        if self.backup.place().is_none() { drain_deadline } else { drain_deadline.min(self.backup.stop_deadline / 2) }
    }

    /// Returns the part of the workers.
    #[must_use]
    pub fn join_terms(&self) -> JoinTerms {
        JoinTerms {
            game: self.game.clone(),
            lease: self.server.lease,
            batches_in_flight_max: self.server.batches_in_flight_max,
            batch_leaves_max: self.server.worker_batch_leaves_max.min(self.inference.batch_leaves_max),
        }
    }
}
