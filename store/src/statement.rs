//! What all statements that change something share.

use rusqlite::Connection;

use super::StoreError;

/// The time of the statement, RFC 3339 in UTC.
pub(super) const NOW: &str = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

/// Runs a statement that is prepared once, and returns the number of rows it changed.
pub(super) fn execute(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<usize, StoreError> {
    Ok(connection.prepare_cached(sql)?.execute(values)?)
}
