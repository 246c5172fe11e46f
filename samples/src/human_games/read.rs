//! Reads games from texts on several threads. An invalid game is dropped as a whole, with its place and the reason.

use std::path::PathBuf;
use std::{fmt, io};

use notation::games::LineError;
use notation::{PlayedGame, ReadError, ReadOptions, boardspace, games, pgn};
use rayon::prelude::*;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

use super::texts::{Text, list_files, visit_texts};

/// Bytes of text that are gathered before their games are read together.
const CHUNK_BYTES: usize = 16 << 20;

/// How games are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadSettings {
    /// Threads that check moves against the rules; 0: all cores.
    pub threads: usize,
    /// Games that open with a queen are read, which old records do.
    pub queen_first_allowed: bool,
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self { threads: 0, queen_first_allowed: true }
    }
}

/// A game, or a text as a whole, that was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedGame {
    /// The file, or `archive: name in it`.
    pub place: String,
    /// The line of a game that has a line of its own, from 1.
    pub line: Option<u32>,
    /// Node or ply, and what is wrong there.
    pub reason: String,
}

impl DroppedGame {
    /// Describes a text that is dropped as a whole.
    pub(super) fn text(place: String, reason: impl fmt::Display) -> Self {
        Self { place, line: None, reason: reason.to_string() }
    }
}

impl fmt::Display for DroppedGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}: line {line}: {}", self.place, self.reason),
            None => write!(f, "{}: {}", self.place, self.reason),
        }
    }
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadGames {
    /// The games, in the order of the files.
    pub games: Vec<PlayedGame>,
    /// What was dropped, and why.
    pub dropped: Vec<DroppedGame>,
    /// Texts read.
    pub text_count: u64,
    /// Files in folders whose names are not those of games.
    pub skipped_file_count: u64,
}

/// Why no games can be read.
#[derive(Debug, thiserror::Error)]
pub enum HumanGamesError {
    /// A path does not exist or cannot be opened.
    #[error("games: open {}", .path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// A path is a pipe or a device.
    #[error("games: {} is neither a file nor a folder", .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A folder cannot be listed.
    #[error("games: list {}", .path.display())]
    Folder {
        /// The path that was named.
        path: PathBuf,
        /// The folder below it, and what the system reported.
        source: walkdir::Error,
    },
    /// The system starts no threads.
    #[error("start threads to read games")]
    Threads(#[from] ThreadPoolBuildError),
}

/// Checks that all `paths` exist, before anything else is made.
///
/// # Errors
/// [`HumanGamesError::Open`] for the first that does not.
pub fn check_paths(paths: &[PathBuf]) -> Result<(), HumanGamesError> {
    let check = |path: &PathBuf| {
        path.metadata().map(drop).map_err(|source| HumanGamesError::Open { path: path.clone(), source })
    };
    paths.iter().try_for_each(check)
}

/// Reads the games in `paths`: files, folders with all below them, and zip archives.
///
/// # Errors
/// [`HumanGamesError`]. An invalid file is no error: see [`ReadGames::dropped`].
pub fn read_games(paths: &[PathBuf], settings: ReadSettings) -> Result<ReadGames, HumanGamesError> {
    let listed = list_files(paths)?;
    let pool = ThreadPoolBuilder::new().num_threads(settings.threads).build()?;
    let options = ReadOptions { queen_first_allowed: settings.queen_first_allowed };
    let mut read = ReadGames { skipped_file_count: listed.skipped_file_count, ..ReadGames::default() };
    let mut chunk = Vec::new();
    let mut chunk_bytes = 0;
    for file in &listed.files {
        visit_texts(file, &mut |text| match text {
            Ok(text) => {
                chunk_bytes += text.content.len();
                chunk.push(text);
                if chunk_bytes >= CHUNK_BYTES {
                    pool.install(|| read.add_chunk(&chunk, options));
                    chunk.clear();
                    chunk_bytes = 0;
                }
            }
            Err(dropped) => read.dropped.push(dropped),
        });
    }
    pool.install(|| read.add_chunk(&chunk, options));
    Ok(read)
}

impl ReadGames {
    fn add_chunk(&mut self, chunk: &[Text], options: ReadOptions) {
        self.text_count += chunk.len() as u64;
        let written: Vec<Written<'_>> = chunk.iter().flat_map(Written::of).collect();
        let read: Vec<_> = written.par_iter().map(|written| written.read(options)).collect();
        for game in read {
            match game {
                Ok(game) => self.games.push(game),
                Err(dropped) => self.dropped.push(dropped),
            }
        }
    }
}

/// A game as it stands in a text.
#[derive(Debug, Clone, Copy)]
struct Written<'a> {
    place: &'a str,
    /// Where in it the game begins, from 1; `None`: the whole text is one game tree.
    line: Option<u32>,
    format: Format,
    text: &'a str,
}

/// How a game is written.
#[derive(Debug, Clone, Copy)]
enum Format {
    /// As boardspace.net does.
    BoardSpace,
    /// As a GameString.
    Uhp,
    /// With tags, and a number before each move.
    Pgn,
}

impl<'a> Written<'a> {
    /// Returns the games in a text: one game tree, games with tags, or a game a line.
    fn of(text: &'a Text) -> Vec<Self> {
        let (place, content) = (text.place.as_str(), text.content.as_str());
        let written = |format| move |(line, text): (u32, &'a str)| Self { place, line: Some(line), format, text };
        match content.trim_start().as_bytes() {
            [b'(', ..] => vec![Self { place, line: None, format: Format::BoardSpace, text: content }],
            [b'[', ..] => pgn::split(content).map(written(Format::Pgn)).collect(),
            _ => {
                let lines = (1..).zip(content.lines()).filter(|(_, line)| !line.trim().is_empty());
                lines.map(written(Format::Uhp)).collect()
            }
        }
    }

    fn read(&self, options: ReadOptions) -> Result<PlayedGame, DroppedGame> {
        let dropped =
            |line, error: ReadError| DroppedGame { place: self.place.to_owned(), line, reason: error.to_string() };
        match self.format {
            Format::BoardSpace => boardspace::read(self.text, options).map_err(|error| dropped(self.line, error)),
            Format::Uhp => games::read(self.text, options).map_err(|error| dropped(self.line, error)),
            Format::Pgn => pgn::read(self.text, options)
                .map(|read| read.game)
                .map_err(|LineError { line, error }| dropped(self.line.map(|first| first + line - 1), error)),
        }
    }
}
