//! The files that the database has open: whether they are still those at their paths. What is written into a deleted file
//! is lost with the process.
//!
//! Nothing here opens a file: closing one would let go the locks that SQLite holds on it.

use std::io;
use std::path::{Path, PathBuf};

use super::StoreError;

/// Files that belong to a database in use, after its own name.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// What the system knows a file by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

/// A file that was open when the store was opened.
#[derive(Debug, Clone)]
struct OpenFile {
    path: PathBuf,
    identity: FileIdentity,
}

/// The files of an open database.
#[derive(Debug, Clone)]
pub(super) struct OpenFiles(Vec<OpenFile>);

impl OpenFiles {
    /// Notes the files of a database that has just been written to.
    pub(super) fn of(database: &Path) -> Result<Self, StoreError> {
        let paths = SUFFIXES.map(|suffix| {
            let mut path = database.as_os_str().to_owned();
            path.push(suffix);
            PathBuf::from(path)
        });
        let open = paths.into_iter().map(|path| {
            let identity = identity_of(&path).map_err(|source| StoreError::io(&path, source))?;
            Ok(OpenFile { path, identity })
        });
        Ok(Self(open.collect::<Result<_, StoreError>>()?))
    }

    /// Checks that each path still leads to the file that is open.
    ///
    /// # Errors
    /// [`StoreError::FileGone`] for the first that does not.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let is_there = |file: &&OpenFile| identity_of(&file.path).is_ok_and(|found| found == file.identity);
        match self.0.iter().find(|file| !is_there(file)) {
            None => Ok(()),
            Some(file) => Err(StoreError::FileGone { path: file.path.clone() }),
        }
    }

    /// Returns the length of the write-ahead log in bytes.
    pub(super) fn log_bytes(&self) -> u64 {
        self.0.get(1).and_then(|log| log.path.metadata().ok()).map_or(0, |metadata| metadata.len())
    }
}

#[cfg(unix)]
fn identity_of(path: &Path) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata()?;
    Ok(FileIdentity { device: metadata.dev(), inode: metadata.ino() })
}

/// Elsewhere a file that is open cannot be deleted.
#[cfg(not(unix))]
fn identity_of(path: &Path) -> io::Result<FileIdentity> {
    path.metadata().map(|_| FileIdentity { device: 0, inode: 0 })
}
