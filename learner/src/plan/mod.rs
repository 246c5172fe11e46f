//! The capacity model: what a run will come to on devices, actors and a network that are still to be rented.
//!
//! Pure: numbers in, numbers out. The formulas, and how far they were from what was measured, stand in
//! `docs/performance.md`.

mod assumptions;
mod model;
mod report;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::Serialize;

pub use assumptions::Assumptions;
pub use model::plan;

/// What is rented.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hardware {
    /// Evaluations a second of one device, as `learner bench` measures them, above 0.
    pub gpu_rate: f64,
    /// Devices that evaluate, at least 1.
    pub device_count: u32,
    /// Samples a second of a device that trains, above 0.
    pub training_rate: f64,
    /// Whether training takes its time from the devices that evaluate.
    pub is_training_shared: bool,
    /// Actor processes, at least 1.
    pub actor_count: u32,
    /// Cores of each, above 0.
    pub actor_cores: f64,
    /// Games that each core plays at once at most, at least 1.
    pub games_per_core: u32,
    /// From the worker to the learner and back.
    pub round_trip: Duration,
    /// The learner's connection, bits a second each way, above 0.
    pub bandwidth: f64,
    /// Cores that the learner reads, encodes and answers leaves with, above 0.
    pub learner_cores: f64,
    /// What all of it costs an hour.
    pub price_per_hour: f64,
}

/// What an iteration consists of, at one generation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Workload {
    /// Whether self-play goes on during training and gate.
    pub is_overlapped: bool,
    /// Finished games that make an iteration.
    pub self_play_games: f64,
    /// Games of a gate until its verdict.
    pub gate_games: f64,
    /// Plies a game.
    pub plies: f64,
    /// Simulations a ply of self-play.
    pub self_play_simulations: f64,
    /// Simulations a ply of a gate.
    pub gate_simulations: f64,
    /// Leaves that a game of self-play has waiting at most.
    pub leaves_per_game: f64,
    /// The same of a gate.
    pub gate_leaves_per_game: f64,
    /// Leaves evaluated together at most.
    pub batch_leaves_max: f64,
    /// Longest evaluation.
    pub batch_time_max: Duration,
    /// Batches of leaves that self-play keeps waiting.
    pub batches_waiting: f64,
    /// Samples that an iteration learns from.
    pub samples: f64,
    /// Bytes of a network file.
    pub network_bytes: f64,
    /// Connections that the learner takes.
    pub connections_max: u32,
}

/// What stands in the way of more evaluations a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The devices are busy.
    Devices,
    /// The actors' cores search no faster.
    ActorCores,
    /// Too few games are played at once for what the way to the learner takes.
    GamesInFlight,
    /// The learner's connection is full.
    Bandwidth,
    /// The learner reads, encodes and writes no faster.
    LearnerCores,
}

/// Evaluations a second that each part allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rates {
    /// The devices.
    pub devices: f64,
    /// The actors' cores.
    pub actor_cores: f64,
    /// The games that actors play at once.
    pub games_in_flight: f64,
    /// The learner's connection.
    pub bandwidth: f64,
    /// The learner's cores.
    pub learner_cores: f64,
}

/// What a run comes to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Plan {
    /// Evaluations a second that each part allows.
    pub rates: Rates,
    /// The least of them.
    pub evaluations_per_second: f64,
    /// Which that is.
    pub limit: Limit,
    /// Cores of actors that are enough for it.
    pub actor_cores_needed: f64,
    /// Self-play games played at once.
    pub games_in_flight: f64,
    /// Time of a self-play game.
    pub game_seconds: f64,
    /// Time of a gate.
    pub gate_seconds: f64,
    /// Time of an iteration's training.
    pub training_seconds: f64,
    /// Time of an iteration.
    pub iteration_seconds: f64,
    /// Evaluations that an iteration needs, gate included; self-play goes on while it waits for something else.
    pub iteration_evaluations: f64,
    /// To the learner, bits a second.
    pub upload_bits: f64,
    /// From the learner, bits a second.
    pub download_bits: f64,
    /// Bytes that an iteration writes to disk: games and a network.
    pub iteration_disk_bytes: f64,
    /// Calls a second of actors that ask for games.
    pub calls_per_second: f64,
}

/// The iterations at the start of a run, whose searches grow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RunStart {
    /// How many.
    pub iterations: u32,
    /// Hours that they take.
    pub hours: f64,
    /// What that costs.
    pub price: f64,
    /// Bytes on disk at their end.
    pub disk_bytes: f64,
}

/// All that `learner plan` shows.
#[derive(Debug, Clone, Serialize)]
pub struct PlanReport {
    /// What is rented.
    pub hardware: Hardware,
    /// What is assumed of the game.
    pub assumptions: Assumptions,
    /// An iteration at full search.
    pub workload: Workload,
    /// What it comes to.
    pub plan: Plan,
    /// The first iterations.
    pub start: RunStart,
    /// What does not fit the settings.
    pub notes: Vec<String>,
}
