//! Where the files of a run lie.

use std::io;
use std::path::{Path, PathBuf};

use networks::BEST_FILE;
use sha2::{Digest, Sha256};
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
    /// [`io::Error`] if a folder cannot be made.
    pub fn create(&self) -> io::Result<()> {
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
    /// [`io::Error`] if the folder of the networks cannot be read.
    pub fn has_networks(&self) -> io::Result<bool> {
        let mut entries = std::fs::read_dir(self.dir.join("networks"))?;
        Ok(entries
            .any(|entry| entry.is_ok_and(|entry| entry.path().extension().is_some_and(|end| end == "safetensors"))))
    }

    /// Deletes what was never finished, since the process that wrote it was killed. Whoever calls it must be the only
    /// learner here. Returns the number of files.
    ///
    /// # Errors
    /// [`io::Error`] if a folder cannot be read or a file not be deleted.
    pub fn delete_unfinished(&self) -> io::Result<usize> {
        let mut count = 0;
        for folder in [self.dir.clone(), self.dir.join("networks")] {
            for entry in std::fs::read_dir(folder)? {
                let path = entry?.path();
                if is_unfinished(&path) {
                    std::fs::remove_file(&path)?;
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    /// Returns the file of a network.
    #[must_use]
    pub fn network(&self, network_id: NetworkId) -> PathBuf {
        self.dir.join(Self::network_path(network_id))
    }

    /// Returns the path of a network's file below the folder of the run, as the store keeps it.
    #[must_use]
    pub fn network_path(network_id: NetworkId) -> String {
        format!("networks/network-{:06}.safetensors", network_id.get())
    }

    /// Returns the file that is always the best network.
    #[must_use]
    pub fn best(&self) -> PathBuf {
        self.dir.join(BEST_FILE)
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

/// Returns whether a file was being written when its writer was killed: it never got its name.
pub fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".part") && name.contains(".safetensors.")
}

/// Why a file that the store names cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// It cannot be read.
    #[error("read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// It has changed since it was written.
    #[error("{} is damaged: its SHA-256 is not the one in the store", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
}

/// Returns the SHA-256 of these bytes, hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks that a file is the one that the store names.
///
/// # Errors
/// [`RunFileError::Read`] if it cannot be read, [`RunFileError::Damaged`] if it has another SHA-256.
pub fn check_sha256(path: &Path, sha256: &str) -> Result<(), RunFileError> {
    let bytes = std::fs::read(path).map_err(|source| RunFileError::Read { path: path.to_owned(), source })?;
    if sha256_hex(&bytes) == sha256 { Ok(()) } else { Err(RunFileError::Damaged { path: path.to_owned() }) }
}
