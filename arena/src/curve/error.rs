//! Why there is no curve.

use std::path::PathBuf;

use runtime::counted::counted;

use crate::matches::MatchError;
use crate::run_game::RunGameError;

/// Why there is no curve.
#[derive(Debug, thiserror::Error)]
pub enum CurveError {
    /// The folder holds no run, or one that cannot be read.
    #[error(transparent)]
    Run(#[from] RunGameError),
    /// The run has no network yet.
    #[error("{}: the run has no network yet", .0.display())]
    NoNetwork(PathBuf),
    /// The file of the curve was written by a later version of this program.
    #[error("{}: written by a later version of this program", .0.display())]
    Later(PathBuf),
    /// The database failed.
    #[error("{}: cannot {action}", file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The cause.
        #[source]
        source: rusqlite::Error,
    },
    /// A match cannot be played.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// The user stopped it.
    #[error(
        "stopped with {} still to play; those played are kept, and the same command plays the rest",
        counted(*.missing, "game", "games")
    )]
    Stopped {
        /// Games that are missing.
        missing: usize,
    },
    /// The picture cannot be drawn.
    #[error("draw the curve: {0}")]
    Plot(String),
}

impl CurveError {
    /// Returns whether the user asked for what cannot be, and must ask for something else.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Run(RunGameError::NoRun(_)) => true,
            Self::Match(error) => error.is_usage(),
            _ => false,
        }
    }
}
