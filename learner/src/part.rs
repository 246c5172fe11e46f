//! A file that is written piece by piece: under its name plus `.part`, and under its own once it is whole.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// A file that is being written. Dropped before its end, it is deleted.
pub struct PartFile {
    path: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    is_whole: bool,
}

impl PartFile {
    /// Begins a file that will be `path`; a link leads to what it names.
    ///
    /// # Errors
    /// What the system says, or if there is something else than a file, such as a folder, a pipe or a device.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        anyhow::ensure!(
            !path.exists() || path.is_file(),
            "write {}: there is something that is no file",
            path.display()
        );
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).with_context(|| format!("write {}", part.display()))?;
        Ok(Self { path: path.to_owned(), part, file: BufWriter::new(file), is_whole: false })
    }

    /// Appends.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.file.write_all(bytes).with_context(|| format!("write {}", self.part.display()))
    }

    /// Writes `start` over the first bytes, and gives the file its name once everything is on disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(mut self, start: &[u8]) -> anyhow::Result<()> {
        self.end(start).with_context(|| format!("write {}", self.path.display()))?;
        self.is_whole = true;
        Ok(())
    }

    fn end(&mut self, start: &[u8]) -> std::io::Result<()> {
        self.file.flush()?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(start)?;
        file.sync_all()?;
        std::fs::rename(&self.part, &self.path)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.is_whole {
            // What was begun is of no use; that it cannot be deleted either would hide the reason.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}
