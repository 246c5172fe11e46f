//! The tree as text, for people and for tests.

use std::fmt::Write;

use super::Search;
use super::proof::Proof;
use super::tree::{Node, NodeIndex};
use crate::game::Game;

impl<G: Game> Search<G> {
    /// Returns the visited tree down to `depth` plies below the root, a line a node: move, prior, visits, value for
    /// its side to move, and what is proven. The most visited move of each node comes first.
    #[must_use]
    pub fn outline(&self, depth: u32) -> String {
        let mut text = String::from("root");
        finish_line(&mut text, self.tree.root());
        self.outline_below(NodeIndex::ROOT, &self.position, 1, depth, &mut text);
        text
    }

    fn outline_below(&self, index: NodeIndex, position: &G::Position, level: u32, depth: u32, text: &mut String) {
        if level > depth {
            return;
        }
        let children = self.tree.edges(index).filter_map(|edge| edge.child.map(|(child, node)| (edge, child, node)));
        let is_visited = |node: &Node| node.visit_count > 0 || node.pending_count > 0;
        let mut visited: Vec<_> = children.filter(|(_, _, node)| is_visited(node)).collect();
        visited.sort_by_key(|(_, _, node)| std::cmp::Reverse(node.visit_count));
        for (edge, child, node) in visited {
            let name = self.game.format_move(position, edge.mv);
            let indent = "  ".repeat(level as usize);
            let _ = write!(text, "{indent}{name} prior {:.3}", edge.prior);
            finish_line(text, node);
            let mut after = position.clone();
            self.game.play(&mut after, edge.mv);
            self.outline_below(child, &after, level + 1, depth, text);
        }
    }
}

fn finish_line(text: &mut String, node: &Node) {
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
