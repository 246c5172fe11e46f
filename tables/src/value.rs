//! What a table holds of a position, as a byte.

use std::fmt;

use shared::game::dama::Dama;

/// Longest distance that a win may have by the rules: more quiet plies in a row are a draw.
pub const DISTANCE_MAX: u8 = Dama::QUIET_PLY_LIMIT as u8;

/// The result of a position with best play, seen from the side to move, and the plies to the next capture or move of a
/// man, or to the end of the game: the winner hurries, the loser does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableValue {
    /// Neither side can win.
    Draw,
    /// The side to move wins. Plies, 1..=80.
    Win(u8),
    /// The side to move loses. Plies, 0..=80; 0 = it has no move.
    Loss(u8),
}

/// Added to the distance of a loss.
const LOSS: u8 = 128;
/// No position stands here.
pub const IMPOSSIBLE: u8 = 255;

impl TableValue {
    /// Returns the value as it stands in a table.
    #[must_use]
    pub const fn to_byte(self) -> u8 {
        match self {
            Self::Draw => 0,
            Self::Win(distance) => distance,
            Self::Loss(distance) => LOSS + distance,
        }
    }

    /// Reads a byte of a table; `None` where there is no position.
    #[must_use]
    #[inline]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Draw),
            1..=DISTANCE_MAX => Some(Self::Win(byte)),
            LOSS.. if byte - LOSS <= DISTANCE_MAX => Some(Self::Loss(byte - LOSS)),
            _ => None,
        }
    }

    /// Returns the value of the position before a move that leads to one of this value, if it is the best move there.
    /// `is_final`: the move was a capture or a man's. What is further than the rules allow is a draw.
    #[must_use]
    pub const fn before(self, is_final: bool) -> Self {
        match self {
            Self::Loss(_) if is_final => Self::Win(1),
            Self::Win(_) if is_final => Self::Loss(1),
            Self::Loss(distance) if distance < DISTANCE_MAX => Self::Win(distance + 1),
            Self::Win(distance) if distance < DISTANCE_MAX => Self::Loss(distance + 1),
            _ => Self::Draw,
        }
    }
}

impl fmt::Display for TableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Draw => f.write_str("drawn"),
            Self::Win(distance) => write!(f, "won at distance {distance}"),
            Self::Loss(distance) => write!(f, "lost at distance {distance}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_were_written_and_the_others_are_nothing() {
        let known = (0..=255).filter_map(TableValue::from_byte).collect::<Vec<_>>();
        assert_eq!(known.len(), 1 + 80 + 81);
        for value in known {
            assert_eq!(TableValue::from_byte(value.to_byte()), Some(value));
        }
        assert_eq!(TableValue::from_byte(IMPOSSIBLE), None);
    }

    #[test]
    fn a_result_that_is_too_far_is_a_draw() {
        assert_eq!(TableValue::Loss(0).before(false), TableValue::Win(1));
        assert_eq!(TableValue::Win(79).before(false), TableValue::Loss(80));
        assert_eq!(TableValue::Loss(80).before(false), TableValue::Draw);
        assert_eq!(TableValue::Loss(80).before(true), TableValue::Win(1));
        assert_eq!(TableValue::Draw.before(true), TableValue::Draw);
    }
}
