//! Endgame tables of a folder, for players that search by them.

use std::path::Path;
use std::sync::Arc;

use shared::game::Game;
use shared::game::dama::Dama;
use shared::search::SharedOracle;
use tables::{TableOracle, folder};

/// Tables in memory, as searches ask them.
pub struct OpenTables<G: Game> {
    /// What searches ask.
    pub oracle: SharedOracle<G>,
    /// Every position with at most so many pieces is known.
    pub piece_count: u8,
}

/// Why there are no tables.
#[derive(Debug, thiserror::Error)]
pub enum EndgameTablesError {
    /// There are none of this game.
    #[error("there are endgame tables of draughts alone, none of {0}")]
    Game(&'static str),
    /// They cannot be read.
    #[error(transparent)]
    Folder(#[from] folder::FolderError),
}

/// Reads the tables of a folder.
///
/// # Errors
/// [`EndgameTablesError::Folder`] naming the folder or file that is wrong.
pub fn open_tables(folder: &Path) -> Result<OpenTables<Dama>, EndgameTablesError> {
    let tables = folder::open(folder)?;
    let piece_count = tables.piece_count();
    Ok(OpenTables { oracle: Arc::new(TableOracle::new(tables)), piece_count })
}
