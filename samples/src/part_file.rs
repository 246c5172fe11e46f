//! A file that is written piece by piece under its name plus `.part`, and renamed once it is complete.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is being written. Dropped before [`PartFile::finish`], it is deleted.
#[derive(Debug)]
pub struct PartFile {
    path: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    is_complete: bool,
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PartFileError {
    /// The path names a folder, a pipe or a device.
    #[error("write {}: it exists and is not a regular file", .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The system refused to create, write or rename the file.
    #[error("write {}", .path.display())]
    Io {
        /// The file that was to be written, without `.part`.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
}

impl PartFile {
    /// Begins a file that will be `path`; a link is followed.
    ///
    /// # Errors
    /// [`PartFileError::NotAFile`] if something other than a file is there, [`PartFileError::Io`] if the file cannot be
    /// created.
    pub fn create(path: &Path) -> Result<Self, PartFileError> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.exists() && !path.is_file() {
            return Err(PartFileError::NotAFile { path });
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(|source| PartFileError::Io { path: path.clone(), source })?;
        Ok(Self { path, part, file: BufWriter::new(file), is_complete: false })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// [`PartFileError::Io`] if the disk refuses them.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), PartFileError> {
        self.file.write_all(bytes).map_err(|source| PartFileError::Io { path: self.path.clone(), source })
    }

    /// Writes `start` over the first bytes, and renames the file once everything is on disk.
    ///
    /// # Errors
    /// [`PartFileError::Io`] if the disk refuses it.
    pub fn finish(mut self, start: &[u8]) -> Result<(), PartFileError> {
        self.end(start).map_err(|source| PartFileError::Io { path: self.path.clone(), source })?;
        self.is_complete = true;
        Ok(())
    }

    fn end(&mut self, start: &[u8]) -> io::Result<()> {
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
        if !self.is_complete {
            // An incomplete file is of no use; failing to delete it must not hide the reason why it is incomplete.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}
