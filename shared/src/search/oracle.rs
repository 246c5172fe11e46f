//! What is known for certain of positions before the game ends there, such as endgame tables.

use std::sync::Arc;

use super::proof::Proof;
use crate::game::Game;

/// Knows the results of some positions of a game that goes on. All threads of a search ask it at once, about each new
/// node: it answers without a lock and without memory of its own.
pub trait Oracle<G: Game>: Send + Sync {
    /// Returns the result of `position`, in which the game goes on and to which a move has just led, with best play and
    /// all that the rules count; [`Proof::Unknown`] if it is not known.
    ///
    /// A side that plays moves to a [`Proof::Loss`] of its opponent must come to its win: whoever answers so leaves out
    /// moves that come no closer.
    fn proof(&self, position: &G::Position) -> Proof;
    /// Returns whether the results of all moves of `position` are likely to be known: a search from there by PUCT or UCB1
    /// first tries each of them once, which costs no evaluation and finds a move that keeps the result.
    fn knows_moves(&self, position: &G::Position) -> bool;
}

/// An oracle that searches share.
pub type SharedOracle<G> = Arc<dyn Oracle<G>>;

/// Returns what is known of the position of a new node: the rules are asked first.
#[inline]
pub(super) fn proof_of_node<G: Game>(game: &G, oracle: Option<&dyn Oracle<G>>, position: &G::Position) -> Proof {
    match (proof_of(game, position), oracle) {
        (Proof::Unknown, Some(oracle)) => oracle.proof(position),
        (proof, _) => proof,
    }
}

/// Returns whether a search from `position` tries each move once before any of them again.
pub(super) fn tries_all<G: Game>(oracle: Option<&dyn Oracle<G>>, position: &G::Position) -> bool {
    oracle.is_some_and(|oracle| oracle.knows_moves(position))
}

/// Returns what the rules say of a position. A root is asked about like this: a move must be found there.
#[inline]
pub(super) fn proof_of<G: Game>(game: &G, position: &G::Position) -> Proof {
    game.outcome(position).map_or(Proof::Unknown, |outcome| Proof::of_outcome(outcome, game.side_to_move(position)))
}
