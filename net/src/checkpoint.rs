//! Stopping and going on: a file with weights, running statistics, velocity, step, and the average of the weights if
//! there is one.
//!
//! What the trainer's caller wants back, such as the state of its random numbers, is kept with it as text. On a
//! processor, with the same number of threads, training goes on bit for bit as if it had not stopped.

use std::collections::BTreeMap;
use std::path::Path;

use crate::file::NetworkFile;
use crate::file_writer::{self, Numbers, Vector};
use crate::header::Header;
use crate::trainer::{Trainer, TrainingSettings};
use crate::weight_average::WeightAverage;
use crate::{Device, NetError, Network, NetworkSpec};

/// Names of the velocities are those of the weights with this before them.
const MOMENTUM: &str = "momentum.";

impl Trainer {
    /// Writes everything needed to go on, and `extra`, to `path`: whole or not at all. Returns the SHA-256 in hex.
    /// The file is also a network's: [`Network::load`] reads it.
    ///
    /// # Errors
    /// [`NetError::Io`] naming what the file system refused; an older file of that name is then untouched.
    pub fn save_checkpoint(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<String, NetError> {
        file_writer::write(path, &self.checkpoint_bytes(extra)?)
    }

    /// Returns the bytes that [`Trainer::save_checkpoint`] writes, to be written elsewhere or by another thread.
    ///
    /// # Errors
    /// [`NetError::Torch`] if the weights cannot be fetched from the device.
    pub fn checkpoint_bytes(&self, extra: &BTreeMap<String, String>) -> Result<Vec<u8>, NetError> {
        let mut header = Header::checkpoint(&self.network.spec, self.training_step, extra.clone());
        let mut vectors = self.network.vectors("")?;
        vectors.push(Vector::new(MOMENTUM, &self.network.layout.weights, &self.momentum)?);
        if let Some(average) = &self.average {
            header.average_step_count = Some(average.step_count());
            vectors.extend(average.vectors(&self.network)?);
        }
        file_writer::encode(&header, &vectors, Numbers::Single)
    }

    /// Goes on from the checkpoint in `path`; an average of weights that `settings` want and the checkpoint does not hold
    /// begins with its weights. Returns the trainer and what `extra` was.
    ///
    /// # Errors
    /// [`NetError::Io`], [`NetError::Corrupt`] (a file without velocity among them), [`NetError::OtherGame`], or
    /// [`NetError::Mismatch`] if the checkpoint's shape is not that of `spec`.
    pub fn load_checkpoint(
        path: &Path,
        spec: &NetworkSpec,
        device: Device,
        settings: TrainingSettings,
    ) -> Result<(Self, BTreeMap<String, String>), NetError> {
        let file = NetworkFile::read(path)?;
        let contents = file.contents()?;
        let network = Network::from_contents(&contents, spec, device)?;
        let Some(training_step) = contents.header().training_step else {
            return Err(contents.corrupt("a network without velocity, not a checkpoint".into()));
        };
        let momentum = contents.vector(MOMENTUM, &network.layout.weights, device.0)?;
        let extra = contents.header().extra.clone();
        let average = WeightAverage::read(&contents, &network)?;
        Ok((Self::resumed(network, momentum, average, settings, training_step)?, extra))
    }
}
