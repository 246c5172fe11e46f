//! How deep the simulations of a tree went on average.

use super::view::{NodeIndex, TreeView};

/// Simulations that are looked at: with more, a reader would hold up the search of a large tree.
const SIMULATION_COUNT_MAX: u32 = 256;

/// Returns the mean number of plies from the root to the leaf of a simulation; 0 without any. Of a large tree every
/// n-th simulation counts, in the order of the tree.
pub(super) fn mean_depth(tree: &impl TreeView) -> f64 {
    let total = tree.view(NodeIndex::ROOT).visit_count;
    let count = total.min(SIMULATION_COUNT_MAX);
    let nth = |index: u32| (u64::from(index) * u64::from(total) / u64::from(count)) as u32;
    let sum: u32 = (0..count).map(|index| depth_of(tree, nth(index))).sum();
    f64::from(sum) / f64::from(count.max(1))
}

/// Returns the depth of the simulation that comes after `rank` others, children before the node itself.
fn depth_of(tree: &impl TreeView, mut rank: u32) -> u32 {
    let (mut index, mut depth) = (NodeIndex::ROOT, 0);
    loop {
        let mut children = tree.edges(index).filter_map(|edge| edge.child);
        let below = children.find_map(|(child, node)| {
            let is_here = rank < node.visit_count;
            rank -= if is_here { 0 } else { node.visit_count };
            is_here.then_some(child)
        });
        match below {
            Some(child) => (index, depth) = (child, depth + 1),
            None => return depth,
        }
    }
}
