//! What playing in a terminal must know of a game beside the rules.

use std::path::Path;

use arena::matches::MatchGame;
use notation::board::View;
use runtime::replaced_file::FileKind;
use shared::game::{MoveError, Outcome};

/// A game that can be drawn, and read as people type it.
pub trait BoardGame: MatchGame {
    /// How a move is written, in one line.
    const MOVES_ARE: &'static str;

    /// Returns the board as it is seen.
    fn draw(&self, position: &Self::Position, view: View<Self::Move>) -> String;
    /// Reads a legal move, with more patience than the protocols have.
    ///
    /// # Errors
    /// [`MoveError`] if it is not one.
    fn read(&self, position: &Self::Position, text: &str) -> Result<Self::Move, MoveError>;
    /// Returns what a file of this name is that holds a saved game.
    fn saved_file(file: &Path) -> FileKind;
    /// Returns how many games stand in the text of a file of this name that begins with one.
    fn saved_count(file: &Path, text: &str) -> usize;
    /// Returns the text of a file of this game, in the format that its name asks for.
    fn save(&self, file: &Path, game: &GameToSave<'_, Self>) -> String;
}

/// A game as far as it was played.
pub struct GameToSave<'a, G: MatchGame> {
    /// Where it began.
    pub start: &'a G::Position,
    /// The moves since.
    pub moves: &'a [G::Move],
    /// Who played White and Black.
    pub names: [&'a str; 2],
    /// The result: by the rules, or as the players agreed.
    pub outcome: Option<Outcome>,
}
