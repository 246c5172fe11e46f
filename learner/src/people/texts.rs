//! Texts that may hold games: files, folders with all that is below them, and zip archives.
//!
//! In folders and archives only names that end like games are looked at; a file that is named outright is read whatever
//! it is called. Sizes are bounded: an archive that unpacks to more than a machine holds is told of, not unpacked.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Context;
use walkdir::WalkDir;
use zip::ZipArchive;

use super::Dropped;

/// Ends of names that games have in folders and archives, but for archives themselves.
const GAME_ENDS: [&str; 3] = ["sgf", "uhp", "txt"];
/// End of the name of an archive in a folder.
const ARCHIVE_END: &str = "zip";
/// First bytes of an archive.
const ARCHIVE_START: [u8; 4] = *b"PK\x03\x04";
/// Largest text that is read; all the games that a large site ever saw take less.
const TEXT_BYTES_MAX: u64 = 1 << 30;
/// Largest text in an archive.
const ENTRY_BYTES_MAX: u64 = 1 << 26;
/// Folders below each other that are looked into.
const FOLDER_DEPTH_MAX: usize = 64;

/// A text that may hold games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// Where it was found: a file, or `archive: name in it`.
    pub(super) place: String,
    /// What it says. Letters that are not Unicode became a mark: moves are written in ASCII.
    pub(super) content: String,
}

/// Files to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) files: Vec<PathBuf>,
    /// Files in folders whose names are not those of games.
    pub(super) passed_over_count: u64,
}

/// Lists the files behind `paths` by name.
///
/// # Errors
/// If a path is not there or cannot be looked into.
pub(super) fn list_files(paths: &[PathBuf]) -> anyhow::Result<Listed> {
    let mut listed = Listed::default();
    for path in paths {
        let metadata = std::fs::metadata(path).with_context(|| format!("games: open {}", path.display()))?;
        if !metadata.is_dir() {
            // A pipe could keep us waiting for ever.
            anyhow::ensure!(metadata.is_file(), "games: {} is neither a file nor a folder", path.display());
            listed.files.push(path.clone());
            continue;
        }
        for entry in WalkDir::new(path).max_depth(FOLDER_DEPTH_MAX).sort_by_file_name() {
            let entry = entry.with_context(|| format!("games: look into {}", path.display()))?;
            if entry.file_type().is_dir() {
            } else if entry.path().is_file()
                && (ends_like(entry.path(), &GAME_ENDS) || ends_like(entry.path(), &[ARCHIVE_END]))
            {
                listed.files.push(entry.into_path());
            } else {
                listed.passed_over_count += 1;
            }
        }
    }
    Ok(listed)
}

fn ends_like(path: &Path, ends: &[&str]) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    ends.iter().any(|candidate| end.eq_ignore_ascii_case(candidate))
}

/// Reads the texts of one file, an archive or not, and hands each to `visit`: the text, or why it is none.
pub(super) fn visit_texts(file: &Path, visit: &mut dyn FnMut(Result<Text, Dropped>)) {
    let place = file.display().to_string();
    let opened = open(file);
    match opened {
        Ok((file, true)) => visit_archive(&place, file, visit),
        Ok((file, false)) => visit(read_text(place, file, TEXT_BYTES_MAX)),
        Err(error) => visit(Err(Dropped::text(place, error))),
    }
}

/// Opens a file; returns whether it is an archive, too.
fn open(path: &Path) -> std::io::Result<(File, bool)> {
    let mut file = File::open(path)?;
    let mut start = Vec::with_capacity(ARCHIVE_START.len());
    Read::by_ref(&mut file).take(ARCHIVE_START.len() as u64).read_to_end(&mut start)?;
    file.seek(SeekFrom::Start(0))?;
    Ok((file, start == ARCHIVE_START))
}

fn visit_archive(place: &str, file: File, visit: &mut dyn FnMut(Result<Text, Dropped>)) {
    let mut archive = match ZipArchive::new(std::io::BufReader::new(file)) {
        Ok(archive) => archive,
        Err(error) => return visit(Err(Dropped::text(place.to_owned(), error))),
    };
    for index in 0..archive.len() {
        let entry = match archive.by_index(index) {
            Ok(entry) => entry,
            Err(error) => {
                visit(Err(Dropped::text(format!("{place}: entry {index}"), error)));
                continue;
            }
        };
        let name = match entry.name() {
            Ok(name) => name.into_owned(),
            Err(error) => {
                visit(Err(Dropped::text(format!("{place}: entry {index}"), error)));
                continue;
            }
        };
        if entry.is_file() && ends_like(Path::new(&name), &GAME_ENDS) {
            visit(read_text(format!("{place}: {name}"), entry, ENTRY_BYTES_MAX));
        }
    }
}

/// Reads a text of at most `bytes_max`. What an archive says of an entry's size is not believed.
fn read_text(place: String, reader: impl Read, bytes_max: u64) -> Result<Text, Dropped> {
    let mut bytes = Vec::new();
    if let Err(error) = reader.take(bytes_max + 1).read_to_end(&mut bytes) {
        return Err(Dropped::text(place, error));
    }
    if bytes.len() as u64 > bytes_max {
        return Err(Dropped::text(place, format!("more than {bytes_max} bytes")));
    }
    let content = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into());
    Ok(Text { place, content })
}
