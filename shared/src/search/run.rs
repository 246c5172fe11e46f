//! The shortest driver: one leaf after the other, evaluated at once by a function.

use super::{LeafSource, Request, Search};
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
