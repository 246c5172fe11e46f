//! Italian draughts, drawn: eight rows of squares, the dark ones with their numbers.

use shared::game::Side;
use shared::game::dama::{Move, Position, Square};

use super::View;
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

/// Returns the board. ○ ● are men, ◎ ◉ kings.
#[must_use]
pub fn draw_dama(position: &Position, view: View<Move>) -> String {
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
