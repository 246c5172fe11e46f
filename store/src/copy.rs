//! A consistent copy of the database, made while the writer goes on.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{Reader, StoreError};

/// Pages of 4 KiB between two looks at whether to go on.
const PAGES_PER_STEP: i32 = 4096;

impl Reader {
    /// From now on everything is read as it is committed at this moment, until the reader is dropped. The writer goes on;
    /// only its log cannot be taken into the database meanwhile, and grows.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn hold_still(&self) -> Result<(), StoreError> {
        self.connection.execute_batch("BEGIN")?;
        // It is the first read that fixes what is seen.
        self.number("SELECT count(*) FROM runs").map(|_| ())
    }

    /// Copies the database, page by page, to a file that is not there yet, for as long as `go_on` says so. Returns
    /// whether the copy is whole. After [`Reader::hold_still`] it is what this reader sees.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails or the copy cannot be written.
    pub fn copy_to(&self, path: &Path, mut go_on: impl FnMut() -> bool) -> Result<bool, StoreError> {
        let mut copy = Connection::open(path)?;
        // A copy that is cut short is thrown away.
        copy.pragma_update(None, "synchronous", "OFF")?;
        copy.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
        let backup = Backup::new(&self.connection, &mut copy)?;
        while go_on() {
            // Nobody else opens the copy, and a reader waits for no lock: a step that is busy cannot stay so.
            if backup.step(PAGES_PER_STEP)? == StepResult::Done {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
