//! Reads games from texts on several threads. An invalid game is dropped as a whole, with its place and the reason.

use std::ops::{ControlFlow, RangeInclusive};
use std::path::PathBuf;
use std::{fmt, io};

use notation::games::LineError;
use notation::{PlayedGame, ReadError, ReadOptions, Remark, boardspace, games, pgn};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use shared::game::Outcome;

use super::tables::{self, Row};
use super::texts::{Content, Text, list_files, visit_texts};

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

impl ReadSettings {
    /// How many threads there may be.
    pub const THREADS: RangeInclusive<usize> = 0..=1024;
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
    /// Games whose source states another outcome than their surrounded queens.
    pub contradicted_count: u64,
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
    let mut read = ReadGames { skipped_file_count: listed.skipped_file_count, ..ReadGames::default() };
    read_in_batches(&listed.files, settings, |batch| {
        read.contradicted_count += batch.games.iter().filter(|game| is_contradicted(game)).count() as u64;
        read.text_count += batch.text_count;
        read.games.extend(batch.games);
        read.dropped.extend(batch.dropped);
        Ok::<_, HumanGamesError>(())
    })?;
    Ok(read)
}

/// Reads the games of a table in memory: a Parquet file if it begins as one, else CSV.
#[must_use]
pub fn read_table(bytes: Vec<u8>, settings: ReadSettings) -> ReadGames {
    let options = ReadOptions { queen_first_allowed: settings.queen_first_allowed };
    let mut read = ReadGames::default();
    let mut visit = |text: Result<Text, DroppedGame>| {
        match text {
            Ok(text) => {
                read.text_count += 1;
                for game in Written::of(&text).into_iter().map(|written| written.read(options)) {
                    match game {
                        Ok(game) => read.games.push(game),
                        Err(dropped) => read.dropped.push(dropped),
                    }
                }
            }
            Err(dropped) => read.dropped.push(dropped),
        }
        ControlFlow::Continue(())
    };
    let _ = if bytes.starts_with(&tables::PARQUET_START) {
        tables::visit_parquet("table", tables::bytes(bytes), &mut visit)
    } else {
        tables::visit_csv("table", bytes.as_slice(), &mut visit)
    };
    read.contradicted_count = read.games.iter().filter(|game| is_contradicted(game)).count() as u64;
    read
}

/// Returns whether the source states another outcome than the surrounded queens, which count.
#[must_use]
pub fn is_contradicted(game: &PlayedGame) -> bool {
    game.remarks.iter().any(|remark| matches!(remark, Remark::StatedOtherwise { .. }))
}

/// Some of the games in a list of files.
#[derive(Debug, Default)]
pub struct ReadBatch {
    /// The games, in the order of the files.
    pub games: Vec<PlayedGame>,
    /// What was dropped, and why.
    pub dropped: Vec<DroppedGame>,
    /// Texts read.
    pub text_count: u64,
    /// How many files, from the first of the list on, were read to their end with this batch.
    pub file_count: usize,
}

/// Reads the games in `files`, and calls `visit` with some after the other. An invalid file is no error, and ends nothing.
///
/// # Errors
/// [`HumanGamesError::Threads`], or the error of `visit`, which ends the reading.
pub fn read_in_batches<E: From<HumanGamesError>>(
    files: &[PathBuf],
    settings: ReadSettings,
    visit: impl FnMut(ReadBatch) -> Result<(), E>,
) -> Result<(), E> {
    let pool = ThreadPoolBuilder::new().num_threads(settings.threads).build().map_err(HumanGamesError::from)?;
    let options = ReadOptions { queen_first_allowed: settings.queen_first_allowed };
    let mut batches = Batches { pool, options, chunk: Vec::new(), chunk_bytes: 0, batch: ReadBatch::default(), visit };
    for file in files {
        let mut failed = Ok(());
        let _ = visit_texts(file, &mut |text| {
            failed = batches.add(text);
            if failed.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        failed?;
        batches.batch.file_count += 1;
    }
    batches.flush()
}

/// Texts on their way to being read together.
struct Batches<F> {
    pool: ThreadPool,
    options: ReadOptions,
    chunk: Vec<Text>,
    chunk_bytes: usize,
    batch: ReadBatch,
    visit: F,
}

impl<E, F: FnMut(ReadBatch) -> Result<(), E>> Batches<F> {
    fn add(&mut self, text: Result<Text, DroppedGame>) -> Result<(), E> {
        match text {
            Ok(text) => {
                self.chunk_bytes += text.byte_count();
                self.chunk.push(text);
            }
            Err(dropped) => self.batch.dropped.push(dropped),
        }
        if self.chunk_bytes >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), E> {
        let (chunk, options) = (std::mem::take(&mut self.chunk), self.options);
        self.chunk_bytes = 0;
        let mut batch = std::mem::take(&mut self.batch);
        self.batch.file_count = batch.file_count;
        batch.text_count = chunk.len() as u64;
        let written: Vec<Written<'_>> = chunk.iter().flat_map(Written::of).collect();
        let read: Vec<_> = self.pool.install(|| written.par_iter().map(|written| written.read(options)).collect());
        for game in read {
            match game {
                Ok(game) => batch.games.push(game),
                Err(dropped) => batch.dropped.push(dropped),
            }
        }
        (self.visit)(batch)
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
    /// As a GameString in a table, with what its columns say of the outcome.
    Row(Option<Outcome>),
}

impl<'a> Written<'a> {
    /// Returns the games in a text: one game tree, games with tags, a game a line, or rows of a table.
    fn of(text: &'a Text) -> Vec<Self> {
        let place = text.place.as_str();
        let content = match &text.content {
            Content::Whole(content) => content.as_str(),
            Content::Rows(rows) => {
                let of_row = |row: &'a Row| Self {
                    place,
                    line: Some(row.number),
                    format: Format::Row(row.winner),
                    text: &row.game,
                };
                return rows.iter().map(of_row).collect();
            }
        };
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
            Format::Row(winner) => {
                games::read_beside(self.text, winner, options).map_err(|error| dropped(self.line, error))
            }
            Format::Pgn => pgn::read(self.text, options)
                .map(|read| read.game)
                .map_err(|LineError { line, error }| dropped(self.line.map(|first| first + line - 1), error)),
        }
    }
}
