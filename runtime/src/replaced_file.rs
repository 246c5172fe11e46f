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

/// A file is there, and is not of the kind that is to be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: it exists and is not {kind}: choose another name or delete it", path.display())]
pub struct OtherKindError {
    /// The file.
    pub path: PathBuf,
    /// What it would have to be.
    pub kind: &'static str,
}

impl FileKind {
    /// Checks that a file of this kind may be written to `path`: nothing is there, or an empty file, one of this kind, a
    /// pipe or a device.
    ///
    /// # Errors
    /// [`OtherKindError`] for any other file, and for one that cannot be read.
    pub fn check_replaced(&self, path: &Path) -> Result<(), OtherKindError> {
        let is_filled = fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        let mut start = vec![];
        let mut read = || File::open(path)?.take(START_BYTES).read_to_end(&mut start);
        if !is_filled || read().is_ok() && (self.is_start)(&start) {
            return Ok(());
        }
        Err(OtherKindError { path: path.to_owned(), kind: self.name })
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
    }
}
