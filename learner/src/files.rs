//! Where the files of a run lie.

use std::path::{Path, PathBuf};

use shared::ids::NetworkId;

/// The folder of a run.
#[derive(Debug, Clone)]
pub struct RunFiles {
    dir: PathBuf,
}

impl RunFiles {
    /// Names the files under `dir`.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Makes the folders that files are written to.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(self.dir.join("networks"))
    }

    /// Returns the folder itself.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns whether there is any network.
    ///
    /// # Errors
    /// What the system says.
    pub fn has_networks(&self) -> std::io::Result<bool> {
        let mut entries = std::fs::read_dir(self.dir.join("networks"))?;
        Ok(entries
            .any(|entry| entry.is_ok_and(|entry| entry.path().extension().is_some_and(|end| end == "safetensors"))))
    }

    /// Returns the file of a network.
    #[must_use]
    pub fn network(&self, network_id: NetworkId) -> PathBuf {
        self.dir.join("networks").join(Self::network_name(network_id))
    }

    /// Returns the name of a network's file.
    #[must_use]
    pub fn network_name(network_id: NetworkId) -> String {
        format!("network-{:06}.safetensors", network_id.get())
    }

    /// Returns the file of a training checkpoint.
    #[must_use]
    pub fn checkpoint(&self, training_step: u64) -> PathBuf {
        self.dir.join(Self::checkpoint_name(training_step))
    }

    /// Returns the name of a training checkpoint.
    #[must_use]
    pub fn checkpoint_name(training_step: u64) -> String {
        format!("checkpoint-{training_step:09}.safetensors")
    }
}
