//! Reading games out of texts on several threads. A broken game is left out whole, and told of.

use std::fmt;
use std::path::PathBuf;

use anyhow::Context;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use runtime::logging;
use shared::notation::{PlayedGame, ReadOptions, boardspace, games};

use super::texts::{Text, list_files, visit_texts};

/// Bytes of text that are read before their games are: what many small files are gathered to.
const CHUNK_BYTES: usize = 16 << 20;

/// Games left out that are named; of the others only the number is told.
const NAMED_COUNT_MAX: usize = 20;

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

/// A game or a text that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The file, or `archive: name in it`.
    pub place: String,
    /// The line of a game that has a line of its own, from 1.
    pub line: Option<u32>,
    /// Node or ply, and what is wrong there.
    pub reason: String,
}

impl Dropped {
    /// Says that a whole text is left out.
    pub(super) fn text(place: String, reason: impl fmt::Display) -> Self {
        Self { place, line: None, reason: reason.to_string() }
    }
}

impl fmt::Display for Dropped {
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
    /// What was left out, and why.
    pub dropped: Vec<Dropped>,
    /// Texts looked at.
    pub text_count: u64,
    /// Files in folders that are not called like games.
    pub passed_over_count: u64,
}

/// Checks that all `paths` are there: whoever makes something first can tell before it does.
///
/// # Errors
/// In one line, which one cannot be opened and why.
pub fn check_paths(paths: &[PathBuf]) -> anyhow::Result<()> {
    let check = |path: &PathBuf| path.metadata().map(drop).with_context(|| format!("games: open {}", path.display()));
    paths.iter().try_for_each(check)
}

/// Reads the games in `paths`: files, folders with all below them, and zip archives.
///
/// # Errors
/// If a path is not there or there are no threads. A broken file is no error: see [`ReadGames::dropped`].
pub fn read_games(paths: &[PathBuf], settings: ReadSettings) -> anyhow::Result<ReadGames> {
    let listed = list_files(paths)?;
    let pool = ThreadPoolBuilder::new().num_threads(settings.threads).build().context("start threads to read games")?;
    let options = ReadOptions { queen_first_allowed: settings.queen_first_allowed };
    let mut read = ReadGames { passed_over_count: listed.passed_over_count, ..ReadGames::default() };
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

/// Says which games were left out, the first of them by name.
pub fn tell_dropped(dropped: &[Dropped]) {
    for dropped in dropped.iter().take(NAMED_COUNT_MAX) {
        logging::print_line(&format!("left out: {dropped}"));
    }
    if let Some(more) = dropped.len().checked_sub(NAMED_COUNT_MAX).filter(|more| *more > 0) {
        logging::print_line(&format!("left out: {more} more"));
    }
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

/// A game as it is written.
#[derive(Debug, Clone, Copy)]
struct Written<'a> {
    place: &'a str,
    /// `None`: the whole text is one game tree.
    line: Option<u32>,
    text: &'a str,
}

impl<'a> Written<'a> {
    /// Returns the games in a text: one game tree, or a game a line.
    fn of(text: &'a Text) -> Vec<Self> {
        let content = text.content.trim_start_matches('\u{feff}').trim_start();
        if content.starts_with('(') {
            return vec![Self { place: &text.place, line: None, text: content }];
        }
        let lines = (1..).zip(text.content.trim_start_matches('\u{feff}').lines());
        let games = lines.filter(|(_, line)| !line.trim().is_empty());
        games.map(|(line, game)| Self { place: &text.place, line: Some(line), text: game }).collect()
    }

    fn read(&self, options: ReadOptions) -> Result<PlayedGame, Dropped> {
        let read = match self.line {
            None => boardspace::read(self.text, options),
            Some(_) => games::read(self.text, options),
        };
        read.map_err(|error| Dropped { place: self.place.to_owned(), line: self.line, reason: error.to_string() })
    }
}
