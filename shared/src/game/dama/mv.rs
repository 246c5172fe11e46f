//! A move: a step, or a whole capture told by its result.

use std::fmt;

use super::square::{Direction, Square};
use super::tables::{MOVE_COUNT, STEP_COUNT, TABLES};
use crate::game::MoveNumber;

/// A step or a capture, told by start, end and the squares captured: different ways to the same position are one move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(u16);

impl Move {
    /// Number of moves there can be on any board: 98 steps and 936 captures.
    pub const COUNT: usize = MOVE_COUNT;

    /// Returns the move with this number, 0..1,034: steps first, then captures, each by start square.
    #[must_use]
    pub const fn from_index(index: u16) -> Option<Self> {
        if (index as usize) < MOVE_COUNT { Some(Self(index)) } else { None }
    }

    pub(super) const fn new(index: u16) -> Self {
        Self(index)
    }

    /// Returns the number of the move, 0..1,034.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the square that the piece leaves.
    #[must_use]
    pub fn source(self) -> Square {
        Square::wrapping(TABLES.from[self.index()])
    }

    /// Returns the square that the piece comes to; after a circular capture the one that it left.
    #[must_use]
    pub fn target(self) -> Square {
        Square::wrapping(TABLES.to[self.index()])
    }

    /// Returns the squares captured, bit s - 1 for square s.
    #[must_use]
    pub fn captured(self) -> u32 {
        TABLES.captured[self.index()]
    }

    /// Returns whether pieces are taken.
    #[must_use]
    pub const fn is_capture(self) -> bool {
        self.index() >= STEP_COUNT
    }

    /// Returns the direction of the step or of the first jump; of several ways to jump the first in a fixed order.
    #[must_use]
    pub fn first_direction(self) -> Direction {
        Direction::ALL[usize::from(TABLES.first_direction[self.index()] & 3)]
    }

    /// Returns what the move is called once the board is turned by 180 degrees.
    #[must_use]
    pub fn turned(self) -> Self {
        Self(TABLES.turned[self.index()])
    }
}

impl MoveNumber for Move {
    #[inline]
    fn number(self) -> u16 {
        self.0
    }

    #[inline]
    fn of_number(number: u16) -> Self {
        Self(number % MOVE_COUNT as u16)
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_capture() { 'x' } else { '-' };
        write!(f, "{}{sign}{}", self.source(), self.target())?;
        if self.captured().count_ones() > 1 {
            f.debug_list().entries(Square::of_set(self.captured())).finish()?;
        }
        Ok(())
    }
}
