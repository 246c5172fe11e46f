//! Hive with the Mosquito, Ladybug and Pillbug expansions.
//!
//! Rules where sources differ are settled in `docs/hive-rules.md`.

mod cell;
mod piece;
mod rules;

pub use cell::{Cell, Direction};
pub use piece::{Piece, PieceKind};
pub use rules::{GameType, GameTypeError, HiveRules};
