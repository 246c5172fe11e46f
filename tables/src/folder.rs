//! Tables on disk: a file a class in one folder. Nothing else in this crate touches a file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::class::{Class, classes_of};
use crate::file::{TableFileError, decode, encode};
use crate::set::{ClassTable, TableSet};

/// How the files of tables end.
const EXTENSION: &str = "table";

/// Why tables cannot be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder or a file cannot be read.
    #[error("read endgame tables {path}")]
    Read {
        /// What was read.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A table cannot be written.
    #[error("write endgame table {path}")]
    Write {
        /// What was written.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not a table.
    #[error("endgame table {path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: TableFileError,
    },
    /// A file holds another table than its name says.
    #[error("endgame table {path}: it holds {class}: make the tables anew")]
    Name {
        /// The file.
        path: PathBuf,
        /// What it holds.
        class: Class,
    },
    /// Nothing to play by.
    #[error("no endgame tables in {path}: make them with `alveare tables --out {path}`")]
    Empty {
        /// The folder.
        path: PathBuf,
    },
}

/// Returns the file of a class.
#[must_use]
pub fn path_of(folder: &Path, class: Class) -> PathBuf {
    folder.join(format!("{class}.{EXTENSION}"))
}

/// Reads the table of a class; `None` if it is not there.
///
/// # Errors
/// [`FolderError`] if the file cannot be read, or is no table of this class.
pub fn read(folder: &Path, class: Class) -> Result<Option<ClassTable>, FolderError> {
    let path = path_of(folder, class);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FolderError::Read { path, source }),
    };
    let table = decode(&bytes).map_err(|error| FolderError::File { path: path.clone(), error })?;
    if table.class() == class { Ok(Some(table)) } else { Err(FolderError::Name { path, class: table.class() }) }
}

/// Reads all tables of a folder: those of every number of pieces that is complete.
///
/// # Errors
/// [`FolderError`] naming the file that is wrong; [`FolderError::Empty`] if not even all tables of two pieces are there.
pub fn open(folder: &Path) -> Result<TableSet, FolderError> {
    fs::read_dir(folder).map_err(|source| FolderError::Read { path: folder.into(), source })?;
    let mut tables = TableSet::default();
    for piece_count in 2..=crate::class::PIECE_COUNT_MAX {
        let classes = classes_of(piece_count);
        if !classes.iter().all(|class| path_of(folder, *class).is_file()) {
            break;
        }
        for class in classes {
            read(folder, class)?.into_iter().for_each(|table| tables.insert(table));
        }
    }
    if tables.piece_count() == 0 { Err(FolderError::Empty { path: folder.into() }) } else { Ok(tables) }
}

/// Keeps a table: written to a temporary name, synced, renamed. Safe if killed at any point.
///
/// # Errors
/// [`FolderError::Write`].
pub fn write(folder: &Path, table: &ClassTable) -> Result<(), FolderError> {
    let path = path_of(folder, table.class());
    let temporary = path.with_extension("table.part");
    let written = || -> io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(&encode(table))?;
        file.sync_all()?;
        fs::rename(&temporary, &path)?;
        File::open(folder)?.sync_all()
    };
    written().map_err(|source| FolderError::Write { path: path.clone(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::solve;

    fn filled(folder: &Path) {
        let mut tables = TableSet::default();
        for class in classes_of(2) {
            let table = solve(class, &tables, &mut |_| {});
            write(folder, &table).unwrap();
            tables.insert(table);
        }
    }

    #[test]
    fn a_folder_is_read_as_far_as_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open(folder.path()).unwrap_err().to_string().starts_with("no endgame tables in "));
        filled(folder.path());
        fs::write(folder.path().join("KKvK.table.part"), "half a table").unwrap();
        let tables = open(folder.path()).unwrap();
        assert_eq!((tables.piece_count(), tables.tables().count(), tables.byte_count()), (2, 3, 3_512));
    }

    #[test]
    fn a_wrong_file_is_named_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let path = path_of(folder.path(), "KvM".parse().unwrap());
        let error = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            open(folder.path()).unwrap_err().to_string()
        };
        let name = path.display();
        assert_eq!(error(b"nothing"), format!("endgame table {name}: not an endgame table of Alveare"));
        let other = fs::read(path_of(folder.path(), "KvK".parse().unwrap())).unwrap();
        assert_eq!(error(&other), format!("endgame table {name}: it holds KvK: make the tables anew"));
        assert!(error(&other[..200]).contains("KvM.table: damaged (its length)"));
    }
}
