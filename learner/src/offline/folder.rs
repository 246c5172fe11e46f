//! The folder of a training: its checkpoint, its best network, its history.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::kind::Kind;
use crate::lock::FolderLock;
use crate::part::PartFile;

/// The files of a training. One process at a time: the system lets the lock go when it dies.
#[derive(Debug)]
pub struct Folder {
    dir: PathBuf,
    kind: Kind,
    _lock: FolderLock,
}

impl Folder {
    /// Makes the folder if need be, and takes its lock without waiting.
    ///
    /// # Errors
    /// What the system says, or that another process is at work there.
    pub fn open(dir: &Path, kind: Kind) -> anyhow::Result<Self> {
        std::fs::create_dir_all(dir).with_context(|| format!("create {}", dir.display()))?;
        let path = dir.join(format!("{}.lock", kind.section()));
        let lock = FolderLock::take(&path).with_context(|| format!("lock {}", path.display()))?;
        let used = || format!("{} is used by another {}: wait for it, or stop it", dir.display(), kind.word());
        Ok(Self { dir: dir.to_owned(), kind, _lock: lock.with_context(used)? })
    }

    /// Returns the file of the best network so far: the result.
    #[must_use]
    pub fn network(&self) -> PathBuf {
        self.dir.join(self.kind.result())
    }

    /// Returns the file from which training goes on.
    #[must_use]
    pub fn checkpoint(&self) -> PathBuf {
        self.dir.join("checkpoint.safetensors")
    }

    /// Writes the table of the epochs.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_table(&self, table: &str) -> anyhow::Result<()> {
        write_whole(&self.dir.join("epochs.tsv"), table.as_bytes())
    }

    /// Writes the list of what was left out of the games. Returns where it is.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_left_out(&self, list: &str) -> anyhow::Result<PathBuf> {
        let path = self.dir.join("left-out.txt");
        write_whole(&path, list.as_bytes())?;
        Ok(path)
    }
}

/// Writes a file so that it is there whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut file = PartFile::create(path)?;
    file.write(bytes)?;
    file.finish(b"")
}
