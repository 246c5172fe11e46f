//! Who is to move, how a game ended, and what a position is worth to whom.

use serde::{Deserialize, Serialize};

/// One of the two players. White (or the first player) makes the first ply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The first player.
    White,
    /// The second player.
    Black,
}

impl Side {
    /// Returns the other player.
    #[must_use]
    pub const fn opponent(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }

    /// Returns 0 for White and 1 for Black.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// How a finished game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// This side won.
    Win(Side),
    /// Nobody won.
    Draw,
}

impl Outcome {
    /// Returns what the outcome is worth to `side`.
    #[must_use]
    pub fn value_for(self, side: Side) -> Value {
        match self {
            Self::Draw => Value::DRAW,
            Self::Win(winner) if winner == side => Value::WIN,
            Self::Win(_) => Value::LOSS,
        }
    }
}

/// Expected outcome for the side to move: +1 a sure win, 0 a draw, -1 a sure loss.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Value(f32);

impl Value {
    /// A sure win for the side to move.
    pub const WIN: Self = Self(1.0);
    /// A sure draw.
    pub const DRAW: Self = Self(0.0);
    /// A sure loss for the side to move.
    pub const LOSS: Self = Self(-1.0);

    /// Makes a value; what is not finite becomes 0, what is outside -1..=1 is clamped.
    #[must_use]
    #[inline]
    pub fn new(value: f32) -> Self {
        if value.is_finite() { Self(value.clamp(-1.0, 1.0)) } else { Self(0.0) }
    }

    /// Returns the number, from the view of the side to move.
    #[must_use]
    #[inline]
    pub const fn get(self) -> f32 {
        self.0
    }

    /// Returns the number as people read it, with so many decimals: what rounds to 0 has no sign.
    #[must_use]
    pub fn rounded(self, decimal_count: i32) -> f32 {
        let scale = 10_f32.powi(decimal_count);
        (self.0 * scale).round() / scale + 0.0
    }

    /// Returns the same expectation as the opponent sees it, one ply up or down the tree.
    #[must_use]
    #[inline]
    pub fn flipped(self) -> Self {
        Self(-self.0)
    }
}
