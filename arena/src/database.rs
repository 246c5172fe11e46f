//! SQLite files in the folder of a run: opened to write, with the tables of a version, or only to read, also where nobody can
//! write.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

/// How long a statement waits while another program writes.
const BUSY_WAIT: Duration = Duration::from_secs(30);

/// Opens a database to write, and makes the file if it is not there.
///
/// # Errors
/// [`rusqlite::Error`] if it cannot be opened.
pub(crate) fn open_to_write(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(BUSY_WAIT)?;
    Ok(connection)
}

/// Returns the version of the tables, 0 if there are none.
///
/// # Errors
/// [`rusqlite::Error`] if the database cannot be read.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Makes the tables of `version` by `make`, all or none, unless there are tables. Returns the version that is there then.
///
/// # Errors
/// [`rusqlite::Error`] if the database cannot be written.
pub(crate) fn make_tables(
    connection: &mut Connection,
    version: u32,
    make: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<u32> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = self::version(&transaction)?;
    if found != 0 {
        return Ok(found);
    }
    make(&transaction)?;
    transaction.pragma_update(None, "user_version", version)?;
    transaction.commit()?;
    Ok(version)
}

/// Opens a database that exists; the folder may be read-only.
///
/// # Errors
/// [`rusqlite::Error`] if it cannot be read.
pub(crate) fn open_to_read(file: &Path) -> rusqlite::Result<Connection> {
    let open = |query: &str| {
        let uri = format!("file:{}{query}", percent_encoded(file));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(uri, flags)?;
        connection.busy_timeout(BUSY_WAIT)?;
        // Opening reads nothing yet.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    };
    // A database with a write-ahead log wants to write beside itself. Where nobody can, nobody changes it either.
    open("").or_else(|error| open("?immutable=1").map_err(|_| error))
}

/// Returns a path as it stands in a URI.
fn percent_encoded(file: &Path) -> String {
    let bytes = file.as_os_str().as_encoded_bytes();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let encoded = |byte: &u8| if is_plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    bytes.iter().map(encoded).collect()
}
