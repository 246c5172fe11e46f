//! What a command may write over: a file of the kind that it writes, and nothing else.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes by which a kind of file is told; the first game of a file of games takes less.
const START_BYTES: u64 = 1 << 18;

/// A kind of file.
#[derive(Debug, Clone, Copy)]
pub struct FileKind {
    /// What it is called, with its article.
    pub name: &'static str,
    /// Returns whether a file that begins so is one. Of a long file it gets the first 256 KiB.
    pub is_start: fn(&[u8]) -> bool,
}

/// Why a file of some kind may not be written to a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplacedFileError {
    /// A file of another kind is there.
    #[error("{}: it exists and is not {kind}: choose another name or delete it", path.display())]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// What it would have to be.
        kind: &'static str,
    },
    /// A folder is there.
    #[error("{}: it is a folder: name a file", .0.display())]
    Folder(PathBuf),
    /// The folder in which it would be is not there.
    #[error("{}: cannot write it: there is no folder {}: make it or choose another", path.display(), folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
}

impl FileKind {
    /// Checks that a file of this kind may be written to `path`: nothing is there, or an empty file, one of this kind, a
    /// pipe or a device.
    ///
    /// # Errors
    /// [`ReplacedFileError`] for a folder, any other file, one that cannot be read, and a path into a folder that is not
    /// there.
    pub fn check_replaced(&self, path: &Path) -> Result<(), ReplacedFileError> {
        if path.is_dir() {
            return Err(ReplacedFileError::Folder(path.to_owned()));
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            return Err(ReplacedFileError::NoFolder { path: path.to_owned(), folder: folder.to_owned() });
        }
        let is_filled = fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        let mut start = vec![];
        let mut read = || File::open(path)?.take(START_BYTES).read_to_end(&mut start);
        if !is_filled || read().is_ok() && (self.is_start)(&start) {
            return Ok(());
        }
        Err(ReplacedFileError::OtherKind { path: path.to_owned(), kind: self.name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_replaced_by_its_own_kind_alone() {
        let kind = FileKind { name: "a list", is_start: |start| start.starts_with(b"list\n") };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        assert_eq!(kind.check_replaced(&path), Ok(()), "nothing is there");
        for text in ["", "list\nof all"] {
            fs::write(&path, text).expect("written");
            assert_eq!(kind.check_replaced(&path), Ok(()), "{text:?}");
        }
        fs::write(&path, "# Read me").expect("written");
        let error = kind.check_replaced(&path).expect_err("refused").to_string();
        let expected = "file: it exists and is not a list: choose another name or delete it";
        assert!(error.ends_with(expected), "{error}");
        assert_eq!(kind.check_replaced(Path::new("/dev/zero")), Ok(()), "a device");
        let error = kind.check_replaced(folder.path()).expect_err("refused").to_string();
        assert_eq!(error, format!("{}: it is a folder: name a file", folder.path().display()));
        let error = kind.check_replaced(Path::new("/nodir/file")).expect_err("refused").to_string();
        assert_eq!(error, "/nodir/file: cannot write it: there is no folder /nodir: make it or choose another");
        assert_eq!(kind.check_replaced(Path::new("no such file")), Ok(()), "in the folder of the program");
    }
}
