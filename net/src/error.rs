//! What can go wrong in this crate, one variant a decision that a caller can make.

use std::path::PathBuf;

/// Why a network was not made, read, written, run or trained.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The settings ask for a network that cannot be.
    #[error("{key}: {reason}")]
    Settings {
        /// The key at fault.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
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
    /// A file of weights is corrupt, cut off, or not one of ours.
    #[error("network {file}: {reason}")]
    Corrupt {
        /// The file, or `(bytes)`.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of weights belongs to another network than the one wanted.
    #[error("network {file}: has {found}, the run wants {wanted}")]
    Mismatch {
        /// The file, or `(bytes)`.
        file: String,
        /// What the file holds.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// The file system refused.
    #[error("network {}: cannot {action}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// libtorch refused: first line of what it said.
    #[error("libtorch: {0}")]
    Torch(String),
}

impl From<tch::TchError> for NetError {
    fn from(error: tch::TchError) -> Self {
        // Torch appends a C++ backtrace; the user needs the sentence.
        Self::Torch(error.to_string().lines().next().unwrap_or_default().to_owned())
    }
}
