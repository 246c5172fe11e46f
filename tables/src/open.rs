//! The tables of a folder, as searches ask them.

use std::any::{Any, TypeId};
use std::path::Path;
use std::sync::Arc;

use shared::game::Game;
use shared::game::dama::Dama;
use shared::search::SharedOracle;

use crate::folder::{self, FolderError, MissingTable};
use crate::oracle::TableOracle;

/// Tables in memory.
pub struct OpenTables<G: Game> {
    /// What searches ask. All of them may share it.
    pub oracle: SharedOracle<G>,
    /// Every position with at most so many pieces is known.
    pub piece_count: u8,
    /// Why it is no more, if there are tables of more pieces.
    pub missing: Option<MissingTable>,
}

/// Why there are no tables.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There are none of this game.
    #[error("there are endgame tables of draughts alone")]
    Game,
    /// They cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// Reads the tables of a folder for whatever game is played.
///
/// # Errors
/// [`OpenError::Game`] for any game but draughts, whose tables are then not read; [`OpenError::Folder`] naming the folder or
/// file that is wrong.
pub fn open<G: Game>(folder: &Path) -> Result<OpenTables<G>, OpenError> {
    // Searches are written once for all games, so only here is it seen whether G is draughts.
    if TypeId::of::<G>() != TypeId::of::<Dama>() {
        return Err(OpenError::Game);
    }
    let (tables, missing) = folder::open(folder)?;
    let piece_count = tables.piece_count();
    let oracle: SharedOracle<Dama> = Arc::new(TableOracle::new(tables));
    let oracle: Box<dyn Any> = Box::new(oracle);
    let oracle = oracle.downcast().map_err(|_| OpenError::Game)?;
    Ok(OpenTables { oracle: *oracle, piece_count, missing })
}

#[cfg(test)]
mod tests {
    use shared::game::hive::Hive;

    use super::*;

    #[test]
    fn there_are_tables_of_draughts_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(open::<Hive>(folder.path()), Err(OpenError::Game)));
        assert!(matches!(open::<Dama>(folder.path()), Err(OpenError::Folder(_))), "a folder without tables");
    }
}
