//! Stopping and going on: a file with weights, running statistics, velocity and step.
//!
//! Numbers that are the trainer's caller's, such as the state of its random numbers, travel along as text. On the
//! processor, with the same number of threads, what goes on is bit for bit what would have gone on.

use std::collections::BTreeMap;
use std::path::Path;

use crate::file::{self, Header, Vector};
use crate::trainer::{Trainer, TrainingSettings};
use crate::{Device, NetError, Network, NetworkShape};

/// Names of the velocities are those of the weights with this before them.
const MOMENTUM: &str = "momentum.";

impl Trainer {
    /// Writes everything needed to go on, and `extra`, to `path`: whole or not at all. Returns the SHA-256 in hex.
    /// The file is also a network's: [`Network::load`] reads it.
    ///
    /// # Errors
    /// [`NetError::Io`] naming what the file system refused; an older file of that name is then untouched.
    pub fn save_checkpoint(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<String, NetError> {
        file::write(path, &self.checkpoint_bytes(extra)?)
    }

    /// Returns the bytes that [`Trainer::save_checkpoint`] writes, to be written elsewhere or by another thread.
    ///
    /// # Errors
    /// [`NetError::Torch`] if the weights cannot be fetched from the device.
    pub fn checkpoint_bytes(&self, extra: &BTreeMap<String, String>) -> Result<Vec<u8>, NetError> {
        let header = Header::checkpoint(self.network.shape, self.training_step, extra.clone());
        let mut vectors = self.network.vectors("")?;
        vectors.push(Vector::new(MOMENTUM, &self.network.layout.weights, &self.momentum)?);
        file::encode(&header, &vectors)
    }

    /// Goes on from the checkpoint in `path`. Returns the trainer and what `extra` was.
    ///
    /// # Errors
    /// [`NetError::Io`], [`NetError::Corrupt`] (a file without velocity among them), or [`NetError::Mismatch`] if the
    /// checkpoint's shape is not `shape`.
    pub fn load_checkpoint(
        path: &Path,
        shape: &NetworkShape,
        device: Device,
        settings: TrainingSettings,
    ) -> Result<(Self, BTreeMap<String, String>), NetError> {
        let bytes = file::read(path)?;
        let contents = bytes.contents()?;
        let network = Network::from_contents(&contents, shape, device)?;
        let Some(training_step) = contents.header.training_step else {
            return Err(contents.corrupt("a network without velocity, not a checkpoint".into()));
        };
        let momentum = contents.vector(MOMENTUM, &network.layout.weights, device.0)?;
        Ok((Self::resumed(network, momentum, settings, training_step)?, contents.header.extra))
    }
}
