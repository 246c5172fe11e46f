//! Whether the database itself is whole.

use super::{Reader, StoreError, version};

impl Reader {
    /// Returns what SQLite finds damaged, one line each; none if all pages, indices and references are whole.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database cannot be read at all.
    pub fn damages(&self) -> Result<Vec<String>, StoreError> {
        let mut damages = self.list("PRAGMA integrity_check(20)", [], |row| row.get::<_, String>(0))?;
        damages.retain(|line| line != "ok");
        let loose = self.list("PRAGMA foreign_key_check", [], |row| {
            Ok(format!(
                "{} refers to a row of {} that is not there",
                row.get::<_, String>(0)?,
                row.get::<_, String>(2)?
            ))
        })?;
        damages.extend(loose.into_iter().take(20));
        Ok(damages)
    }

    /// Returns the version of the tables.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn schema_version(&self) -> Result<u32, StoreError> {
        version::user_version(&self.connection)
    }
}
