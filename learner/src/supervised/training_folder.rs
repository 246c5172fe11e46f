//! The folder of a supervised training: its checkpoint, its best network, its history.

use std::path::{Path, PathBuf};

use samples::part_file::{PartFile, PartFileError};
use store::lock::FolderLock;

use super::error::SupervisedError;
use crate::training_source::TrainingSource;

/// The files of a supervised training. One process at a time: the system releases the lock when it dies.
#[derive(Debug)]
pub struct TrainingFolder {
    dir: PathBuf,
    source: TrainingSource,
    _lock: FolderLock,
}

impl TrainingFolder {
    /// Creates the folder if need be, and takes its lock without waiting.
    ///
    /// # Errors
    /// [`SupervisedError::CreateFolder`], [`SupervisedError::Lock`], or [`SupervisedError::FolderInUse`] if another
    /// process has the lock.
    pub fn open(dir: &Path, source: TrainingSource) -> Result<Self, SupervisedError> {
        let failed = |error| SupervisedError::CreateFolder { path: dir.to_owned(), source: error };
        std::fs::create_dir_all(dir).map_err(failed)?;
        let path = dir.join(format!("{}.lock", source.section()));
        let lock = FolderLock::take(&path).map_err(|error| SupervisedError::Lock { path, source: error })?;
        let in_use = || SupervisedError::FolderInUse { path: dir.to_owned(), training: source.training() };
        Ok(Self { dir: dir.to_owned(), source, _lock: lock.ok_or_else(in_use)? })
    }

    /// Returns the file of the best network so far: the result.
    #[must_use]
    pub fn network(&self) -> PathBuf {
        self.dir.join(self.source.result_file())
    }

    /// Returns the file from which training is resumed.
    #[must_use]
    pub fn checkpoint(&self) -> PathBuf {
        self.dir.join("checkpoint.safetensors")
    }

    /// Writes the table of the epochs.
    ///
    /// # Errors
    /// [`PartFileError`] if the disk refuses it.
    pub fn write_table(&self, table: &str) -> Result<(), PartFileError> {
        write_whole(&self.dir.join("epochs.tsv"), table.as_bytes())
    }

    /// Writes the list of the games that were left out. Returns where it is.
    ///
    /// # Errors
    /// [`PartFileError`] if the disk refuses it.
    pub fn write_left_out(&self, list: &str) -> Result<PathBuf, PartFileError> {
        let path = self.dir.join("left-out.txt");
        write_whole(&path, list.as_bytes())?;
        Ok(path)
    }
}

/// Writes a file that appears complete or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), PartFileError> {
    let mut file = PartFile::create(path)?;
    file.write(bytes)?;
    file.finish(b"")
}
