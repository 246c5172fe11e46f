//! What a run plays, as its row says.

use std::sync::Arc;

use shared::catalog::GameSpec;

use super::error::StoreError;
use super::rows::RunRow;

impl RunRow {
    /// Returns what the run plays.
    ///
    /// # Errors
    /// [`StoreError::UnknownGame`].
    pub fn game_spec(&self) -> Result<GameSpec, StoreError> {
        serde_json::from_str(&self.game).map_err(|error| StoreError::UnknownGame(Arc::new(error)))
    }
}
