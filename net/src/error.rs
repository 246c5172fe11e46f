//! What can go wrong in this crate, one variant a decision that a caller can make.

use std::path::{Path, PathBuf};

use shared::search::EvaluationError;
use shared::setting::SettingError;

/// Why a network was not made, read, written, run or trained.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The settings ask for a network, a game or a training step that cannot be.
    #[error(transparent)]
    Settings(#[from] SettingError),
    /// The device asked for is not there.
    #[error("device {device}: {reason}")]
    Device {
        /// The device as written in the config.
        device: String,
        /// Why it cannot be had.
        reason: String,
    },
    /// A batch contradicts itself or the shape of the network. Nothing was computed.
    #[error("batch: {0}")]
    Batch(String),
    /// Loss or gradient are not finite. Weights, momentum and running statistics are as before the step.
    #[error(
        "training step {training_step}: not finite (policy loss {policy_loss}, value loss {value_loss}, gradient norm {gradient_norm})"
    )]
    NotFinite {
        /// The step that was refused, counted from 0.
        training_step: u64,
        /// Its policy loss.
        policy_loss: f64,
        /// Its value loss.
        value_loss: f64,
        /// Its gradient norm.
        gradient_norm: f64,
    },
    /// What a step made of a weight, its velocity or a running statistic is not finite: nothing may be saved of it.
    #[error("after training step {training_step}: {what} hold a number that is not finite")]
    WeightsNotFinite {
        /// Steps done.
        training_step: u64,
        /// Which numbers.
        what: &'static str,
    },
    /// A network file is corrupt, cut off, or not one of ours.
    #[error("network {file}: {reason}")]
    Corrupt {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A network plays another game, or sees the game otherwise, than the one wanted.
    #[error("network {file}: plays {found}, this wants {wanted}")]
    OtherGame {
        /// The file.
        file: String,
        /// The game that the network plays.
        found: String,
        /// The game asked for.
        wanted: String,
    },
    /// A network plays the game, but has another size or other heads than the one wanted.
    #[error("network {file}: has {found}, the run wants {wanted}")]
    Mismatch {
        /// The file.
        file: String,
        /// The shape in the file.
        found: String,
        /// The shape asked for.
        wanted: String,
    },
    /// A file could not be read or written.
    #[error("network {}: cannot {action}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why, from the system.
        #[source]
        source: std::io::Error,
    },
    /// libtorch failed: the first line of its message.
    #[error("libtorch: {0}")]
    Torch(String),
}

/// Returns what makes an error of what the system reported when `action` was tried on `path`.
pub(crate) fn io_error(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> NetError {
    let path: PathBuf = path.to_owned();
    move |source| NetError::Io { path, action, source }
}

impl From<tch::TchError> for NetError {
    fn from(error: tch::TchError) -> Self {
        // Torch appends a C++ backtrace; the user needs the sentence.
        Self::Torch(error.to_string().lines().next().unwrap_or_default().to_owned())
    }
}

impl From<NetError> for EvaluationError {
    fn from(error: NetError) -> Self {
        let text = error.to_string();
        match error {
            NetError::Batch(_) => Self::LeafRefused(text),
            NetError::Torch(_)
            | NetError::Device { .. }
            | NetError::NotFinite { .. }
            | NetError::WeightsNotFinite { .. } => Self::DeviceFailed(text),
            NetError::Settings(_)
            | NetError::Corrupt { .. }
            | NetError::Mismatch { .. }
            | NetError::OtherGame { .. }
            | NetError::Io { .. } => Self::NetworkUnavailable(text),
        }
    }
}
