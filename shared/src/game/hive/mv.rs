//! A move: which piece comes to which cell.

use std::fmt;

use super::{Cell, Piece};
use crate::game::MoveNumber;

/// A placement, a walk or a throw, told by its result, or a pass.
///
/// A walk and a throw that bring the same piece to the same cell are one move.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    target: Cell,
    piece: u8,
}

const PASS: u8 = Piece::COUNT as u8;
const CELL_BITS: u32 = Cell::COUNT.ilog2();

impl Move {
    /// Nothing is moved.
    pub const PASS: Self = Self { piece: PASS, target: Cell::ORIGIN };

    /// Makes the move that brings `piece` to `target`.
    #[must_use]
    pub const fn new(piece: Piece, target: Cell) -> Self {
        Self { piece: piece.index() as u8, target }
    }

    /// Returns the piece that is placed or moved, `None` for a pass.
    #[must_use]
    pub const fn piece(self) -> Option<Piece> {
        Piece::from_index(self.piece)
    }

    /// Returns the cell that the piece comes to (the middle of the board for a pass).
    #[must_use]
    pub const fn target(self) -> Cell {
        self.target
    }

    /// Returns whether nothing is moved.
    #[must_use]
    pub const fn is_pass(self) -> bool {
        self.piece == PASS
    }
}

impl MoveNumber for Move {
    #[inline]
    fn number(self) -> u16 {
        u16::from(self.piece) << CELL_BITS | self.target.index() as u16
    }

    #[inline]
    fn of_number(number: u16) -> Self {
        let target = Cell::from_index(number & ((1 << CELL_BITS) - 1)).unwrap_or(Cell::ORIGIN);
        Piece::from_index((number >> CELL_BITS) as u8).map_or(Self::PASS, |piece| Self::new(piece, target))
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.piece() {
            Some(piece) => write!(f, "{piece}@({}, {})", self.target.q(), self.target.r()),
            None => f.write_str("pass"),
        }
    }
}
