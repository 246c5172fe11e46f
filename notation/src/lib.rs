//! How people and other programs write games: files and lines of Hive and Italian draughts, and the lines by which programs
//! talk about them.
//!
//! The text of one move and FEN lie beside the rules, in `shared`. Nothing here reads a file.
//!
//! The readers of whole games, [`games`], [`pgn`] and [`boardspace`], give [`PlayedGame`]s: moves that were checked against
//! the rules. Files, folders and archives are the caller's. [`board`] draws positions.

pub mod board;
pub mod boardspace;
pub mod dama;
mod decode;
pub mod games;
pub mod move_time;
pub mod pgn;
mod played;
mod replay_rules;
mod tags;
pub mod uhp;

pub use decode::decode;
pub use played::{Ending, PLY_COUNT_MAX, PlayedGame, ReadError, ReadOptions, Remark};
pub use replay_rules::{ReplayRules, RuleChoice, RuleChoiceError};
