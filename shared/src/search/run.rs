//! What drives a search: one leaf after the other, evaluated at once by a function, or leaves for a batch.

use super::{LeafId, LeafSource, Request, Search};
use crate::game::{Game, Value};

/// Runs `search` until it is done. `evaluate` gets a position and its legal moves, writes a prior for each (they are
/// 0 before) and returns the value for the side to move. Ends early if leaves awaited elsewhere block the search.
pub fn run_search<G: Game>(
    search: &mut Search<G>,
    mut evaluate: impl FnMut(&G::Position, &[G::Move], &mut [f32]) -> Value,
) {
    let mut priors = vec![];
    while !search.is_done() {
        let leaf = match search.select_leaf() {
            Request::Evaluate(leaf) => leaf,
            Request::Finished => continue,
            Request::Blocked => return,
        };
        let moves = search.leaf_moves(leaf);
        priors.clear();
        priors.resize(moves.len(), 0.0);
        let value = evaluate(search.leaf_position(leaf), moves, &mut priors);
        search.expand(leaf, &priors, value);
    }
}

/// Descends until `count` leaves are awaited, or no more can be handed out for now. `leaves` gets them, whatever it held.
pub fn select_leaves<G: Game>(search: &mut Search<G>, count: u32, leaves: &mut Vec<LeafId>) {
    leaves.clear();
    while leaves.len() < count as usize {
        match search.select_leaf() {
            Request::Evaluate(leaf) => leaves.push(leaf),
            Request::Finished => {}
            Request::Blocked => return,
        }
    }
}
