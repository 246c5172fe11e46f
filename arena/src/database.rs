//! SQLite files that are only read, also where nobody can write.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// How long a statement waits while another program writes.
const BUSY_WAIT: Duration = Duration::from_secs(30);

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
