//! Tables on disk: a file a class in one folder. Nothing else in this crate touches a file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::class::{Class, PIECE_COUNT_MAX, classes_of};
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
    /// Tables are missing beside others.
    #[error(transparent)]
    Missing(#[from] MissingTable),
}

impl FolderError {
    /// Returns whether no folder with tables was named at all; one that is damaged or cannot be read is one.
    #[must_use]
    pub fn is_no_folder(&self) -> bool {
        let is_elsewhere =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        match self {
            Self::Read { source, .. } => is_elsewhere(source),
            Self::Empty { .. } => true,
            _ => false,
        }
    }
}

/// The first table that is missing from a folder that has others of as many pieces, or of more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "endgame table {} is missing: `alveare tables --pieces {} --out {}` makes it",
    path_of(.folder, *.class).display(),
    .class.piece_count(),
    .folder.display()
)]
pub struct MissingTable {
    /// The folder.
    pub folder: PathBuf,
    /// The class whose table it is.
    pub class: Class,
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

/// Reads the tables of a folder to play by: those of every number of pieces that is complete. Returns which table is
/// missing, if others are there that are of no use without it.
///
/// # Errors
/// [`FolderError`] naming the file that is wrong; [`FolderError::Empty`] or [`FolderError::Missing`] if not even all tables
/// of two pieces are there.
pub fn open(folder: &Path) -> Result<(TableSet, Option<MissingTable>), FolderError> {
    let classes = classes_in(folder)?;
    let missing = first_missing(folder, &classes);
    let is_complete = |class: &&Class| missing.as_ref().is_none_or(|it| class.piece_count() < it.class.piece_count());
    let tables = read_all(folder, classes.iter().filter(is_complete))?;
    match missing {
        Some(missing) if tables.piece_count() == 0 => Err(missing.into()),
        missing => Ok((tables, missing)),
    }
}

/// Reads every table of a folder.
///
/// # Errors
/// [`FolderError`] naming the file that is wrong; [`FolderError::Missing`] if all are right, and others are missing.
pub fn open_whole(folder: &Path) -> Result<TableSet, FolderError> {
    let classes = classes_in(folder)?;
    let tables = read_all(folder, &classes)?;
    first_missing(folder, &classes).map_or(Ok(tables), |missing| Err(missing.into()))
}

/// Returns the classes whose tables are in a folder, those of few pieces first.
fn classes_in(folder: &Path) -> Result<Vec<Class>, FolderError> {
    fs::read_dir(folder).map_err(|source| FolderError::Read { path: folder.into(), source })?;
    let is_there = |class: &Class| path_of(folder, *class).is_file();
    let classes: Vec<Class> = (2..=PIECE_COUNT_MAX).flat_map(classes_of).filter(is_there).collect();
    if classes.is_empty() { Err(FolderError::Empty { path: folder.into() }) } else { Ok(classes) }
}

/// Returns the first table that is missing beside those of `classes`.
fn first_missing(folder: &Path, classes: &[Class]) -> Option<MissingTable> {
    let most = classes.last()?.piece_count();
    let class = (2..=most).flat_map(classes_of).find(|class| !classes.contains(class))?;
    Some(MissingTable { folder: folder.into(), class })
}

fn read_all<'a>(folder: &Path, classes: impl IntoIterator<Item = &'a Class>) -> Result<TableSet, FolderError> {
    let mut tables = TableSet::default();
    for class in classes {
        read(folder, *class)?.into_iter().for_each(|table| tables.insert(table));
    }
    Ok(tables)
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
        let error = open(folder.path()).unwrap_err();
        assert!(error.to_string().starts_with("no endgame tables in ") && error.is_no_folder(), "{error}");
        assert!(open(&folder.path().join("nowhere")).unwrap_err().is_no_folder());
        filled(folder.path());
        fs::write(folder.path().join("KKvK.table.part"), "half a table").unwrap();
        let (tables, missing) = open(folder.path()).unwrap();
        assert_eq!((tables.piece_count(), tables.tables().count(), tables.byte_count()), (2, 3, 3_512));
        assert_eq!(missing, None);
    }

    #[test]
    fn a_table_that_is_missing_beside_others_is_named() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let class: Class = "KKvK".parse().unwrap();
        write(folder.path(), &solve(class, &open_whole(folder.path()).unwrap(), &mut |_| {})).unwrap();
        let (tables, missing) = open(folder.path()).unwrap();
        let dir = folder.path().display();
        let of_three =
            format!("endgame table {dir}/KMvK.table is missing: `alveare tables --pieces 3 --out {dir}` makes it");
        assert_eq!((tables.piece_count(), missing.unwrap().to_string()), (2, of_three.clone()));
        assert_eq!(open_whole(folder.path()).unwrap_err().to_string(), of_three);
        fs::write(path_of(folder.path(), class), "nothing").unwrap();
        assert_eq!(open(folder.path()).unwrap().0.piece_count(), 2, "it is of no use");
        assert!(open_whole(folder.path()).unwrap_err().to_string().contains("KKvK.table: not an endgame table"));
        fs::remove_file(path_of(folder.path(), "KvM".parse().unwrap())).unwrap();
        let error = open(folder.path()).unwrap_err();
        assert!(error.to_string().contains("KvM.table is missing: ") && !error.is_no_folder(), "{error}");
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
