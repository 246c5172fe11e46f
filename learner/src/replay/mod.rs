//! What the training of a run learns from: the replay buffer, filled from the store at start, and the human games that
//! a share of each batch comes from.
//!
//! The buffer, the samplers and the readers of games themselves are the crate `samples`.

mod human_share;
mod rebuild;

pub use human_share::{HumanShareError, RunHumanGames, read_human_games};
pub use rebuild::{RebuildReport, rebuild};
