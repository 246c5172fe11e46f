//! Which move is played when the search is done, and what the tree holds for the best play.

use rand::{Rng, RngExt};

use super::proof::Proof;
use super::view::{Edge, NodeIndex, TreeView};

/// Returns how often each move of the root was visited, corrected by what is proven: if a move wins, only winning
/// moves count; moves that lose count nothing while there is another.
pub(super) fn corrected_visits<T: TreeView>(tree: &T) -> Vec<(T::Move, u32)> {
    let best = best_standing(tree, NodeIndex::ROOT);
    tree.edges(NodeIndex::ROOT).map(|edge| (edge.mv, if standing(&edge) == best { visits(&edge) } else { 0 })).collect()
}

/// Returns the move to play, `None` if there is no move. At temperature 0 the most visited move, of equals the one
/// with the higher prior, then the better mean, then the first; otherwise with a chance of visits to the power of
/// 1 / temperature.
pub(super) fn choose<T: TreeView>(tree: &T, temperature: f32, random: &mut impl Rng) -> Option<T::Move> {
    let most_visited = best_edge(tree, NodeIndex::ROOT)?;
    let most_visits = f64::from(visits(&most_visited));
    if temperature <= 0.0 || most_visits == 0.0 {
        return Some(most_visited.mv);
    }
    let weights: Vec<(T::Move, f64)> = corrected_visits(tree)
        .into_iter()
        .map(|(mv, visits)| (mv, (f64::from(visits) / most_visits).powf(1.0 / f64::from(temperature))))
        .collect();
    let mut rest = random.random::<f64>() * weights.iter().map(|(_, weight)| weight).sum::<f64>();
    for (mv, weight) in weights {
        rest -= weight;
        if rest < 0.0 {
            return Some(mv);
        }
    }
    Some(most_visited.mv)
}

/// Returns the most visited moves from the root down, proven wins first, proven losses last.
pub(super) fn principal_variation<T: TreeView>(tree: &T) -> Vec<T::Move> {
    line_from(tree, best_edge(tree, NodeIndex::ROOT))
}

/// Returns the move of `first`, an edge of the root, and then the most visited moves below it.
pub(super) fn line_from<T: TreeView>(tree: &T, first: Option<Edge<T::Move>>) -> Vec<T::Move> {
    let (mut moves, mut next) = (vec![], first);
    while let Some(edge) = next {
        let Some((child, _)) = edge.child.filter(|(_, child)| child.visit_count > 0) else { break };
        moves.push(edge.mv);
        next = best_edge(tree, child);
    }
    moves
}

/// Returns `mv`, a move of the root, and then the most visited moves below it; empty if it was never tried.
pub(super) fn line_of<T: TreeView<Move: PartialEq>>(tree: &T, mv: &T::Move) -> Vec<T::Move> {
    line_from(tree, tree.edges(NodeIndex::ROOT).find(|edge| edge.mv == *mv))
}

/// What is known of a move by whoever makes it; the order is that of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Proven to lose.
    Lost,
    /// Proven to draw, or not proven.
    Open,
    /// Proven to win.
    Won,
}

/// Returns what is known of a move.
pub(super) fn standing<M>(edge: &Edge<M>) -> Standing {
    match edge.child.map_or(Proof::Unknown, |(_, child)| child.proof.flipped()) {
        Proof::Loss => Standing::Lost,
        Proof::Win => Standing::Won,
        Proof::Draw | Proof::Unknown => Standing::Open,
    }
}

/// Returns the best standing among the moves of a node.
pub(super) fn best_standing(tree: &impl TreeView, index: NodeIndex) -> Standing {
    tree.edges(index).map(|edge| standing(&edge)).max().unwrap_or(Standing::Open)
}

/// Returns the simulations through a move.
pub(super) fn visits<M>(edge: &Edge<M>) -> u32 {
    edge.child.map_or(0, |(_, child)| child.visit_count)
}

fn best_edge<T: TreeView>(tree: &T, index: NodeIndex) -> Option<Edge<T::Move>> {
    // `reduce` keeps the first of equals, `max_by` the last.
    tree.edges(index).reduce(|best, edge| if preference(&edge) > preference(&best) { edge } else { best })
}

/// Returns what moves are preferred by, the greatest first.
pub(super) fn preference<M>(edge: &Edge<M>) -> (impl PartialOrd + use<M>, u32, f32, f32) {
    let mean = edge.child.map_or(f32::NEG_INFINITY, |(_, child)| child.best_known_value().flipped().get());
    (standing(edge), visits(edge), edge.prior, mean)
}
