//! What the solver knows for certain about a position.

use crate::game::{Outcome, Side, Value};

/// What is known for certain, seen from the side to move. The order is that of preference among what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Proof {
    /// Nothing is known.
    Unknown,
    /// Every move loses, or the game is lost already.
    Loss,
    /// Every move is proven, and the best one draws, or the game is drawn already.
    Draw,
    /// A move wins.
    Win,
}

impl Proof {
    /// Returns what a finished game proves, seen from `side`.
    #[must_use]
    pub fn of_outcome(outcome: Outcome, side: Side) -> Self {
        match outcome {
            Outcome::Draw => Self::Draw,
            Outcome::Win(winner) if winner == side => Self::Win,
            Outcome::Win(_) => Self::Loss,
        }
    }

    /// Returns the exact value, if there is one.
    #[must_use]
    #[inline]
    pub fn value(self) -> Option<Value> {
        match self {
            Self::Unknown => None,
            Self::Loss => Some(Value::LOSS),
            Self::Draw => Some(Value::DRAW),
            Self::Win => Some(Value::WIN),
        }
    }

    /// Returns the same knowledge as the opponent sees it.
    #[must_use]
    #[inline]
    pub fn flipped(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Win => Self::Loss,
            same => same,
        }
    }
}
