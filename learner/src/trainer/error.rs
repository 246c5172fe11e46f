//! Why training cannot go on.

use std::path::PathBuf;

use net::NetError;
use shared::record::batch::SampleError;
use store::StoreError;
use store::files::RunFileError;

use crate::prediction::MeasureError;

/// Why training cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainerError {
    /// A network, its file or the device failed.
    #[error(transparent)]
    Network(#[from] NetError),
    /// Losses or checkpoints cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A checkpoint is not the file that the store names.
    #[error(transparent)]
    File(#[from] RunFileError),
    /// None of the stored checkpoints can be used.
    #[error("no whole checkpoint in {}: restore one from a backup", dir.display())]
    NoCheckpoint {
        /// The run directory.
        dir: PathBuf,
    },
    /// There is nothing to learn from.
    #[error("the replay buffer is empty: no finished game has a policy target")]
    NoPositions,
    /// A position in memory cannot be learned from.
    #[error("a position to learn from")]
    Sample(#[from] SampleError),
    /// The networks cannot be measured on held-out games.
    #[error("measure on held-out games")]
    HeldOut(#[from] MeasureError),
    /// The loss became infinite or not a number again and again.
    #[error("iteration {iteration}: {error}; {rollback_count} roll-backs did not help: lower {key}")]
    Diverged {
        /// The iteration.
        iteration: u32,
        /// The last loss.
        error: NetError,
        /// How often training went back to its last checkpoint.
        rollback_count: u32,
        /// The key of the learning rate.
        key: &'static str,
    },
}
