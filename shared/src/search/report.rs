//! What the search knows of each move of the root, for people.

use std::cmp::Ordering::Equal;

use super::choice;
use super::proof::Proof;
use super::view::{Edge, NodeIndex, TreeView};
use crate::game::Value;

/// What the search knows of a move, seen by whoever makes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoveReport<M> {
    /// The move.
    pub mv: M,
    /// Its prior, after noise.
    pub prior: f32,
    /// Simulations through it.
    pub visit_count: u32,
    /// Mean value of its simulations; `None` without any.
    pub value: Option<Value>,
    /// What is known for certain.
    pub proof: Proof,
}

/// Returns what is known of each legal move: proven wins first, proven losses last, then by visits and prior.
pub(super) fn move_reports<T: TreeView>(tree: &T) -> Vec<MoveReport<T::Move>> {
    let mut edges: Vec<_> = tree.edges(NodeIndex::ROOT).collect();
    edges.sort_by(|one, other| choice::preference(other).partial_cmp(&choice::preference(one)).unwrap_or(Equal));
    let report = |edge: Edge<T::Move>| {
        let child = edge.child.map(|(_, child)| child);
        let visited = child.filter(|child| child.visit_count > 0);
        MoveReport {
            mv: edge.mv,
            prior: edge.prior,
            visit_count: child.map_or(0, |child| child.visit_count),
            value: visited.map(|child| child.best_known_value().flipped()),
            proof: child.map_or(Proof::Unknown, |child| child.proof.flipped()),
        }
    };
    edges.into_iter().map(report).collect()
}
