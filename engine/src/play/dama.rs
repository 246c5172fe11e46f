//! Italian draughts in a terminal: eight rows of squares, the dark ones with their numbers.

use std::path::Path;

use notation::dama::pdn::{self, PdnGame};
use shared::game::dama::text::parse_move;
use shared::game::dama::{Dama, Move, Position, Square};
use shared::game::{MoveError, Side};

use super::board_game::{BoardGame, GameToSave, View};
use super::canvas::{Canvas, Ink};

/// Letters of a square with its left edge.
const SQUARE_WIDTH: usize = 6;
/// Rows and columns.
const SIDE: u8 = 8;
/// Colours: edges, dark squares, those of the last move, numbers, pieces of White and Black.
const EDGE: u8 = 240;
const DARK: u8 = 94;
const MOVED: u8 = 100;
const NUMBER: u8 = 180;
const PIECES: [u8; 2] = [231, 16];

impl BoardGame for Dama {
    const MOVES_ARE: &'static str = "A move is two squares, 22-18 or 22x15; where captures begin and end alike, all squares: 3x12x19x26. ○ ● are men, ◎ ◉ \
         kings.";

    fn draw(&self, position: &Position, view: View<Move>) -> String {
        let mut canvas = Canvas::default();
        let edge = Ink::letter(EDGE);
        for row in 0..=usize::from(SIDE) {
            let [left, middle, right] = match row {
                0 => ["┌", "┬", "┐"],
                8 => ["└", "┴", "┘"],
                _ => ["├", "┼", "┤"],
            };
            let parts = vec!["─".repeat(SQUARE_WIDTH - 1); SIDE.into()].join(middle);
            canvas.write(2 * row, 2, &format!("{left}{parts}{right}"), edge);
        }
        for row in 0..SIDE {
            for column in 0..SIDE {
                draw_square(&mut canvas, position, view, row, column);
            }
            canvas.write(usize::from(2 * row + 1), 2 + SQUARE_WIDTH * usize::from(SIDE), "│", edge);
        }
        canvas.render(view.has_colours)
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

    fn save(&self, _file: &Path, game: &GameToSave<'_, Self>) -> String {
        let [white, black] = game.names;
        let tags = [("White", white), ("Black", black)].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (start, moves) = (game.start.clone(), game.moves.to_vec());
        pdn::write(&PdnGame { tags: tags.to_vec(), start, moves, result: game.outcome })
    }
}

/// Draws a square; `row` and `column` are those of the drawing.
fn draw_square(canvas: &mut Canvas, position: &Position, view: View<Move>, row: u8, column: u8) {
    let (line, place) = (usize::from(2 * row + 1), 2 + SQUARE_WIDTH * usize::from(column));
    canvas.write(line, place, "│", Ink::letter(EDGE));
    let is_turned = view.bottom == Side::Black;
    let [seen_row, seen_column] = [row, column].map(|at| if is_turned { SIDE - 1 - at } else { at });
    let Some(square) = Square::at(seen_row, seen_column) else {
        return canvas.write(line, place + 1, "     ", Ink::default());
    };
    let is_moved = view.last.is_some_and(|mv| [mv.source(), mv.target()].contains(&square));
    let ground = Some(if is_moved { MOVED } else { DARK });
    let number = Ink { letter: Some(NUMBER), ground, ..Ink::default() };
    canvas.write(line, place + 1, &format!("{:>2}   ", square.number()), number);
    for side in [Side::White, Side::Black] {
        let board = position.board();
        if board.pieces(side) & square.bit() == 0 {
            continue;
        }
        let is_king = usize::from(board.kings(side) & square.bit() != 0);
        let letter = [["○", "◎"], ["●", "◉"]][side.index()][is_king];
        let piece = Ink { letter: Some(PIECES[side.index()]), ground, is_bold: true, ..Ink::default() };
        canvas.write(line, place + 4, letter, piece);
    }
}
