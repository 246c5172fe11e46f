//! Games of Hive as boardspace.net writes them: a game tree that looks like SGF, with the commands of its own client.
//!
//! The dialect and its oddities are described in `docs/game-records.md`. Cells are trusted, the references beside them are
//! comments; nothing counts until its `done`. Only the first game tree of a text is read.

mod header;
mod names;
mod table;
mod tree;

use super::played::Replay;
use super::{PlayedGame, ReadError, ReadOptions};
use header::Header;
use table::Table;

/// Reads the first game of a text.
///
/// # Errors
/// [`ReadError`] if the text is not a game tree of a known variant, a command is unknown, or a move is not legal.
/// Never panics.
pub fn read(text: &str, options: ReadOptions) -> Result<PlayedGame, ReadError> {
    let nodes = tree::first_tree(text)?;
    let header = Header::read(nodes.first().map_or(&[], Vec::as_slice))?;
    let mut table = Table::new(Replay::new(header.game_type, options));
    for (node, properties) in (0..).zip(&nodes).skip(1) {
        for property in properties {
            table.execute(node, property)?;
        }
    }
    Ok(table.finish(header.stated_outcome()))
}
