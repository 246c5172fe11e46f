//! Games of a fixed network against itself, without a run: what data sets are made of.
//!
//! `game` plays one, `runner` many at once. What is done with them is the caller's.

mod game;
mod runner;

use shared::record::ReplayError;
use shared::search::{EvaluationError, SearchError};

pub use runner::{SelfPlaySettings, play_games};

/// Why games of a network against itself cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SelfPlayError {
    /// The search cannot begin.
    #[error("search")]
    Search(#[from] SearchError),
    /// Leaves were not evaluated.
    #[error("network")]
    Evaluation(#[from] EvaluationError),
    /// A game does not agree with the rules.
    #[error("record a game")]
    Record(#[from] ReplayError),
}
