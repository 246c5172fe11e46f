//! The tree as text, for people and for tests.

use std::fmt::Write;

use super::proof::Proof;
use super::view::{NodeIndex, NodeView, TreeView};
use crate::game::Game;

/// Returns the visited tree down to `depth` plies below `position`, a line a node: move, prior, visits, value for its
/// side to move, and what is proven. The most visited move of each node comes first.
pub(super) fn outline<G: Game>(
    game: &G,
    tree: &impl TreeView<Move = G::Move>,
    position: &G::Position,
    depth: u32,
) -> String {
    let mut text = String::from("root");
    finish_line(&mut text, &tree.view(NodeIndex::ROOT));
    Outline { game, tree, depth, text: &mut text }.below(NodeIndex::ROOT, position, 1);
    text
}

struct Outline<'a, G, T> {
    game: &'a G,
    tree: &'a T,
    depth: u32,
    text: &'a mut String,
}

impl<G: Game, T: TreeView<Move = G::Move>> Outline<'_, G, T> {
    fn below(&mut self, index: NodeIndex, position: &G::Position, level: u32) {
        if level > self.depth {
            return;
        }
        let children = self.tree.edges(index).filter_map(|edge| edge.child.map(|(child, node)| (edge, child, node)));
        let is_visited = |node: &NodeView| node.visit_count > 0 || node.pending_count > 0;
        let mut visited: Vec<_> = children.filter(|(_, _, node)| is_visited(node)).collect();
        visited.sort_by_key(|(_, _, node)| std::cmp::Reverse(node.visit_count));
        for (edge, child, node) in visited {
            let name = self.game.format_move(position, edge.mv);
            let indent = "  ".repeat(level as usize);
            let _ = write!(self.text, "{indent}{name} prior {:.3}", edge.prior);
            finish_line(self.text, &node);
            let mut after = position.clone();
            self.game.play(&mut after, edge.mv);
            self.below(child, &after, level + 1);
        }
    }
}

fn finish_line(text: &mut String, node: &NodeView) {
    let _ = write!(text, " visits {}", node.visit_count);
    match node.proof {
        Proof::Unknown => {}
        Proof::Loss => text.push_str(" proven loss"),
        Proof::Draw => text.push_str(" proven draw"),
        Proof::Win => text.push_str(" proven win"),
    }
    if node.proof == Proof::Unknown {
        let _ = write!(text, " value {:+.3}", node.mean_value().get());
    }
    if node.pending_count > 0 {
        let _ = write!(text, " awaited {}", node.pending_count);
    }
    text.push('\n');
}
