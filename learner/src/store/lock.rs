//! The lock that keeps two learners out of one run directory. The system lets it go when the process dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::StoreError;

/// Holds the lock of a run directory until dropped.
#[derive(Debug)]
pub(super) struct RunLock {
    _file: File,
}

impl RunLock {
    /// Takes the lock of `run_dir` without waiting.
    pub(super) fn take(run_dir: &Path) -> Result<Self, StoreError> {
        let path = run_dir.join("alveare.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|source| StoreError::io(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: run_dir.to_owned() }),
            Err(TryLockError::Error(source)) => Err(StoreError::io(path, source)),
        }
    }
}
