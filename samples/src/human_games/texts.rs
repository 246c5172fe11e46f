//! Texts that may hold games: files, folders with all that is below them, zip archives, and tables.
//!
//! In folders and archives only files with the extension of a game are read; a file that is named itself is read
//! whatever its name. Sizes are bounded: a text in an archive that unpacks to more than the bound is dropped.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;
use zip::ZipArchive;

use super::tables::{self, Row};
use super::{DroppedGame, HumanGamesError};

/// Extensions of games in folders and archives, tables among them.
const GAME_EXTENSIONS: [&str; 6] = ["sgf", "pgn", "uhp", "txt", tables::CSV_EXTENSION, tables::PARQUET_EXTENSION];
/// Extension of an archive in a folder.
const ARCHIVE_EXTENSION: &str = "zip";
/// First bytes of an archive.
const ARCHIVE_START: [u8; 4] = *b"PK\x03\x04";
/// Largest text that is read; all games ever played on a large site take less.
const TEXT_BYTES_MAX: u64 = 1 << 30;
/// Largest text in an archive.
const ENTRY_BYTES_MAX: u64 = 1 << 26;
/// Depth to which folders are searched.
const FOLDER_DEPTH_MAX: usize = 64;

/// A text that may hold games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// Where it was found: a file, or `archive: name in it`.
    pub(super) place: String,
    pub(super) content: Content,
}

/// What was found in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// A text, decoded; moves are written in ASCII.
    Whole(String),
    /// Some rows of a table.
    Rows(Vec<Row>),
}

impl Text {
    /// Returns how many bytes of text there are.
    pub(super) fn byte_count(&self) -> usize {
        match &self.content {
            Content::Whole(text) => text.len(),
            Content::Rows(rows) => rows.iter().map(|row| row.game.len()).sum(),
        }
    }
}

/// What is done with each text, or with the reason why one is dropped; reading stops when it breaks off.
pub(super) type VisitText<'a> = dyn FnMut(Result<Text, DroppedGame>) -> ControlFlow<()> + 'a;

/// Files to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedFiles {
    /// The files, in the order of the paths, those of folders by name.
    pub files: Vec<PathBuf>,
    /// Files in folders whose names are not those of games.
    pub skipped_file_count: u64,
}

/// Lists the files behind `paths` by name.
///
/// # Errors
/// [`HumanGamesError::Open`], [`HumanGamesError::NotAFile`] or [`HumanGamesError::Folder`].
pub fn list_files(paths: &[PathBuf]) -> Result<ListedFiles, HumanGamesError> {
    let mut listed = ListedFiles::default();
    for path in paths {
        let metadata = path.metadata().map_err(|source| HumanGamesError::Open { path: path.clone(), source })?;
        if !metadata.is_dir() {
            // Reading a pipe could wait for ever.
            if !metadata.is_file() {
                return Err(HumanGamesError::NotAFile { path: path.clone() });
            }
            listed.files.push(path.clone());
            continue;
        }
        for entry in WalkDir::new(path).max_depth(FOLDER_DEPTH_MAX).sort_by_file_name() {
            let entry = entry.map_err(|source| HumanGamesError::Folder { path: path.clone(), source })?;
            if entry.file_type().is_dir() {
            } else if entry.path().is_file()
                && (has_extension(entry.path(), &GAME_EXTENSIONS) || has_extension(entry.path(), &[ARCHIVE_EXTENSION]))
            {
                listed.files.push(entry.into_path());
            } else {
                listed.skipped_file_count += 1;
            }
        }
    }
    Ok(listed)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let found = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    extensions.iter().any(|extension| found.eq_ignore_ascii_case(extension))
}

