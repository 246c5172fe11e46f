//! A file of games gathered from many files, one GameString a line, that can be resumed and added to.
//!
//! Beside it lies a list of the files that were read (`NAME.read`): for each of them how long the file of games was
//! then, and size and time of the file, one JSON object a line. A line that was being written is cut off when the collection
//! is opened, so a kill costs at most the files in hand. A file that is in the list as it is now is not
//! read again; of one that has changed, or of a copy, only games that are not there yet are added. So the collection is the
//! same, however often it was interrupted.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use notation::PlayedGame;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Why a collection cannot be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum CollectionError {
    /// There is a file of that name, and no list beside it.
    #[error("{}: it exists, and {} does not: name another file", .path.display(), .list.display())]
    NotACollection {
        /// The file of games.
        path: PathBuf,
        /// The list that is missing.
        list: PathBuf,
    },
    /// The file of games is shorter than the list says.
    #[error("{}: {length} bytes, but {} were written: delete it and its list, and begin again", .path.display(), .wanted)]
    Shorter {
        /// The file of games.
        path: PathBuf,
        /// How long it is.
        length: u64,
        /// How long it was.
        wanted: u64,
    },
    /// A whole line of the list cannot be read.
    #[error("{}: line {line} is damaged: delete it and its file of games, and begin again", .path.display())]
    List {
        /// The list.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Another program is adding to it.
    #[error("{}: another program is adding games to it", .path.display())]
    Locked {
        /// The file of games.
        path: PathBuf,
    },
    /// The system refuses to read or write.
    #[error("{}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ReadFile {
    /// Bytes of the file of games once this file was read.
    end: u64,
    #[serde(flatten)]
    stamp: Stamp,
    path: String,
}

/// By what it is seen that a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    size: u64,
    /// Nanoseconds since 1970.
    modified: u64,
}

/// A file of games that is being added to.
#[derive(Debug)]
pub struct GameCollection {
    path: PathBuf,
    games: File,
    /// Bytes of the file of games.
    end: u64,
    list_path: PathBuf,
    list: File,
    read_files: HashMap<String, Stamp>,
    /// Hashes of the lines.
    lines: HashSet<u64>,
    /// Lines that are not written yet.
    pending: String,
}

impl GameCollection {
    /// Opens the collection at `path`, or begins it.
    ///
    /// # Errors
    /// [`CollectionError`]: the files are not a collection, damaged, or in use, or the system refuses them.
    pub fn open(path: &Path) -> Result<Self, CollectionError> {
        let mut list_path = path.as_os_str().to_owned();
        list_path.push(".read");
        let list_path = PathBuf::from(list_path);
        if path.exists() && !list_path.exists() {
            return Err(CollectionError::NotACollection { path: path.to_owned(), list: list_path });
        }
        let open = |path: &Path| {
            let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
            options.map_err(|source| io_error(path, source))
        };
        // The list first: a file of games without one is refused.
        let mut list = open(&list_path)?;
        match list.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(CollectionError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(io_error(&list_path, source)),
        }
        let (read_files, end) = read_list(&list_path, &mut list)?;
        let games = open(path)?;
        let length = games.metadata().map_err(|source| io_error(path, source))?.len();
        if length < end {
            return Err(CollectionError::Shorter { path: path.to_owned(), length, wanted: end });
        }
        let end = end_of_lines(&games, end).map_err(|source| io_error(path, source))?;
        games.set_len(end).map_err(|source| io_error(path, source))?;
        (&games).rewind().map_err(|source| io_error(path, source))?;
        let lines = BufReader::new(&games).lines().map(|line| line.map(|line| xxh3_64(line.as_bytes())));
        let lines = lines.collect::<io::Result<_>>().map_err(|source| io_error(path, source))?;
        let pending = String::new();
        Ok(Self { path: path.to_owned(), games, end, list_path, list, read_files, lines, pending })
    }

    /// Returns how many games there are.
    #[must_use]
    pub fn game_count(&self) -> usize {
        self.lines.len()
    }

    /// Returns whether a file was read, and has not changed since.
    #[must_use]
    pub fn has_read(&self, file: &Path) -> bool {
        self.read_files.get(&name_of(file)).is_some_and(|known| stamp_of(file).is_ok_and(|found| found == *known))
    }

    /// Adds a game; returns whether it was not there yet.
    pub fn add(&mut self, game: &PlayedGame) -> bool {
        let line = game.to_game_string();
        let is_new = self.lines.insert(xxh3_64(line.as_bytes()));
        if is_new {
            self.pending.push_str(&line);
            self.pending.push('\n');
        }
        is_new
    }

    /// Writes the games that were added, and then that these files are read. A file that cannot be opened is not.
    ///
    /// # Errors
    /// [`CollectionError::Io`] if the disk refuses it.
    pub fn commit(&mut self, files: &[PathBuf]) -> Result<(), CollectionError> {
        let failed = |source| io_error(&self.path, source);
        self.games.seek(SeekFrom::Start(self.end)).map_err(failed)?;
        self.games.write_all(self.pending.as_bytes()).map_err(failed)?;
        if !self.pending.is_empty() {
            self.games.sync_data().map_err(failed)?;
        }
        self.end += self.pending.len() as u64;
        self.pending.clear();
        let mut text = String::new();
        for file in files {
            let Ok(stamp) = stamp_of(file) else { continue };
            let path = name_of(file);
            let line = serde_json::to_string(&ReadFile { end: self.end, stamp, path: path.clone() });
            text += &line.map_err(|error| io_error(&self.list_path, error.into()))?;
            text.push('\n');
            self.read_files.insert(path, stamp);
        }
        let failed = |source| io_error(&self.list_path, source);
        self.list.write_all(text.as_bytes()).map_err(failed)?;
        self.list.sync_data().map_err(failed)
    }
}

