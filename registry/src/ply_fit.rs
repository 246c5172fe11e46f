//! Whether a reported ply can be the next one of its game, and whether a search can have found it.

use shared::encoding::Encoding;
use shared::ids::NetworkId;
use shared::record::{PlyRecord, PolicyTarget, ReplayError};
use shared::search::{RootSelection, SearchSettings};
use shared::wire::ReportedPly;

use super::open_game::OpenGame;

/// Why a ply is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum RefusedPly {
    #[error("ply {ply} is {stored:?} already")]
    Different { ply: u32, stored: String },
    #[error("ply {ply} comes before ply {next}")]
    Gap { ply: u32, next: usize },
    #[error("simulation_count: {count} is more than the {max} that the search of this game makes")]
    Simulations { count: u32, max: u32 },
    #[error("policy_target: {visits} visits of {simulations} simulations")]
    Visits { visits: u32, simulations: u32 },
    #[error("network_id: there is no network {0}")]
    NoNetwork(NetworkId),
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// Checks that a search of these settings can have found what the ply says. A root keeps visits of the search before it,
/// and has at most one more for each leaf that was on its way.
pub(super) fn check_search(search: &SearchSettings, record: &PlyRecord, last: NetworkId) -> Result<(), RefusedPly> {
    let (count, max) = (record.simulation_count, search.simulation_count.saturating_add(search.leaves_per_game));
    if count > max {
        return Err(RefusedPly::Simulations { count, max });
    }
    let visits = record.policy_target.as_ref().map_or(0, PolicyTarget::weight_sum);
    // By Gumbel the weights are shares.
    if search.root == RootSelection::Puct && visits > count.max(1) {
        return Err(RefusedPly::Visits { visits, simulations: count });
    }
    match record.network_id {
        Some(network_id) if network_id > last => Err(RefusedPly::NoNetwork(network_id)),
        _ => Ok(()),
    }
}

/// How a ply fits its game.
#[derive(Clone, Copy)]
pub(super) enum Fit {
    /// It is there already, with the same move.
    Stored,
    /// It is the next one.
    Next,
}

/// Compares a ply with the plies of its game.
pub(super) fn fit<E: Encoding>(game: &OpenGame<E>, ply: &ReportedPly) -> Result<Fit, RefusedPly> {
    match game.plies().get(ply.ply as usize) {
        Some(stored) if stored.move_text == ply.record.move_text => Ok(Fit::Stored),
        Some(stored) => Err(RefusedPly::Different { ply: ply.ply, stored: stored.move_text.clone() }),
        None if ply.ply as usize == game.plies().len() => Ok(Fit::Next),
        None => Err(RefusedPly::Gap { ply: ply.ply, next: game.plies().len() }),
    }
}
