//! Positions as text, as in PDN: `W:W21,K7,30:BK3,12,14` is side to move, White's squares, Black's, `K` before kings.

use super::text::read_square;
use super::{Board, BoardError, Position, Square};
use crate::game::Side;

/// Why a text is not a position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FenError {
    /// The parts are not side to move, White's pieces and Black's pieces.
    #[error("a position is written like W:W21,K7,30:BK3,12,14")]
    Parts,
    /// A part of a list is not a square.
    #[error("{0:?} is not a square")]
    Square(String),
    /// A square is named twice.
    #[error("square {0} is named twice")]
    Twice(Square),
    /// The pieces cannot stand so.
    #[error(transparent)]
    Board(#[from] BoardError),
}

/// Returns the text of pieces and side to move.
#[must_use]
pub fn write(board: &Board, side_to_move: Side) -> String {
    let mut text = letter(side_to_move).to_string();
    for side in [Side::White, Side::Black] {
        text.push(':');
        text.push(letter(side));
        for (index, square) in Square::of_set(board.pieces(side)).enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let king = if board.kings(side) & square.bit() != 0 { "K" } else { "" };
            text += &format!("{comma}{king}{square}");
        }
    }
    text
}

const fn letter(side: Side) -> char {
    match side {
        Side::White => 'W',
        Side::Black => 'B',
    }
}

/// Reads a position. Ranges (`1-12`), spaces, Black's pieces first, a full stop at the end, the tag around it
/// (`[FEN "..."]`), clocks behind it (`:H0:F1`) and the colour before each square (`WW21,WK30`) are taken too.
///
/// # Errors
/// [`FenError`] saying what is wrong. Never panics.
pub fn read(text: &str) -> Result<Position, FenError> {
    let text = without_tag(text.trim());
    let mut parts = text.strip_suffix('.').unwrap_or(text).split(':').map(str::trim).filter(|part| !is_clock(part));
    let (Some(side), Some(first), Some(second), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(FenError::Parts);
    };
    let side = read_side(side).ok_or(FenError::Parts)?;
    let (first, second) = (Pieces::read(first)?, Pieces::read(second)?);
    let (white, black) = match (first.side, second.side) {
        (Side::White, Side::Black) => (first, second),
        (Side::Black, Side::White) => (second, first),
        _ => return Err(FenError::Parts),
    };
    let board = Board::set_up(white.squares, black.squares, white.kings | black.kings)?;
    Ok(Position::new(board, side, 0))
}

/// Returns what stands in `[FEN "..."]`, or the text itself.
fn without_tag(text: &str) -> &str {
    let in_tag = || text.strip_prefix("[FEN")?.strip_suffix(']')?.trim().strip_prefix('"')?.strip_suffix('"');
    in_tag().map_or(text, str::trim)
}

/// Returns whether a part of a text is a clock: quiet plies (`H0`) or the number of the move (`F1`).
fn is_clock(part: &str) -> bool {
    let number = part.strip_prefix(['H', 'F']);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn read_side(text: &str) -> Option<Side> {
    match text {
        "W" | "w" => Some(Side::White),
        "B" | "b" => Some(Side::Black),
        _ => None,
    }
}

/// The pieces of one side.
struct Pieces {
    side: Side,
    squares: u32,
    kings: u32,
}

impl Pieces {
    fn read(text: &str) -> Result<Self, FenError> {
        let (side, list) = text.split_at_checked(1).ok_or(FenError::Parts)?;
        let mut pieces = Self { side: read_side(side).ok_or(FenError::Parts)?, squares: 0, kings: 0 };
        if list.trim().is_empty() {
            return Ok(pieces);
        }
        for item in list.split(',').map(str::trim) {
            pieces.add(item)?;
        }
        Ok(pieces)
    }

    fn add(&mut self, item: &str) -> Result<(), FenError> {
        let error = || FenError::Square(item.chars().take(16).collect());
        let colour: &[char] = if self.side == Side::White { &['W', 'w'] } else { &['B', 'b'] };
        let item = item.strip_prefix(colour).unwrap_or(item);
        let (is_king, squares) = match item.strip_prefix(['K', 'k']) {
            Some(squares) => (true, squares),
            None => (false, item),
        };
        let (first, last) = squares.split_once('-').unwrap_or((squares, squares));
        let (first, last) = (read_square(first).ok_or_else(error)?, read_square(last).ok_or_else(error)?);
        let set = Square::of_set(u32::MAX).filter(|square| (first..=last).contains(square));
        for square in set {
            if self.squares & square.bit() != 0 {
                return Err(FenError::Twice(square));
            }
            self.squares |= square.bit();
            self.kings |= if is_king { square.bit() } else { 0 };
        }
        if first > last { Err(error()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read(text).expect_err("wrong").to_string()
    }

    #[test]
    fn positions_are_read_and_written() {
        let sorted = ("W:W21,K7,30:BK3,12,14", "W:WK7,21,30:BK3,12,14");
        for (text, written) in [sorted, ("B:W21:B", "B:W21:B"), ("W:W:B18", "W:W:B18")] {
            let position = read(text).expect("a position");
            assert_eq!(write(position.board(), position.side_to_move()), written);
        }
        for text in [
            "[FEN \"W:W21,K7,30:BK3,12,14\"]",
            " [FEN\t\" W:W21,K7,30:BK3,12,14. \" ] ",
            "W:W21,K7,30:BK3,12,14:H0:F1",
            "W:BBK3,B12,B14:WW21,WK7,w30:H12:F30.",
        ] {
            let position = read(text).expect(text);
            assert_eq!(write(position.board(), position.side_to_move()), "W:WK7,21,30:BK3,12,14", "{text}");
        }
        let start = read("w : b1-12 : W21-32 .").expect("a position");
        assert_eq!((*start.board(), start.side_to_move()), (Board::START, Side::White));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for text in ["", "W", "W:W1", "W:W21:W22", "W:W21:B3:B4", "X:W21:B3", "W:21:3", "W::"] {
            assert_eq!(error(text), FenError::Parts.to_string(), "{text}");
        }
        for (text, item) in
            [("W:W33:B", "33"), ("W:W21,,22:B", ""), ("W:WQ3:B", "Q3"), ("W:WB3:B", "B3"), ("W:W9-5:B", "9-5")]
        {
            assert_eq!(error(text), format!("{item:?} is not a square"));
        }
        assert_eq!(error("W:W21,K21:B"), "square 21 is named twice");
        assert_eq!(error("W:W:B"), "no piece on the board");
        assert_eq!(error("W:W21:B21"), "two pieces on square 21");
        assert_eq!(error("W:W21:B30"), "a man on square 30, where it would be a king");
    }
}
