//! The numbers of moves, on a board turned so that the side to move plays up.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::game::Side;
use crate::game::dama::{Board, Direction, Move, Square};

/// How moves are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyCoding {
    /// One number for each of the 98 steps and 936 captures (start, end, pieces taken).
    #[default]
    Lossless,
    /// Cell times four plus the direction of the step or first jump: captures that begin alike share a number.
    From4,
}

impl fmt::Display for PolicyCoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lossless => "lossless",
            Self::From4 => "from4",
        })
    }
}

impl PolicyCoding {
    /// Returns how many numbers there are.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Lossless => Move::COUNT,
            Self::From4 => 64 * 4,
        }
    }

    /// Returns the number of a move of the side that plays up.
    pub(super) fn index(self, mv: Move) -> u16 {
        match self {
            Self::Lossless => mv.index() as u16,
            Self::From4 => super::cell(mv.source()) * 4 + mv.first_direction() as u16,
        }
    }

    /// Returns start and end of the moves with this number; the end of the first jump if there are several.
    /// `None` if there is no piece that could move so.
    pub(super) fn ends(self, board: &Board, policy_index: u16) -> Option<(Square, Square)> {
        let (mine, theirs) = (board.pieces(Side::White), board.pieces(Side::Black));
        let (source, target, captured) = match self {
            Self::Lossless => {
                let mv = Move::from_index(policy_index)?;
                (mv.source(), mv.target(), mv.captured())
            }
            Self::From4 => {
                let (cell, direction) = ((policy_index / 4) as u8, Direction::ALL[usize::from(policy_index % 4)]);
                let source = Square::at(cell / 8, cell % 8).filter(|_| policy_index < 64 * 4)?;
                let next = source.neighbour(direction)?;
                let is_jump = theirs & next.bit() != 0;
                (source, if is_jump { next.neighbour(direction)? } else { next }, 0)
            }
        };
        (mine & source.bit() != 0 && captured & !theirs == 0).then_some((source, target))
    }
}
