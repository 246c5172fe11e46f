//! A tree as its readers see it, whether one thread owns it or several work on it.

use super::proof::Proof;
use crate::game::Value;

/// Number of a node; changes when a subtree is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeIndex(pub u32);

/// Number of an edge; changes when a subtree is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeIndex(pub u32);

impl NodeIndex {
    /// The root of every tree.
    pub const ROOT: Self = Self(0);
    /// No node.
    pub const NONE: Self = Self(u32::MAX);
}

/// What a node holds at this moment. Values are seen from its side to move.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeView {
    /// Sum of the values backed up.
    pub value_sum: f64,
    /// Simulations backed up through here.
    pub visit_count: u32,
    /// Leaves at or below this node whose evaluation is awaited.
    pub pending_count: u32,
    /// What is known for certain.
    pub proof: Proof,
}

impl NodeView {
    /// Returns the mean of the values backed up, a draw if there is none.
    pub fn mean_value(&self) -> Value {
        self.mean_value_with_wins(0)
    }

    /// Returns the mean of the values backed up and of `win_count` more wins.
    #[inline]
    pub fn mean_value_with_wins(&self, win_count: u32) -> Value {
        let wins = win_count as f32;
        let count = (self.visit_count as f32 + wins).max(1.0);
        Value::new((self.value_sum as f32 + wins * Value::WIN.get()) / count)
    }

    /// Returns the exact value if there is a proof, otherwise the mean.
    pub fn best_known_value(&self) -> Value {
        self.proof.value().unwrap_or_else(|| self.mean_value())
    }
}

/// A move of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge<M> {
    /// Its move.
    pub mv: M,
    /// Its prior.
    pub prior: f32,
    /// Its child's number and content, if it has one.
    pub child: Option<(NodeIndex, NodeView)>,
}

/// What choosing, reporting and drawing need of a tree.
pub(super) trait TreeView {
    /// The moves of the game.
    type Move: Copy;

    /// Returns what a node holds.
    fn view(&self, index: NodeIndex) -> NodeView;
    /// Returns the edges of a node, those with a child first.
    fn edges(&self, index: NodeIndex) -> impl Iterator<Item = Edge<Self::Move>>;
}
