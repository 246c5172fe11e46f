//! Searching many plies at once, so that their leaves share batches, and comparing what is found with what was played.

use shared::encoding::{Encoding, Mv, Pos};
use shared::game::Value;
use shared::ids::NetworkId;
use shared::search::{LeafId, LeafSource, Proof, Request, Search};

use super::GateCheckError;
use super::sample::SampledPly;

/// A move that a search gives fewer visits than the most visited one, by this factor, it would not have played: what a
/// kept tree and rounding change is less.
const CONTRADICTING_FACTOR: u32 = 4;

/// Evaluates leaves of several searches and networks together, which an [`shared::search::Evaluator`] of one search cannot.
pub(super) trait BatchEvaluator<E: Encoding> {
    /// Adds a leaf, with its legal moves, for a network.
    fn add(&mut self, network_id: NetworkId, position: &Pos<E>, moves: &[Mv<E>]) -> Result<(), GateCheckError>;

    /// Evaluates all leaves that were added: the priors and the value of each, in the order in which they were added.
    fn evaluate(&mut self) -> Result<Vec<(Vec<f32>, Value)>, GateCheckError>;
}

/// A search that goes on.
struct PlySearch<E: Encoding> {
    search: Search<E::Game>,
    ply: SampledPly<E>,
}

/// Searches plies again; returns whether the search agrees with the move, of each that shows something.
pub(super) fn search_again<E: Encoding>(
    encoding: &E,
    plies: Vec<SampledPly<E>>,
    evaluator: &mut impl BatchEvaluator<E>,
) -> Result<Vec<bool>, GateCheckError> {
    let begin = |ply: SampledPly<E>| {
        // Nothing is drawn: the seed does not matter.
        let search = Search::new(encoding.game().clone(), ply.position.clone(), ply.search.clone(), 0).ok()?;
        Some(PlySearch { search, ply })
    };
    let mut searches: Vec<PlySearch<E>> = plies.into_iter().filter_map(begin).collect();
    while advance(&mut searches, evaluator)? {}
    Ok(searches.iter().filter_map(agrees).collect())
}

/// Brings each search one batch further. Returns whether any went on.
fn advance<E: Encoding>(
    searches: &mut [PlySearch<E>],
    evaluator: &mut impl BatchEvaluator<E>,
) -> Result<bool, GateCheckError> {
    let mut awaited: Vec<(usize, LeafId)> = Vec::new();
    for (index, PlySearch { search, ply }) in searches.iter_mut().enumerate() {
        while !search.is_done() {
            match search.select_leaf() {
                Request::Evaluate(leaf) => {
                    evaluator.add(ply.network_id, search.leaf_position(leaf), search.leaf_moves(leaf))?;
                    awaited.push((index, leaf));
                }
                Request::Finished => {}
                Request::Blocked => break,
            }
        }
    }
    for ((index, leaf), (priors, value)) in awaited.iter().zip(evaluator.evaluate()?) {
        searches[*index].search.expand(*leaf, &priors, value);
    }
    Ok(!awaited.is_empty())
}

/// Compares what was found with the move that was played; `None` if it says nothing.
fn agrees<E: Encoding>(searched: &PlySearch<E>) -> Option<bool> {
    let PlySearch { search, ply } = searched;
    // Where everything loses, any move will do, and a search that is proven early has visited them at random.
    if !search.is_done() || search.proof() == Proof::Loss {
        return None;
    }
    let reports = search.move_reports();
    let best = reports.first()?;
    let played = reports.iter().find(|report| report.mv == ply.played)?;
    if best.proof == Proof::Win || search.proof() == Proof::Draw {
        return Some(if best.proof == Proof::Win { played.proof == Proof::Win } else { played.proof != Proof::Loss });
    }
    let is_lost = played.proof == Proof::Loss;
    Some(!is_lost && played.visit_count.saturating_mul(CONTRADICTING_FACTOR) >= best.visit_count)
}

#[cfg(test)]
mod tests {
    use shared::encoding::tictactoe::TicTacToeEncoding;
    use shared::game::Game;
    use shared::game::tictactoe::TicTacToe;
    use shared::search::SearchSettings;

    use super::super::tests::Uniform;
    use super::*;

    /// Plays these moves; returns whether the search agrees with each of `played` then.
    fn agreements(moves: &[&str], played: &[&str]) -> Vec<bool> {
        let game = TicTacToe;
        let mut position = game.initial_position();
        for text in moves {
            let mv = game.parse_move(&position, text).expect("legal");
            game.play(&mut position, mv);
        }
        let ply = |text: &&str| SampledPly {
            position,
            network_id: NetworkId::FIRST,
            search: SearchSettings::default().for_match(64),
            played: game.parse_move(&position, text).expect("legal"),
        };
        let plies = played.iter().map(ply).collect();
        search_again(&TicTacToeEncoding::new(game), plies, &mut Uniform::default()).expect("answered")
    }

    #[test]
    fn a_win_that_is_left_and_a_loss_that_is_let_in_are_contradicted() {
        assert_eq!(agreements(&["b2", "a1", "b3", "a2"], &["b1", "c3", "a3"]), [true, false, false]);
        assert_eq!(agreements(&["a3", "c1", "b3"], &["c3", "a1", "b2"]), [true, false, false]);
    }

    #[test]
    fn where_everything_loses_nothing_is_shown() {
        assert_eq!(agreements(&["a1", "b1", "b2", "c3", "a3"], &["c1", "a2"]), [true; 0], "two threats at once");
    }

    #[test]
    fn of_moves_as_good_as_each_other_each_will_do() {
        assert_eq!(agreements(&[], &["a1", "a3", "c1", "c3"]), [true; 4]);
    }
}
