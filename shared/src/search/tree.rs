//! The tree in memory: nodes, edges, backing up values and proofs, keeping a subtree.
//!
//! Knows neither rules nor formulas of selection. A parent lies before its children and its edges before theirs,
//! so a subtree is kept by sliding it to the front in one pass.

use super::proof::Proof;
use super::view::{Edge, EdgeIndex, NodeIndex, NodeView, TreeView};
use crate::game::Value;

impl NodeIndex {
    const fn at(self) -> usize {
        self.0 as usize
    }
}

/// One position of the tree. Values are seen from its side to move.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    value_sum: f64,
    parent: NodeIndex,
    first_edge: u32,
    /// Simulations backed up through here.
    pub visit_count: u32,
    /// Leaves at or below this node whose evaluation is awaited.
    pub pending_count: u16,
    edge_count: u16,
    /// The first so many edges have a child; the others have not.
    child_count: u16,
    /// What is known for certain.
    pub proof: Proof,
    /// Whether priors and value have come in.
    pub is_evaluated: bool,
    /// Whether the first edge without a child has the highest prior of those.
    is_best_in_front: bool,
}

const _: () = assert!(size_of::<Node>() <= 64, "a node takes at most 64 bytes");
const _: () = assert!(edge_bytes::<u32>() <= 16, "an edge with a move of 4 bytes takes at most 16 bytes");

/// Bytes that one node takes.
pub const NODE_BYTES: usize = size_of::<Node>();

/// Returns the bytes that one edge takes: move, prior, child.
#[must_use]
pub const fn edge_bytes<M>() -> usize {
    size_of::<M>() + size_of::<f32>() + size_of::<NodeIndex>()
}

impl Node {
    #[inline]
    fn view(&self) -> NodeView {
        let Self { value_sum, visit_count, pending_count, proof, .. } = *self;
        NodeView { value_sum, visit_count, pending_count: u32::from(pending_count), proof }
    }

    fn edges(&self) -> std::ops::Range<usize> {
        let start = self.first_edge as usize;
        start..start + usize::from(self.edge_count)
    }
}

/// Nodes and edges of one search. The edges lie in three arrays side by side, so that the rules write moves and
/// the network reads them without a copy.
#[derive(Debug)]
pub(super) struct Tree<M> {
    nodes: Vec<Node>,
    moves: Vec<M>,
    priors: Vec<f32>,
    children: Vec<NodeIndex>,
    /// Scratch of `keep_subtree`: new numbers of the old nodes.
    new_indices: Vec<NodeIndex>,
}

impl<M: Copy> Tree<M> {
    /// Makes a tree without nodes.
    pub fn new() -> Self {
        Self { nodes: vec![], moves: vec![], priors: vec![], children: vec![], new_indices: vec![] }
    }

    /// Forgets all and makes a root whose moves `fill` appends; a finished position has a proof and no moves.
    pub fn reset(&mut self, proof: Proof, fill: impl FnOnce(&mut Vec<M>)) {
        self.nodes.clear();
        self.moves.clear();
        self.priors.clear();
        self.children.clear();
        self.push_node(NodeIndex::NONE, proof, fill);
    }