/// Reads the texts of one file, an archive or not, and calls `visit` with each: the text, or why it is dropped.
pub(super) fn visit_texts(file: &Path, visit: &mut VisitText<'_>) -> ControlFlow<()> {
    let place = file.display().to_string();
    match open(file) {
        Ok((file, ARCHIVE_START)) => visit_archive(&place, file, visit),
        Ok((table, start)) if start == tables::PARQUET_START || has_extension(file, &[tables::PARQUET_EXTENSION]) => {
            tables::visit_parquet(&place, table, visit)
        }
        Ok((table, _)) if has_extension(file, &[tables::CSV_EXTENSION]) => {
            tables::visit_csv(&place, table.take(TEXT_BYTES_MAX), visit)
        }
        Ok((file, _)) => visit(read_text(place, file, TEXT_BYTES_MAX)),
        Err(error) => visit(Err(DroppedGame::text(place, error))),
    }
}

/// Opens a file; returns its first bytes, too, zeros where it has fewer.
fn open(path: &Path) -> std::io::Result<(File, [u8; 4])> {
    let mut file = File::open(path)?;
    let mut start = Vec::with_capacity(ARCHIVE_START.len());
    Read::by_ref(&mut file).take(ARCHIVE_START.len() as u64).read_to_end(&mut start)?;
    file.seek(SeekFrom::Start(0))?;
    start.resize(ARCHIVE_START.len(), 0);
    Ok((file, [start[0], start[1], start[2], start[3]]))
}

fn visit_archive(place: &str, file: File, visit: &mut VisitText<'_>) -> ControlFlow<()> {
    let mut archive = match ZipArchive::new(std::io::BufReader::new(file)) {
        Ok(archive) => archive,
        Err(error) => return visit(Err(DroppedGame::text(place.to_owned(), error))),
    };
    for index in 0..archive.len() {
        let entry = match archive.by_index(index) {
            Ok(entry) => entry,
            Err(error) => {
                visit(Err(DroppedGame::text(format!("{place}: entry {index}"), error)))?;
                continue;
            }
        };
        let name = match entry.name() {
            Ok(name) => name.into_owned(),
            Err(error) => {
                visit(Err(DroppedGame::text(format!("{place}: entry {index}"), error)))?;
                continue;
            }
        };
        if entry.is_file() && has_extension(Path::new(&name), &GAME_EXTENSIONS) {
            visit_entry(format!("{place}: {name}"), Path::new(&name), entry, visit)?;
        }
    }
    ControlFlow::Continue(())
}

/// Visits the texts of a file in an archive.
fn visit_entry(place: String, name: &Path, entry: impl Read, visit: &mut VisitText<'_>) -> ControlFlow<()> {
    let bytes = match read_bytes(&place, entry, ENTRY_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(dropped) => return visit(Err(dropped)),
    };
    if has_extension(name, &[tables::PARQUET_EXTENSION]) {
        tables::visit_parquet(&place, tables::bytes(bytes), visit)
    } else if has_extension(name, &[tables::CSV_EXTENSION]) {
        tables::visit_csv(&place, bytes.as_slice(), visit)
    } else {
        visit(Ok(Text { place, content: Content::Whole(notation::decode(bytes)) }))
    }
}

/// Reads a text of at most `bytes_max`.
fn read_text(place: String, reader: impl Read, bytes_max: u64) -> Result<Text, DroppedGame> {
    let bytes = read_bytes(&place, reader, bytes_max)?;
    Ok(Text { place, content: Content::Whole(notation::decode(bytes)) })
}

/// Reads at most `bytes_max`. The size that an archive states is not trusted.
fn read_bytes(place: &str, reader: impl Read, bytes_max: u64) -> Result<Vec<u8>, DroppedGame> {
    let mut bytes = Vec::new();
    if let Err(error) = reader.take(bytes_max + 1).read_to_end(&mut bytes) {
        return Err(DroppedGame::text(place.to_owned(), error));
    }
    if bytes.len() as u64 > bytes_max {
        return Err(DroppedGame::text(place.to_owned(), format!("more than {bytes_max} bytes")));
    }
    Ok(bytes)
}
