//! What a record says of a ply that was searched.

use super::{PlyRecord, PolicyTarget};
use crate::encoding::{Encoding, Mv, Pos};
use crate::game::Game;
use crate::search::Search;

/// Returns the ply in which `search` chose `mv`, not yet played, without the id of a network. `has_target`: the policy
/// learns from it.
#[must_use]
pub fn searched_ply<E: Encoding>(encoding: &E, search: &Search<E::Game>, mv: Mv<E>, has_target: bool) -> PlyRecord {
    PlyRecord {
        move_text: encoding.game().format_move(search.position(), mv),
        policy_target: if has_target { policy_target(encoding, search) } else { None },
        root_value: search.root_value().get(),
        simulation_count: search.simulation_count(),
        network_id: None,
    }
}

/// Returns what the policy learns from the root; `None` if nothing was searched, as in a proven position.
fn policy_target<E: Encoding>(encoding: &E, search: &Search<E::Game>) -> Option<PolicyTarget> {
    let position: &Pos<E> = search.position();
    let indices_of = |moves: &[Mv<E>]| {
        let mut policy_indices = Vec::with_capacity(moves.len());
        encoding.policy_indices(position, moves, &mut policy_indices);
        policy_indices
    };
    if let Some(policy) = search.improved_policy() {
        let (moves, shares): (Vec<Mv<E>>, Vec<f32>) = policy.into_iter().unzip();
        return PolicyTarget::from_shares(indices_of(&moves).into_iter().zip(shares)).ok();
    }
    let (moves, visit_counts): (Vec<Mv<E>>, Vec<u32>) = search.visit_counts().into_iter().unzip();
    PolicyTarget::from_visits(indices_of(&moves).into_iter().zip(visit_counts)).ok()
}
