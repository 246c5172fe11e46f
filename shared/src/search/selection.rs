//! Which move a simulation goes down: PUCT (Silver et al. 2018, methods) with first-play urgency and virtual loss.

use super::proof::Proof;
use super::settings::SearchSettings;
use super::tree::{EdgeIndex, NodeIndex, Tree};
use crate::game::Value;

/// Returns the edge of an evaluated, unproven node that the next simulation follows.
///
/// Moves that are proven lost are passed over. Of the moves without a visit only the one with the highest prior can
/// score best, so the others are not looked at. Of equal scores the first wins, moves with a visit first.
pub(super) fn select_edge<M: Copy>(tree: &mut Tree<M>, index: NodeIndex, settings: &SearchSettings) -> EdgeIndex {
    let mut unvisited = tree.best_unvisited_edge(index);
    let node = tree.node(index);
    let node_visits = node.visit_count.saturating_sub(1) + u32::from(node.pending_count) * settings.virtual_loss;
    let exploration = settings.exploration * (node_visits.max(1) as f32).sqrt();
    let (mut best, mut best_score) = (None, f32::NEG_INFINITY);
    let mut visited_prior = 0.0;
    for (edge, prior, child) in tree.visited_edges(index) {
        let lost_visits = u32::from(child.pending_count) * settings.virtual_loss;
        let visits = child.visit_count + lost_visits;
        if visits == 0 && child.pending_count == 0 {
            // Handed out and cancelled: as good as unvisited.
            if unvisited.is_none_or(|(_, highest)| prior >= highest) {
                unvisited = Some((edge, prior));
            }
            continue;
        }
        visited_prior += prior;
        let value = match child.proof {
            Proof::Unknown => child.mean_value_with_wins(lost_visits),
            Proof::Win => continue,
            proof => proof.value().unwrap_or_default(),
        };
        let score = puct_score(value.flipped(), exploration, prior, visits);
        if score > best_score {
            (best, best_score) = (Some(edge), score);
        }
    }
    if let Some((edge, prior)) = unvisited {
        let value = first_play_urgency(node.mean_value(), visited_prior, reduction(index, settings));
        if puct_score(value, exploration, prior, 0) > best_score {
            best = Some(edge);
        }
    }
    best.expect("an unproven node has a move that is not lost")
}

/// Q + U of a move: `value` as the mover sees it, `exploration` times prior over visits.
#[inline]
fn puct_score(value: Value, exploration: f32, prior: f32, visits: u32) -> f32 {
    value.get() + exploration * prior / (1 + visits) as f32
}

/// The value given to a move without a visit: below that of its parent, the more so the more prior has been looked at.
fn first_play_urgency(parent: Value, visited_prior: f32, reduction: f32) -> Value {
    Value::new(parent.get() - reduction * visited_prior.sqrt())
}

/// Noise is there to have unlikely moves tried: a noisy root does not hold them back (KataGo's self-play).
fn reduction(index: NodeIndex, settings: &SearchSettings) -> f32 {
    if index == NodeIndex::ROOT && settings.has_noise() { 0.0 } else { settings.first_play_urgency_reduction }
}