/// Reads the list up to its last whole line, and cuts off what is behind it. Returns the files, and the bytes of the file
/// of games after the last of them.
fn read_list(path: &Path, list: &mut File) -> Result<(HashMap<String, Stamp>, u64), CollectionError> {
    let failed = |source| io_error(path, source);
    let (mut files, mut end, mut list_end) = (HashMap::new(), 0, 0);
    let mut reader = BufReader::new(&*list);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let length = reader.read_until(b'\n', &mut bytes).map_err(failed)?;
        if bytes.last() != Some(&b'\n') {
            break;
        }
        let damaged = |_| CollectionError::List { path: path.to_owned(), line };
        let file: ReadFile = serde_json::from_slice(&bytes).map_err(damaged)?;
        end = file.end;
        files.insert(file.path, file.stamp);
        list_end += length as u64;
    }
    list.set_len(list_end).map_err(failed)?;
    list.seek(SeekFrom::Start(list_end)).map_err(failed)?;
    Ok((files, end))
}

/// Returns where the last whole line ends, `end` at least: lines behind it were written before a kill, or by somebody else.
fn end_of_lines(mut games: &File, end: u64) -> io::Result<u64> {
    games.seek(SeekFrom::Start(end))?;
    let (mut reader, mut line, mut end) = (BufReader::new(games), Vec::new(), end);
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)? as u64;
        if line.last() != Some(&b'\n') {
            return Ok(end);
        }
        end += length;
    }
}

fn name_of(file: &Path) -> String {
    file.canonicalize().unwrap_or_else(|_| file.to_owned()).display().to_string()
}

/// Opens the file, to see whether it can be read.
fn stamp_of(file: &Path) -> io::Result<Stamp> {
    let metadata = File::open(file)?.metadata()?;
    let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Stamp { size: metadata.len(), modified: u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX) })
}

fn io_error(path: &Path, source: io::Error) -> CollectionError {
    CollectionError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::{ReadOptions, games};

    const GAMES: [&str; 3] =
        ["Base;Draw;Black[1];wS1", "Base+L;WhiteWins;White[2];wS1;bS1 wS1-", "Base+MLP;Draw;White[2];wL;bS1 wL-"];

    fn game(text: &str) -> PlayedGame {
        games::read(text, ReadOptions::default()).expect("a game")
    }

    fn folder() -> (tempfile::TempDir, PathBuf, Vec<PathBuf>) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let files: Vec<PathBuf> = ["a.sgf", "b.sgf", "c.sgf"].iter().map(|name| dir.path().join(name)).collect();
        files.iter().for_each(|file| std::fs::write(file, "games").expect("a file"));
        let path = dir.path().join("games.uhp");
        (dir, path, files)
    }

    #[test]
    fn what_is_not_in_the_list_is_read_again_and_never_doubled() {
        let (_dir, path, files) = folder();
        let mut collection = GameCollection::open(&path).expect("a collection");
        assert!(collection.add(&game(GAMES[0])) && !collection.add(&game(GAMES[0])));
        collection.commit(&files[..1]).expect("written");
        assert!(collection.add(&game(GAMES[1])));
        collection.commit(&[]).expect("written: half of a large file");
        assert!(matches!(GameCollection::open(&path), Err(CollectionError::Locked { .. })));
        drop(collection);
        // Killed while it wrote a line of each file.
        let append = |path: &Path, text: &str| {
            let mut file = OpenOptions::new().append(true).open(path).expect("a file");
            file.write_all(text.as_bytes()).expect("written");
        };
        append(&path, "Base;Dr");
        append(&path.with_extension("uhp.read"), "{\"end\":99");
        let mut collection = GameCollection::open(&path).expect("a collection");
        assert_eq!(collection.game_count(), 2, "whole lines stay, whoever wrote them");
        let read: Vec<bool> = files.iter().map(|file| collection.has_read(file)).collect();
        assert_eq!(read, [true, false, false]);
        assert!(
            !collection.add(&game(GAMES[1])) && collection.add(&game(GAMES[2])) && !collection.add(&game(GAMES[0]))
        );
        collection.commit(&files[1..]).expect("written");
        drop(collection);
        let text = std::fs::read_to_string(&path).expect("the games");
        assert_eq!(text.lines().collect::<Vec<_>>(), GAMES);
        std::fs::write(&files[2], "more games").expect("a file");
        let collection = GameCollection::open(&path).expect("a collection");
        assert_eq!(collection.game_count(), 3);
        assert!(collection.has_read(&files[1]) && !collection.has_read(&files[2]));
    }

    #[test]
    fn files_that_are_no_collection_are_left_alone() {
        let (dir, path, files) = folder();
        let refused = |path: &Path| GameCollection::open(path).expect_err("refused").to_string();
        assert!(refused(&files[0]).contains("name another file"));
        assert_eq!(std::fs::read_to_string(&files[0]).expect("a file"), "games");
        GameCollection::open(&path)
            .and_then(|mut collection| {
                collection.add(&game(GAMES[0]));
                collection.commit(&files)
            })
            .expect("written");
        let list = dir.path().join("games.uhp.read");
        let lines = std::fs::read_to_string(&list).expect("a list");
        std::fs::write(&path, "Base").expect("a file");
        assert!(refused(&path).contains("4 bytes, but 23 were written"), "{}", refused(&path));
        std::fs::write(&list, lines.replacen("size", "seize", 1)).expect("a file");
        assert!(refused(&path).contains("line 1 is damaged"));
    }
}
