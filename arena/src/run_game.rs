//! What the run in a folder plays, as its store says it.

use std::path::{Path, PathBuf};

use networks::{NoRunError, database_of};
use rusqlite::Connection;
use shared::catalog::GameSpec;

use crate::database::open_to_read;

/// Why it is not known what a run plays.
#[derive(Debug, thiserror::Error)]
pub enum RunGameError {
    /// The folder holds no run.
    #[error(transparent)]
    NoRun(#[from] NoRunError),
    /// The database says something that this program does not understand.
    #[error("{}: {what}", file.display())]
    Damaged {
        /// The database.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The database failed.
    #[error("{}: cannot read the run", file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// The cause.
        #[source]
        source: rusqlite::Error,
    },
}

/// Returns what the run in `dir` plays. A learner may be at work there.
///
/// # Errors
/// [`RunGameError`].
pub fn game_of_run(dir: &Path) -> Result<GameSpec, RunGameError> {
    open_run(dir).map(|(_, game)| game)
}

/// Opens the store of the run in `dir` to read it. Returns what the run plays, too.
///
/// # Errors
/// [`RunGameError`].
pub(crate) fn open_run(dir: &Path) -> Result<(Connection, GameSpec), RunGameError> {
    let file = database_of(dir)?;
    let failed = |source| RunGameError::Database { file: file.clone(), source };
    let connection = open_to_read(&file).map_err(failed)?;
    let game: String = connection.query_row("SELECT game FROM runs", [], |row| row.get(0)).map_err(failed)?;
    let game = serde_json::from_str(&game)
        .map_err(|error| RunGameError::Damaged { file: file.clone(), what: format!("game {game:?}: {error}") })?;
    Ok((connection, game))
}
