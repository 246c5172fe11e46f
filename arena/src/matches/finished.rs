//! A game of a match that is over.

use shared::game::{Game, Outcome, Side, Value};

use super::plan::PlannedGame;

/// How a game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// By the rules: one of the endings of the game.
    Rules(&'static str),
    /// The ply limit.
    PlyLimit,
    /// This side lost, for this reason.
    Forfeit(Side, String),
}

/// A game that is over.
#[derive(Debug, Clone)]
pub struct FinishedGame<G: Game> {
    /// Which one.
    pub planned: PlannedGame<G>,
    /// All moves, the opening included.
    pub moves: Vec<G::Move>,
    /// What the side to move expected at each of them, `None` from players without values.
    pub values: Vec<Option<Value>>,
    /// Who won.
    pub outcome: Outcome,
    /// Why.
    pub ending: Ending,
}

impl<G: Game> FinishedGame<G> {
    /// Returns the half points of the first player, 0 to 2.
    #[must_use]
    pub fn half_points(&self) -> usize {
        match self.outcome {
            Outcome::Draw => 1,
            Outcome::Win(side) if side == self.planned.first_side => 2,
            Outcome::Win(_) => 0,
        }
    }
}
