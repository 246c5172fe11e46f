//! The folder of a pretraining: its checkpoint, its best network, its history.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// The files of a pretraining. One process at a time: the system lets the lock go when it dies.
#[derive(Debug)]
pub struct Folder {
    dir: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder if need be, and takes its lock without waiting.
    ///
    /// # Errors
    /// What the system says, or that another process is at work there.
    pub fn open(dir: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(dir).with_context(|| format!("create {}", dir.display()))?;
        let path = dir.join("pretrain.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = file.with_context(|| format!("open {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { dir: dir.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                anyhow::bail!("{} is used by another pretraining: wait for it, or stop it", dir.display())
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("lock {}", path.display())),
        }
    }

    /// Returns the file of the best network so far: the result.
    #[must_use]
    pub fn network(&self) -> PathBuf {
        self.dir.join("pretrained.safetensors")
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
///
/// # Errors
/// What the system says.
pub fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let written = File::create(&part).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.and_then(|()| std::fs::rename(&part, path)).with_context(|| format!("write {}", path.display()))
}
