//! Italian draughts in a terminal: moves as people type them, and games as they are saved.

use std::path::Path;

use arena::matches::MatchGame;
use notation::board::{self, View};
use notation::dama::pdn::{self, PdnGame};
use runtime::replaced_file::FileKind;
use shared::game::MoveError;
use shared::game::dama::text::parse_move;
use shared::game::dama::{Dama, Move, Position};

use super::board_game::{BoardGame, GameToSave};

impl BoardGame for Dama {
    const MOVES_ARE: &'static str = "A move is two squares, 22-18 or 22x15; where captures begin and end alike, all squares: 3x12x19x26. ○ ● are men, ◎ ◉ \
         kings.";

    fn draw(&self, position: &Position, view: View<Move>) -> String {
        board::draw_dama(position, view)
    }

    /// Reads a capture written as a step, and a blank between the squares.
    fn read(&self, position: &Position, text: &str) -> Result<Move, MoveError> {
        let joined = text.split_whitespace().collect::<Vec<_>>().join(if text.contains(['-', 'x']) { "" } else { "-" });
        match parse_move(self, position, &joined) {
            Err(refused @ MoveError::Illegal { .. }) => {
                parse_move(self, position, &joined.replace('-', "x")).map_err(|_| refused)
            }
            read => read,
        }
    }

    fn saved_file(_file: &Path) -> FileKind {
        Self::GAMES_FILE
    }

    fn saved_count(_file: &Path, text: &str) -> usize {
        pdn::read(text).count()
    }

    fn save(&self, _file: &Path, game: &GameToSave<'_, Self>) -> String {
        let [white, black] = game.names;
        let tags = [("White", white), ("Black", black)].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (start, moves) = (game.start.clone(), game.moves.to_vec());
        pdn::write(&PdnGame { tags: tags.to_vec(), start, moves, result: game.outcome })
    }
}
