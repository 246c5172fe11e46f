//! The pieces on the board.

use super::moves::{Results, find_moves};
use super::mv::Move;
use super::square::Square;
use super::tables::TABLES;
use crate::game::Side;

/// The pieces alone: who stands where, and who is a king.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Board {
    pub(super) pieces: [u32; 2],
    pub(super) kings: u32,
}

/// Why pieces cannot stand so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// Two pieces on one square.
    #[error("two pieces on square {0}")]
    Twice(Square),
    /// A king that is nobody's.
    #[error("a king without a piece on square {0}")]
    NoPiece(Square),
    /// A man where men become kings.
    #[error("a man on square {0}, where it would be a king")]
    Unpromoted(Square),
    /// Nobody has a piece.
    #[error("no piece on the board")]
    Empty,
    /// More pieces than a side starts with.
    #[error("{0} pieces of one side, at most {max} are possible", max = Board::PIECE_COUNT_MAX)]
    TooMany(u32),
}

/// The rows where men become kings: White's, Black's.
pub(super) const LAST_ROWS: [u32; 2] = [0x0000_000f, 0xf000_0000];

impl Board {
    /// Pieces of each side at the start, and at most.
    pub const PIECE_COUNT_MAX: u32 = 12;
    /// The board at the start of a game.
    pub const START: Self = Self { pieces: [0xfff0_0000, 0x0000_0fff], kings: 0 };

    /// Makes a board from sets of squares: White's pieces, Black's pieces, and which of them are kings.
    ///
    /// # Errors
    /// [`BoardError`] naming the first square that is impossible.
    pub fn new(white: u32, black: u32, kings: u32) -> Result<Self, BoardError> {
        let first = |set: u32| Square::of_set(set).next();
        if let Some(square) = first(white & black) {
            return Err(BoardError::Twice(square));
        }
        if let Some(square) = first(kings & !(white | black)) {
            return Err(BoardError::NoPiece(square));
        }
        let men_at_the_end = (white & LAST_ROWS[0] | black & LAST_ROWS[1]) & !kings;
        if let Some(square) = first(men_at_the_end) {
            return Err(BoardError::Unpromoted(square));
        }
        let count = white.count_ones().max(black.count_ones());
        if count > Self::PIECE_COUNT_MAX {
            return Err(BoardError::TooMany(count));
        }
        Ok(Self { pieces: [white, black], kings })
    }

    /// Makes the board of a position that somebody has set up: of a finished game too, one side has a piece.
    ///
    /// # Errors
    /// [`BoardError::Empty`], and as [`Board::new`].
    pub fn set_up(white: u32, black: u32, kings: u32) -> Result<Self, BoardError> {
        if white | black | kings == 0 { Err(BoardError::Empty) } else { Self::new(white, black, kings) }
    }

    /// Returns the squares where a side has pieces, bit s - 1 for square s.
    #[must_use]
    pub const fn pieces(&self, side: Side) -> u32 {
        self.pieces[side.index()]
    }

    /// Returns the squares where a side has men.
    #[must_use]
    pub const fn men(&self, side: Side) -> u32 {
        self.pieces(side) & !self.kings
    }

    /// Returns the squares where a side has kings.
    #[must_use]
    pub const fn kings(&self, side: Side) -> u32 {
        self.pieces(side) & self.kings
    }

    /// Returns the squares without a piece.
    #[must_use]
    pub const fn empty(&self) -> u32 {
        !(self.pieces[0] | self.pieces[1])
    }

    /// Returns the board turned by 180 degrees with the colours changed: the same to the other side.
    #[must_use]
    pub const fn turned(&self) -> Self {
        let [white, black] = self.pieces;
        Self { pieces: [black.reverse_bits(), white.reverse_bits()], kings: self.kings.reverse_bits() }
    }

    /// Appends every move of `side`, in an order that never changes, whatever draws the rules count.
    #[inline]
    pub fn moves(&self, side: Side, moves: &mut Vec<Move>) {
        find_moves(self, side, &mut Results::new(moves));
    }

    /// Makes a move of `side`, which must be possible. Returns whether it can never be undone: a capture, or a man's.
    #[inline]
    pub fn play(&mut self, side: Side, mv: Move) -> bool {
        let (from, to) = (1 << TABLES.from[mv.index()], 1 << TABLES.to[mv.index()]);
        let captured = TABLES.captured[mv.index()];
        let is_king = self.kings & from != 0;
        let becomes_king = to & LAST_ROWS[side.index()] != 0;
        // A king that goes round in a circle ends where it began.
        let own = &mut self.pieces[side.index()];
        *own = *own & !from | to;
        self.pieces[side.opponent().index()] &= !captured;
        self.kings = self.kings & !(from | captured) | if is_king || becomes_king { to } else { 0 };
        captured != 0 || !is_king
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_boards_are_named() {
        let bit = |number| Square::new(number).expect("on the board").bit();
        let error = |white, black, kings| Board::set_up(white, black, kings).map_err(|error| error.to_string());
        assert_eq!(error(bit(7), bit(7), 0), Err("two pieces on square 7".to_owned()));
        assert_eq!(error(bit(7), bit(8), bit(9)), Err("a king without a piece on square 9".to_owned()));
        assert_eq!(error(bit(4), 0, 0), Err("a man on square 4, where it would be a king".to_owned()));
        assert_eq!(error(0, bit(29), 0), Err("a man on square 29, where it would be a king".to_owned()));
        assert_eq!(error(0, 0, 0), Err("no piece on the board".to_owned()));
        assert_eq!(error(0x1fff << 16, 0, 0), Err("13 pieces of one side, at most 12 are possible".to_owned()));
        assert!(Board::new(0, 0, 0).is_ok(), "what a network sees before the first position");
        assert!(Board::new(bit(4), bit(29), bit(4) | bit(29)).is_ok());
        assert_eq!(Board::new(0xfff0_0000, 0xfff, 0), Ok(Board::START));
        assert_eq!(Board::START.turned(), Board::START);
    }
}
