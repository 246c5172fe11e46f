//! Which move a simulation goes down: PUCT (Silver et al. 2018, methods) with first-play urgency, or UCB1 (Kocsis and
//! Szepesvári 2006), both with virtual loss. Knows no tree: whoever keeps one hands over what it holds.

use super::proof::Proof;
use super::search_settings::{FirstPlayUrgency, SearchSettings};
use super::view::{EdgeIndex, NodeView};
use crate::game::Value;

/// Returns the edge of an evaluated, unproven node that the next simulation follows by PUCT. `visited` are number, prior
/// and child of the edges with a child, `unvisited` the one with the highest prior of those without. A root is noisy if its
/// priors are mixed with noise.
///
/// Moves that are proven lost are skipped; `None` if no other is left. Of the moves without a visit only the one with
/// the highest prior can score best, so the others are not looked at. Of equal scores the first wins, moves with a visit
/// first.
#[inline]
pub(super) fn select_by_puct(
    node: &NodeView,
    visited: impl Iterator<Item = (EdgeIndex, f32, NodeView)>,
    mut unvisited: Option<(EdgeIndex, f32)>,
    is_noisy: bool,
    settings: &SearchSettings,
) -> Option<EdgeIndex> {
    let node_visits = node.visit_count.saturating_sub(1) + node.pending_count * settings.virtual_loss;
    let exploration = settings.exploration * (node_visits.max(1) as f32).sqrt();
    let (mut best, mut best_score) = (None, f32::NEG_INFINITY);
    let mut visited_prior = 0.0;
    for (edge, prior, child) in visited {
        let lost_visits = child.pending_count * settings.virtual_loss;
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
        let value = match settings.first_play_urgency {
            FirstPlayUrgency::Reduced => {
                reduced_urgency(node.mean_value(), visited_prior, reduction(is_noisy, settings))
            }
            FirstPlayUrgency::Zero => Value::DRAW,
        };
        if puct_score(value, exploration, prior, 0) > best_score {
            best = Some(edge);
        }
    }
    best
}

/// Returns the edge of an unproven node, all of whose moves have a child, that the next simulation follows by UCB1.
/// `visited` are number and child of its edges.
///
/// A child without a visit comes first, moves that are proven lost are skipped; `None` if no other is left. Of equal
/// scores the first wins.
#[inline]
pub(super) fn select_by_ucb1(
    node: &NodeView,
    visited: impl Iterator<Item = (EdgeIndex, NodeView)>,
    settings: &SearchSettings,
) -> Option<EdgeIndex> {
    let node_visits = node.visit_count + node.pending_count * settings.virtual_loss;
    let exploration = settings.exploration * (node_visits.max(1) as f32).ln().sqrt();
    let (mut best, mut best_score) = (None, f32::NEG_INFINITY);
    for (edge, child) in visited {
        let lost_visits = child.pending_count * settings.virtual_loss;
        let visits = child.visit_count + lost_visits;
        let value = match child.proof {
            Proof::Unknown => child.mean_value_with_wins(lost_visits),
            Proof::Win => continue,
            proof => proof.value().unwrap_or_default(),
        };
        // Without a visit the score is infinite.
        let score = value.flipped().get() + exploration / (visits as f32).sqrt();
        if best.is_none() || score > best_score {
            (best, best_score) = (Some(edge), score);
        }
    }
    best
}

/// Q + U of a move: `value` as the mover sees it, `exploration` times prior over visits.
#[inline]
fn puct_score(value: Value, exploration: f32, prior: f32, visits: u32) -> f32 {
    value.get() + exploration * prior / (1 + visits) as f32
}

/// The value given to a move without a visit: below that of its parent, the more so the more prior has been looked at.
fn reduced_urgency(parent: Value, visited_prior: f32, reduction: f32) -> Value {
    Value::new(parent.get() - reduction * visited_prior.sqrt())
}

/// Noise is there to have unlikely moves tried: a noisy root does not hold them back (KataGo's self-play).
fn reduction(is_noisy: bool, settings: &SearchSettings) -> f32 {
    if is_noisy { 0.0 } else { settings.first_play_urgency_reduction }
}
