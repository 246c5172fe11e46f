//! Keeps the write-ahead log short: SQLite begins it anew only when no reader is in it, and never shortens it by itself.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use tracing::{debug, warn};

use super::open_files::OpenFiles;

/// Length in bytes above which the log is shortened.
const LOG_BYTES_MAX: u64 = 32 << 20;
/// Time between two attempts while a reader keeps the log.
const ATTEMPT_INTERVAL: Duration = Duration::from_secs(10);
/// Time between two warnings.
const WARNING_INTERVAL: Duration = Duration::from_secs(600);
/// How long an attempt waits for readers, while nothing is written.
const READER_WAIT: Duration = Duration::from_millis(50);

/// Keeps the log of one database short.
#[derive(Debug, Default)]
pub(super) struct LogBound {
    tried_at: Option<Instant>,
    warned_at: Option<Instant>,
}

impl LogBound {
    /// Shortens the log if it is too long; says so now and then if a reader does not let it.
    pub(super) fn keep(&mut self, connection: &Connection, files: &OpenFiles, now: Instant) {
        let is_recent =
            |at: Option<Instant>, interval| at.is_some_and(|at| now.saturating_duration_since(at) < interval);
        if is_recent(self.tried_at, ATTEMPT_INTERVAL) || files.log_bytes() <= LOG_BYTES_MAX {
            return;
        }
        self.tried_at = Some(now);
        self.truncate(connection);
        let bytes = files.log_bytes();
        if bytes > LOG_BYTES_MAX && !is_recent(self.warned_at, WARNING_INTERVAL) {
            self.warned_at = Some(now);
            warn!(
                mib = bytes >> 20,
                "the write-ahead log keeps growing: a reader has held the database open for a long time"
            );
        }
    }

    /// Brings all of the log into the database and shortens it to nothing, unless a reader is in it.
    pub(super) fn truncate(&self, connection: &Connection) {
        let wait = |wait| connection.busy_timeout(wait);
        let truncated = wait(READER_WAIT)
            .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)));
        let restored = wait(super::schema::BUSY_WAIT);
        if let Err(error) = truncated.and(restored.map(|()| 0)) {
            debug!(%error, "the write-ahead log was not shortened");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_a_reader_kept_is_shortened_once_it_has_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("test.db");
        let connection = Connection::open(&path).expect("a database");
        let journal = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x BLOB)";
        connection.execute_batch(journal).expect("a table");
        let files = OpenFiles::of(&path).expect("they are there");
        let reader = Connection::open(&path).expect("a reader");
        reader.execute_batch("BEGIN").expect("a transaction");
        reader.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).expect("a count");
        let large = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
                     INSERT INTO t SELECT randomblob(1 << 20) FROM n";
        connection.execute_batch(large).expect("written");
        let (mut bound, now) = (LogBound::default(), Instant::now());
        bound.keep(&connection, &files, now);
        assert!(files.log_bytes() > LOG_BYTES_MAX, "a reader is in it");
        reader.execute_batch("COMMIT").expect("it leaves");
        bound.keep(&connection, &files, now);
        assert!(files.log_bytes() > LOG_BYTES_MAX, "not again so soon");
        bound.keep(&connection, &files, now + ATTEMPT_INTERVAL);
        assert_eq!(files.log_bytes(), 0);
    }
}
