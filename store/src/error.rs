//! Why the store could not do what was asked.

use std::path::PathBuf;
use std::sync::Arc;

use super::columns::UnknownValue;

/// Why the store could not do what was asked. Nothing is changed when one is returned.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Another process has the run directory open.
    #[error("run directory {} is in use by another learner", path.display())]
    Locked {
        /// The run directory.
        path: PathBuf,
    },
    /// The database was written by a later version of this program.
    #[error("the store has schema version {found}, this program knows up to {known}: use a newer program")]
    NewerSchema {
        /// Version found in the database.
        found: u32,
        /// Newest version this program knows.
        known: u32,
    },
    /// The run directory holds a run of another game.
    #[error("the run plays {stored}, not {given}: use another run directory")]
    OtherGame {
        /// Game specification in the store.
        stored: String,
        /// Game specification asked for.
        given: String,
    },
    /// A change contradicts what is stored. Trying again is of no use.
    #[error("refused: {reason}")]
    Refused {
        /// What contradicts what.
        reason: String,
    },
    /// A row cannot be read as what it should be.
    #[error("damaged store: {what}")]
    Damaged {
        /// The row and what is wrong with it.
        what: String,
    },
    /// A row holds a value that this version does not know; a later version may.
    #[error("the store holds the {what} {found:?}, which this version does not know")]
    UnknownValue {
        /// What the value stands for.
        what: &'static str,
        /// The value.
        found: String,
    },
    /// The run plays a game that this version does not know; a later version may.
    #[error("the store names a game that is not known: use a newer program")]
    UnknownGame(#[source] Arc<serde_json::Error>),
    /// The database failed: disk full, input or output error. Trying again later may help.
    #[error("database: {0}")]
    Database(Arc<rusqlite::Error>),
    /// A file beside the database failed.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system reported.
        cause: Arc<std::io::Error>,
    },
    /// A file of the database is not at its path any more: what would be written is lost with the process. Trying again
    /// helps once it is back.
    #[error("{} was deleted or replaced while it is in use, so nothing is acknowledged: put it back, or end the learner", path.display())]
    FileGone {
        /// The file.
        path: PathBuf,
    },
    /// The writer has ended, since the store was dropped.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Returns whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Database(_) | Self::Io { .. } | Self::FileGone { .. })
    }

    /// Makes the error of a file operation.
    pub(super) fn io(path: impl Into<PathBuf>, cause: std::io::Error) -> Self {
        Self::Io { path: path.into(), cause: Arc::new(cause) }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(code, ref message)
                if code.code == rusqlite::ErrorCode::ConstraintViolation =>
            {
                Self::Refused { reason: message.clone().unwrap_or_else(|| code.to_string()) }
            }
            rusqlite::Error::FromSqlConversionFailure(column, kind, source) => {
                match source.downcast::<UnknownValue>() {
                    Ok(unknown) => Self::UnknownValue { what: unknown.what, found: unknown.found },
                    Err(source) => {
                        Self::Database(Arc::new(rusqlite::Error::FromSqlConversionFailure(column, kind, source)))
                    }
                }
            }
            error => Self::Database(Arc::new(error)),
        }
    }
}
