//! The training thread: owns the network in training, and answers one job an iteration.
//!
//! The samples of step n depend on the run's seed, on n, and on the games up to the window's end alone. So a learner
//! that was killed goes on from its last checkpoint as if nothing had happened, bit for bit on the CPU.
//! Losses are stored in the same transaction as the checkpoint that contains their steps: none twice, none missing.

mod checkpoints;
mod error;
mod handle;
mod held_out;
mod reports;
mod schedule;
mod thread;

use std::sync::Arc;

use net::NetworkSpec;
use samples::buffer::SharedReplay;
use shared::encoding::Encoding;
use shared::ids::{Generation, NetworkId};
use store::durable::DurableStore;
use store::files::RunFiles;
use tokio_util::sync::CancellationToken;

use crate::config::TrainerSettings;
use crate::human_share::RunHumanGames;

pub use checkpoints::first_network;
#[cfg(test)]
pub(crate) use checkpoints::{put_checkpoint, write_file};
pub use error::TrainerError;
#[cfg(test)]
pub(crate) use handle::HandTrainer;
pub use handle::TrainerHandle;
pub use held_out::{HeldOutComparison, PredictionPair};
pub use reports::MeanLosses;

/// Training of one iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainingJob {
    /// The iteration.
    pub iteration: u32,
    /// Learns from games up to this finish number.
    pub window_end: u64,
    /// Learns from at most so many positions, the newest of these games.
    pub window_position_count: u64,
    /// Steps before it.
    pub step_start: u64,
    /// Trains until this many steps are done.
    pub step_end: u64,
    /// The candidate that it makes.
    pub candidate_id: NetworkId,
    /// The best network while it is trained.
    pub best_id: NetworkId,
    /// Its generation.
    pub generation: Generation,
    /// Whether the first step starts from the best network's weights: those in training were rejected.
    pub starts_from_best: bool,
}

/// How a job ended.
pub type TrainingOutcome = Result<Candidate, TrainerError>;

/// A network file that is complete on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Steps behind the network.
    pub training_step: u64,
    /// How it predicts games that were held out, beside the best network.
    pub held_out: Box<HeldOutComparison>,
}

/// What a training thread needs.
pub struct TrainerParts<E: Encoding> {
    /// How positions are shown to the network.
    pub encoding: E,
    /// How to learn.
    pub settings: TrainerSettings,
    /// What the network plays, and its shape.
    pub network: NetworkSpec,
    /// Where files lie.
    pub files: RunFiles,
    /// Where losses and checkpoints are stored.
    pub store: DurableStore,
    /// What is learned from.
    pub replay: Arc<SharedReplay>,
    /// Human games to learn from and to measure with.
    pub human_games: RunHumanGames,
    /// Seed of the run.
    pub seed: u64,
    /// Ends the thread between two steps, after a checkpoint.
    pub stop: CancellationToken,
}