    /// Returns a node.
    #[inline]
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.at()]
    }

    /// Returns the root.
    pub fn root(&self) -> &Node {
        self.node(NodeIndex::ROOT)
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the bytes held, spare room included.
    pub fn byte_count(&self) -> usize {
        self.nodes.capacity() * NODE_BYTES
            + self.moves.capacity() * size_of::<M>()
            + self.priors.capacity() * size_of::<f32>()
            + (self.children.capacity() + self.new_indices.capacity()) * size_of::<NodeIndex>()
    }

    /// Returns the moves of a node: as the rules gave them until it is evaluated, then in any order.
    pub fn moves(&self, index: NodeIndex) -> &[M] {
        &self.moves[self.node(index).edges()]
    }

    /// Returns the priors of a node's moves, to be changed.
    pub fn priors_mut(&mut self, index: NodeIndex) -> &mut [f32] {
        let node = &mut self.nodes[index.at()];
        node.is_best_in_front = false;
        &mut self.priors[node.edges()]
    }

    /// Returns number, prior and child of each edge that has a child.
    #[inline]
    pub fn visited_edges(&self, index: NodeIndex) -> impl Iterator<Item = (EdgeIndex, f32, NodeView)> {
        let node = self.node(index);
        let start = node.first_edge as usize;
        let visited = start..start + usize::from(node.child_count);
        let children = self.children[visited.clone()].iter().zip(&self.priors[visited]);
        let numbered = (node.first_edge..).map(EdgeIndex).zip(children);
        numbered.map(|(edge, (child, prior))| (edge, *prior, self.node(*child).view()))
    }

    /// Returns number and prior of the edge with the highest prior among those without a child, the first of equals.
    #[inline]
    pub fn best_unvisited_edge(&mut self, index: NodeIndex) -> Option<(EdgeIndex, f32)> {
        let node = self.nodes[index.at()];
        if node.child_count == node.edge_count {
            return None;
        }
        let front = node.first_edge as usize + usize::from(node.child_count);
        if !node.is_best_in_front {
            self.bring_best_to(front, node.edges().end);
            self.nodes[index.at()].is_best_in_front = true;
        }
        Some((EdgeIndex(front as u32), self.priors[front]))
    }

    /// Returns the first edge without a child.
    #[inline]
    pub fn first_unvisited_edge(&self, index: NodeIndex) -> Option<EdgeIndex> {
        let node = self.node(index);
        (node.child_count < node.edge_count).then(|| EdgeIndex(node.first_edge + u32::from(node.child_count)))
    }

    /// Brings the edges of a node without children into an order: `order` holds the place of each edge so far, from 0.
    pub fn reorder_edges(&mut self, index: NodeIndex, order: &[usize]) {
        debug_assert_eq!(self.node(index).child_count, 0);
        let edges = self.node(index).edges();
        let moves: Vec<M> = order.iter().map(|at| self.moves[edges.start + at]).collect();
        let priors: Vec<f32> = order.iter().map(|at| self.priors[edges.start + at]).collect();
        self.moves[edges.clone()].copy_from_slice(&moves);
        self.priors[edges].copy_from_slice(&priors);
        self.nodes[index.at()].is_best_in_front = false;
    }

    /// Moves the edge with the highest prior of `front..end` to `front`; the others keep their order.
    // Cheaper than sorting every node: most nodes never get a second child.
    fn bring_best_to(&mut self, front: usize, end: usize) {
        let mut best = front;
        for at in front + 1..end {
            if self.priors[at] > self.priors[best] {
                best = at;
            }
        }
        self.moves[front..=best].rotate_right(1);
        self.priors[front..=best].rotate_right(1);
    }

    /// Returns the move of an edge.
    pub fn edge_move(&self, edge: EdgeIndex) -> M {
        self.moves[edge.0 as usize]
    }

    /// Returns the child of an edge, if it has one.
    #[inline]
    pub fn child(&self, edge: EdgeIndex) -> Option<NodeIndex> {
        let child = self.children[edge.0 as usize];
        (child != NodeIndex::NONE).then_some(child)
    }

    /// Makes the child of `edge`, which must be the first edge of `parent` without one; `fill` appends its moves.
    pub fn add_child(
        &mut self,
        parent: NodeIndex,
        edge: EdgeIndex,
        proof: Proof,
        fill: impl FnOnce(&mut Vec<M>),
    ) -> NodeIndex {
        let child = self.push_node(parent, proof, fill);
        self.children[edge.0 as usize] = child;
        let parent = &mut self.nodes[parent.at()];
        debug_assert_eq!(edge.0, parent.first_edge + u32::from(parent.child_count));
        parent.child_count += 1;
        parent.is_best_in_front = false;
        child
    }

    fn push_node(&mut self, parent: NodeIndex, proof: Proof, fill: impl FnOnce(&mut Vec<M>)) -> NodeIndex {
        let start = self.moves.len();
        fill(&mut self.moves);
        let end = self.moves.len();
        self.priors.resize(end, 0.0);
        self.children.resize(end, NodeIndex::NONE);
        let index = NodeIndex(u32::try_from(self.nodes.len()).expect("a tree has fewer than 2^32 nodes"));
        self.nodes.push(Node {
            value_sum: 0.0,
            parent,
            first_edge: u32::try_from(start).expect("a tree has fewer than 2^32 edges"),
            visit_count: 0,
            pending_count: 0,
            edge_count: u16::try_from(end - start).expect("a position has fewer than 65,536 moves"),
            child_count: 0,
            proof,
            is_evaluated: false,
            is_best_in_front: false,
        });
        index
    }

    /// Marks a node as evaluated.
    pub fn set_evaluated(&mut self, index: NodeIndex) {
        self.nodes[index.at()].is_evaluated = true;
    }

    /// Counts one more leaf that is awaited, from `leaf` up to the root.
    pub fn add_pending(&mut self, leaf: NodeIndex) {
        self.walk_up(leaf, |node| node.pending_count += 1);
    }

    /// Counts one awaited leaf less, from `leaf` up to the root.
    pub fn remove_pending(&mut self, leaf: NodeIndex) {
        self.walk_up(leaf, |node| node.pending_count -= 1);
    }

    fn walk_up(&mut self, from: NodeIndex, mut visit: impl FnMut(&mut Node)) {
        let mut index = from;
        while index != NodeIndex::NONE {
            let node = &mut self.nodes[index.at()];
            visit(node);
            index = node.parent;
        }
    }

    /// Counts a simulation that ended in `leaf` with `value` for its side to move; what is proven replaces the value.
    pub fn back_up(&mut self, leaf: NodeIndex, value: Value) {
        let (mut index, mut value) = (leaf, value);
        loop {
            let node = &mut self.nodes[index.at()];
            let (parent, proof) = (node.parent, node.proof);
            value = proof.value().unwrap_or(value);
            node.visit_count += 1;
            node.value_sum += f64::from(value.get());
            if parent == NodeIndex::NONE {
                return;
            }
            self.prove(parent, proof);
            value = value.flipped();
            index = parent;
        }
    }

    /// Proves `index` if it can be now that a child has the proof `of_child`.
    fn prove(&mut self, index: NodeIndex, of_child: Proof) {
        if of_child == Proof::Unknown || self.node(index).proof != Proof::Unknown {
            return;
        }
        self.nodes[index.at()].proof = match of_child.flipped() {
            Proof::Win => Proof::Win,
            _ => self.best_of_all(index),
        };
    }

    /// Returns the best proof among the moves of a node once every move has one.
    fn best_of_all(&self, index: NodeIndex) -> Proof {
        let node = self.node(index);
        if node.child_count < node.edge_count {
            return Proof::Unknown;
        }
        let mut best = Proof::Loss;
        for (_, _, child) in self.visited_edges(index) {
            if child.proof == Proof::Unknown {
                return Proof::Unknown;
            }
            best = best.max(child.proof.flipped());
        }
        best
    }

    /// Makes `root` the root and forgets what is not below it.
    pub fn keep_subtree(&mut self, root: NodeIndex) {
        self.new_indices.clear();
        self.new_indices.resize(self.nodes.len(), NodeIndex::NONE);
        let (mut node_count, mut edge_count) = (0, 0);
        for old in root.at()..self.nodes.len() {
            let mut node = self.nodes[old];
            let is_root = old == root.at();
            let parent = if is_root { NodeIndex::NONE } else { self.new_indices[node.parent.at()] };
            if !is_root && parent == NodeIndex::NONE {
                continue;
            }
            let edges = node.edges();
            self.moves.copy_within(edges.clone(), edge_count);
            self.priors.copy_within(edges.clone(), edge_count);
            self.children.copy_within(edges.clone(), edge_count);
            (node.parent, node.first_edge) = (parent, edge_count as u32);
            edge_count += edges.len();
            self.nodes[node_count] = node;
            self.new_indices[old] = NodeIndex(node_count as u32);
            node_count += 1;
        }
        self.truncate(node_count, edge_count);
        for child in self.children.iter_mut().filter(|child| **child != NodeIndex::NONE) {
            *child = self.new_indices[child.at()];
        }
    }

    fn truncate(&mut self, node_count: usize, edge_count: usize) {
        self.nodes.truncate(node_count);
        self.moves.truncate(edge_count);
        self.priors.truncate(edge_count);
        self.children.truncate(edge_count);
    }
}

impl<M: Copy> TreeView for Tree<M> {
    type Move = M;

    #[inline]
    fn view(&self, index: NodeIndex) -> NodeView {
        self.node(index).view()
    }

    fn edges(&self, index: NodeIndex) -> impl Iterator<Item = Edge<M>> {
        self.node(index).edges().map(|at| {
            let child = self.children[at];
            let child = (child != NodeIndex::NONE).then(|| (child, self.view(child)));
            Edge { mv: self.moves[at], prior: self.priors[at], child }
        })
    }
}
