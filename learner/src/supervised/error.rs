//! Why a supervised training cannot begin or go on.

use std::io;
use std::path::PathBuf;

use net::NetError;
use samples::epoch_batches::BatchError;
use samples::part_file::PartFileError;

use crate::prediction::MeasureError;
use crate::start_network::StartNetworkError;

/// Why a supervised training cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum SupervisedError {
    /// No sample is left to learn from.
    #[error("{flag}: none to learn from; see what was left out, and why")]
    NothingToLearn {
        /// The flag that names the samples.
        flag: &'static str,
    },
    /// The split holds out no game to measure with.
    #[error(
        "{flag}: none of {game_count} games is held out by {section}.seed = {seed} and {section}.held_out_share = \
         {share}: give more games"
    )]
    NothingHeldOut {
        /// The flag that names the samples.
        flag: &'static str,
        /// Games to learn from.
        game_count: u64,
        /// The section of the settings.
        section: &'static str,
        /// Seed of the split.
        seed: u64,
        /// Share of the split.
        share: f64,
    },
    /// The device of the settings cannot be used.
    #[error("{section}.device")]
    Device {
        /// The section of the settings.
        section: &'static str,
        /// Why.
        source: NetError,
    },
    /// The folder of the training cannot be created.
    #[error("create {}", .path.display())]
    CreateFolder {
        /// The folder.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// The lock of the folder cannot be taken.
    #[error("lock {}", .path.display())]
    Lock {
        /// The file of the lock.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// Another process trains in the folder.
    #[error("{} is used by another {training}: wait for it, or stop it", .path.display())]
    FolderInUse {
        /// The folder.
        path: PathBuf,
        /// What the training is called.
        training: &'static str,
    },
    /// The network to start from cannot be used.
    #[error(transparent)]
    StartNetwork(#[from] StartNetworkError),
    /// The checkpoint in the folder cannot be loaded.
    #[error("resume the training there, or use another --checkpoint-dir")]
    Checkpoint(#[source] NetError),
    /// The checkpoint in the folder is of something else.
    #[error("{}: not a checkpoint of a {training}", .path.display())]
    OtherCheckpoint {
        /// The file.
        path: PathBuf,
        /// What the training is called.
        training: &'static str,
    },
    /// The progress in the checkpoint cannot be read.
    #[error("{}: progress of a {training}", .path.display())]
    Progress {
        /// The file.
        path: PathBuf,
        /// What the training is called.
        training: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The training in the folder was begun with other samples or settings.
    #[error(
        "{}: the {training} there was begun with other {key}: use another --checkpoint-dir, or delete this one",
        .path.display()
    )]
    OtherTraining {
        /// The file of the checkpoint.
        path: PathBuf,
        /// What the training is called.
        training: &'static str,
        /// What differs.
        key: String,
    },
    /// A loss is not finite.
    #[error("lower {section}.learning_rate and start again in another folder")]
    NotFinite {
        /// The section of the settings.
        section: &'static str,
        /// Which loss.
        source: NetError,
    },
    /// A network cannot be loaded, trained, evaluated or saved.
    #[error(transparent)]
    Net(#[from] NetError),
    /// Batches cannot be made.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The network cannot be measured on the held-out games.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A file of the folder cannot be written.
    #[error(transparent)]
    File(#[from] PartFileError),
    /// Settings or progress cannot be written as JSON.
    #[error("write as JSON")]
    Json(#[from] serde_json::Error),
}
