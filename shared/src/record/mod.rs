//! A game as played, and the policy and value targets made from it.
//!
//! Records are moves as people write them, so they outlive every change of the encoding; nothing of a record counts
//! before it was replayed through the rules ([`replay`]). How a record lies on disk: `docs/record-format.md`.

pub mod batch;
mod course;
mod cut_off_target;
mod policy_target;
mod replay;
mod searched;
mod value_target;

use crate::game::Side;
use crate::ids::NetworkId;

pub use course::GameCourse;
pub use cut_off_target::CutOffTarget;
pub use policy_target::{PolicyTarget, PolicyTargetError};
pub use replay::{ReplayError, ReplayState, ReplayedGame, Sample, replay};
pub use searched::searched_ply;
pub use value_target::{ValueTarget, ValueTargetRule};

/// One ply as played: the move, and what the search found if there was one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlyRecord {
    /// The move as people write it.
    pub move_text: String,
    /// Weights of the root's moves; `None` for plies that teach nothing, such as those of the opening.
    pub policy_target: Option<PolicyTarget>,
    /// Value of the root after the search, from the side to move, -1..=1.
    pub root_value: f32,
    /// Simulations of the search.
    pub simulation_count: u32,
    /// The network that evaluated the leaves; `None` if there was no search, or no network in it.
    pub network_id: Option<NetworkId>,
}

impl PlyRecord {
    /// Returns a ply that was given and not searched, as those of an opening are.
    #[must_use]
    pub fn unsearched(move_text: impl Into<String>) -> Self {
        Self { move_text: move_text.into(), ..Self::default() }
    }
}

/// A whole game.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GameRecord {
    /// The position that the game began from, as people write it; `None`: the initial one.
    pub start: Option<String>,
    /// How many of `plies` were given before the players began.
    pub opening_ply_count: u32,
    /// The plies, first to last, the opening included.
    pub plies: Vec<PlyRecord>,
    /// The side that resigned after the last ply; `None`: the game ended by the rules, or goes on.
    pub resigned_by: Option<Side>,
}
