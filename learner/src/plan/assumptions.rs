//! What is taken for granted of a game, as measured, and what the settings say of an iteration.

use serde::Serialize;
use shared::catalog::GameSpec;
use shared::gate::GateRule;
use shared::ids::Generation;
use shared::search::SearchSettings;

use super::Workload;
use crate::config::{LearnerConfig, PipelineMode};

/// What is taken for granted of a game: measured, and where, in `docs/performance.md`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Assumptions {
    /// Plies a game.
    pub plies: f64,
    /// Evaluations a simulation: the others end in finished games, in nodes of a kept tree or in a worker's cache.
    pub evaluations_per_simulation: f64,
    /// Bytes of a leaf on its way to the learner.
    pub leaf_bytes: f64,
    /// Bytes of its answer.
    pub answer_bytes: f64,
    /// Microseconds of an actor's core for a leaf.
    pub actor_us: f64,
    /// Microseconds of the learner's cores for a leaf, the device not counted.
    pub learner_us: f64,
    /// Bytes of a ply in the store.
    pub ply_bytes: f64,
    /// Share of the games of a gate that are played before its verdict.
    pub gate_share: f64,
    /// Promotions an iteration: how fast searches grow.
    pub promotions: f64,
}

impl Assumptions {
    /// Returns what is assumed of a game under these settings.
    #[must_use]
    pub fn of(config: &LearnerConfig) -> Self {
        let any = Self {
            plies: 50.0,
            evaluations_per_simulation: 0.6,
            leaf_bytes: 182.0,
            answer_bytes: 124.0,
            actor_us: 3.8,
            learner_us: 8.5,
            ply_bytes: 270.0,
            gate_share: if config.gate.rule == GateRule::Sequential { 0.5 } else { 0.9 },
            promotions: 0.5,
        };
        match config.game {
            GameSpec::Hive { .. } => any,
            GameSpec::Dama { .. } => Self {
                plies: 100.0,
                leaf_bytes: 40.0,
                answer_bytes: 20.0,
                actor_us: 2.3,
                learner_us: 6.0,
                ply_bytes: 60.0,
                ..any
            },
            GameSpec::TicTacToe {} => Self {
                plies: 8.0,
                evaluations_per_simulation: 0.005,
                leaf_bytes: 20.0,
                answer_bytes: 14.0,
                actor_us: 2.0,
                learner_us: 4.0,
                ply_bytes: 118.0,
                ..any
            },
        }
    }
}

impl Workload {
    /// Returns the iteration with this number, from 1, of these settings at `generation`. A network has `parameter_count`
    /// weights.
    #[must_use]
    pub fn of(
        config: &LearnerConfig,
        assumptions: &Assumptions,
        (generation, iteration): (Generation, u32),
        parameter_count: usize,
    ) -> Self {
        let search = config.self_play.search_at(generation, iteration);
        let (self_play_games, plies) = (f64::from(config.self_play.games_per_iteration), assumptions.plies);
        let fully_searched = self_play_games * plies * f64::from(search.full_search_share);
        let steps = config.training.step_count(fully_searched as u64);
        Self {
            is_overlapped: config.run.pipeline == PipelineMode::Overlapped,
            self_play_games,
            gate_games: f64::from(config.gate.game_count) * assumptions.gate_share,
            plies,
            self_play_simulations: mean_simulations(&search),
            gate_simulations: mean_simulations(&config.gate.search),
            leaves_per_game: f64::from(search.leaves_per_game),
            gate_leaves_per_game: f64::from(config.gate.search.leaves_per_game),
            batch_leaves_max: f64::from(config.inference.batch_leaves_max),
            batch_time_max: config.inference.batch_time_max,
            batches_waiting: f64::from(config.inference.batches_waiting + config.inference.batches_at_once - 1),
            samples: steps as f64 * f64::from(config.training.batch_size),
            // 32 bits each.
            network_bytes: 4.0 * parameter_count as f64,
            connections_max: config.server.connections_max,
        }
    }
}

/// Returns the simulations of a ply on average, fast searches included.
fn mean_simulations(search: &SearchSettings) -> f64 {
    let (full, fast) = (f64::from(search.simulation_count), f64::from(search.fast_simulation_count));
    let share = f64::from(search.full_search_share);
    share * full + (1.0 - share) * fast.min(full)
}
