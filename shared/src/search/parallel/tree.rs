//! The tree that several threads work on: edges as atomics, backing up, proofs, keeping a subtree.
//!
//! No lock (Enzenberger and Müller 2009): counts are added to, a new child is claimed by compare-and-exchange, and what
//! a node is made of is written before its number is. A reader may see a visit before its value; that evens out.

use std::marker::PhantomData;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU16, AtomicU32};

use super::arena::{Arena, Block, Room};
use super::node::{Node, Stage};
use crate::game::{MoveNumber, Value};
use crate::search::proof::Proof;
use crate::search::view::{Edge, EdgeIndex, NodeIndex, NodeView, TreeView};

/// Bytes that one edge takes: move, prior, child.
pub const PARALLEL_EDGE_BYTES: usize = size_of::<AtomicU16>() + 2 * size_of::<AtomicU32>();

/// Elements that a thread takes at once.
const NODE_BLOCK: u32 = 64;
const EDGE_BLOCK: u32 = 1024;

/// Nodes and edges of one search. The edges lie in three arrays side by side.
#[derive(Debug)]
pub(super) struct Tree<M> {
    nodes: Arena<Node>,
    node_room: Room,
    moves: Arena<AtomicU16>,
    /// Bits of f32. Never made by a search that needs no priors.
    priors: Arena<AtomicU32>,
    children: Arena<AtomicU32>,
    edge_room: Room,
    has_priors: bool,
    of_moves: PhantomData<fn() -> M>,
}

/// Where one thread takes new nodes and edges from.
#[derive(Debug)]
pub(super) struct Blocks {
    nodes: Block,
    edges: Block,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { nodes: Block::new(NODE_BLOCK), edges: Block::new(EDGE_BLOCK) }
    }
}

impl<M: MoveNumber + Copy> Tree<M> {
    /// Makes a tree with a root.
    pub fn new(has_priors: bool, proof: Proof) -> Self {
        let tree = Self {
            nodes: Arena::new(),
            node_room: Room::default(),
            moves: Arena::new(),
            priors: Arena::new(),
            children: Arena::new(),
            edge_room: Room::default(),
            has_priors,
            of_moves: PhantomData,
        };
        let root = Block::new(1).take(&tree.node_room, 1);
        debug_assert_eq!(root, NodeIndex::ROOT.0);
        tree.nodes.get(root).set(proof, Stage::New);
        tree
    }

    /// Returns a node.
    #[inline]
    pub fn node(&self, index: NodeIndex) -> &Node {
        self.nodes.get(index.0)
    }

    /// Returns the root.
    pub fn root(&self) -> &Node {
        self.node(NodeIndex::ROOT)
    }

    /// Returns whether edges have priors.
    pub const fn has_priors(&self) -> bool {
        self.has_priors
    }

    /// Returns the bytes held, spare room included.
    pub fn byte_count(&self) -> usize {
        self.nodes.byte_count() + self.moves.byte_count() + self.priors.byte_count() + self.children.byte_count()
    }

    /// Gives a claimed node its edges, in this order, and makes it ready. `priors` fall and are as many as the moves, or
    /// there are none in a tree without.
    pub fn set_edges(&self, index: NodeIndex, edges: impl ExactSizeIterator<Item = (M, f32)>, blocks: &mut Blocks) {
        let count = u16::try_from(edges.len()).expect("a position has fewer than 65,536 moves");
        let first = blocks.edges.take(&self.edge_room, count.into());
        let len = usize::from(count);
        let (moves, children) = (self.moves.slice(first, len), self.children.slice(first, len));
        let priors = if self.has_priors { self.priors.slice(first, len) } else { &[] };
        for (at, (mv, prior)) in edges.enumerate() {
            moves[at].store(mv.number(), Relaxed);
            children[at].store(NodeIndex::NONE.0, Relaxed);
            if let Some(slot) = priors.get(at) {
                slot.store(prior.to_bits(), Relaxed);
            }
        }
        self.node(index).set_edges(first, count);
    }

    /// Returns the first edge of a ready node that nobody has claimed, if there is one.
    #[inline]
    pub fn next_unvisited(&self, index: NodeIndex) -> Option<EdgeIndex> {
        let node = self.node(index);
        let (claimed, (first, count)) = (node.child_count(), node.edges());
        (claimed < count).then(|| EdgeIndex(first + claimed as u32))
    }

    /// Claims the edge that [`Self::next_unvisited`] returned. Returns false if another thread was faster.
    #[inline]
    pub fn claim_edge(&self, index: NodeIndex, edge: EdgeIndex) -> bool {
        let node = self.node(index);
        node.claim_child(edge.0 - node.edges().0)
    }

    /// Makes the child of an edge that this thread has claimed, with one simulation under way below it.
    pub fn add_child(&self, edge: EdgeIndex, proof: Proof, stage: Stage, blocks: &mut Blocks) -> NodeIndex {
        let child = blocks.nodes.take(&self.node_room, 1);
        let node = self.nodes.get(child);
        node.set(proof, stage);
        node.arrive();
        self.children.get(edge.0).store(child, Release);
        NodeIndex(child)
    }

    /// Returns the move of an edge.
    #[inline]
    pub fn edge_move(&self, edge: EdgeIndex) -> M {
        M::of_number(self.moves.get(edge.0).load(Relaxed))
    }

    /// Returns the prior of an edge, in a tree that has them.
    #[inline]
    pub fn prior(&self, edge: EdgeIndex) -> f32 {
        f32::from_bits(self.priors.get(edge.0).load(Relaxed))
    }

    /// Returns the child of an edge, if it is made.
    #[inline]
    pub fn child(&self, edge: EdgeIndex) -> Option<NodeIndex> {
        let child = NodeIndex(self.children.get(edge.0).load(Acquire));
        (child != NodeIndex::NONE).then_some(child)
    }

    /// Returns number and content of the child of each edge that has one, in the order of the edges.
    #[inline]
    pub fn visited_children(&self, index: NodeIndex) -> impl Iterator<Item = (EdgeIndex, NodeView)> {
        let node = self.node(index);
        let first = node.edges().0;
        let children = self.children.slice(first, node.child_count());
        (first..).map(EdgeIndex).zip(children).filter_map(|(edge, child)| {
            let child = NodeIndex(child.load(Acquire));
            // Claimed by a thread that has not made it yet.
            (child != NodeIndex::NONE).then(|| (edge, self.node(child).view()))
        })
    }

    /// Returns number, prior and child of each edge that has a child, in the order of the edges.
    #[inline]
    pub fn visited_edges(&self, index: NodeIndex) -> impl Iterator<Item = (EdgeIndex, f32, NodeView)> {
        let (first, count) = self.node(index).edges();
        let priors = self.priors.slice(first, count);
        self.visited_children(index).map(move |(edge, child)| {
            let prior = priors.get((edge.0 - first) as usize).map_or(0, |prior| prior.load(Relaxed));
            (edge, f32::from_bits(prior), child)
        })
    }

    /// Turns the simulation under way on `path`, from the root to a leaf, into a visit of each node, with `value` for the
    /// leaf's side to move; what is proven replaces the value.
    #[inline]
    pub fn back_up(&self, path: &[NodeIndex], mut value: Value) {
        let mut of_child = Proof::Unknown;
        for index in path.iter().rev() {
            let node = self.node(*index);
            self.prove(*index, node, of_child);
            of_child = node.proof();
            value = of_child.value().unwrap_or(value);
            node.count_visit(value);
            value = value.flipped();
        }
    }

    /// Proves a node by what is known of all its children. Returns whether it is proven now.
    pub fn prove_by_children(&self, index: NodeIndex) -> bool {
        let node = self.node(index);
        node.set_proof(self.best_of_all(index, node));
        node.proof() != Proof::Unknown
    }

    /// Proves a node if it can be now that a child has the proof `of_child`.
    #[inline]
    fn prove(&self, index: NodeIndex, node: &Node, of_child: Proof) {
        if of_child == Proof::Unknown || node.proof() != Proof::Unknown {
            return;
        }
        node.set_proof(match of_child.flipped() {
            Proof::Win => Proof::Win,
            _ => self.best_of_all(index, node),
        });
    }

    /// Returns the best proof among the moves of a node once every move has one.
    fn best_of_all(&self, index: NodeIndex, node: &Node) -> Proof {
        let mut best = Proof::Loss;
        let mut proven_count = 0;
        for (_, child) in self.visited_children(index) {
            if child.proof == Proof::Unknown {
                return Proof::Unknown;
            }
            best = best.max(child.proof.flipped());
            proven_count += 1;
        }
        let is_complete = node.stage() == Stage::Ready && proven_count == node.edges().1;
        if is_complete { best } else { Proof::Unknown }
    }

    /// Gives `leaf`, whose legal moves are `moves`, the evaluation of `other`, an evaluated node with the same position.
    /// Returns its value; `None` if the moves are others: then the positions only looked the same.
    pub fn copy_evaluation(
        &self,
        other: NodeIndex,
        leaf: NodeIndex,
        moves: &[M],
        blocks: &mut Blocks,
    ) -> Option<Value> {
        let from = self.node(other);
        if !self.has_priors {
            return Some(from.evaluation());
        }
        if other == leaf || from.stage() != Stage::Ready {
            return None;
        }
        let (first, count) = from.edges();
        let listed = self.moves.slice(first, count).iter().map(|mv| mv.load(Relaxed));
        if count != moves.len() || checksum(listed) != checksum(moves.iter().map(|mv| mv.number())) {
            return None;
        }
        let edges = (0..count).map(|at| EdgeIndex(first + at as u32));
        self.set_edges(leaf, edges.map(|edge| (self.edge_move(edge), self.prior(edge))), blocks);
        Some(from.evaluation())
    }

    /// Returns a tree of what lies at and below `root`, which becomes its root, and the old and new number of each node
    /// in it. Nobody else may be at work.
    pub fn subtree(&self, root: NodeIndex) -> (Self, Vec<(NodeIndex, NodeIndex)>) {
        let kept = Self::new(self.has_priors, Proof::Unknown);
        let mut blocks = Blocks::default();
        let mut numbers = vec![(root, NodeIndex::ROOT)];
        let mut done_count = 0;
        while let Some((old, new)) = numbers.get(done_count).copied() {
            self.copy_node(old, &kept, new, &mut blocks, &mut numbers);
            done_count += 1;
        }
        (kept, numbers)
    }

    /// Copies a node with its edges, and makes room for its children, which are put at the end of `numbers`.
    fn copy_node(
        &self,
        old: NodeIndex,
        kept: &Self,
        new: NodeIndex,
        blocks: &mut Blocks,
        numbers: &mut Vec<(NodeIndex, NodeIndex)>,
    ) {
        let (from, to) = (self.node(old), kept.node(new));
        to.copy(from);
        if from.stage() != Stage::Ready {
            return;
        }
        let (first, count) = from.edges();
        let edge = |at: usize| EdgeIndex(first + at as u32);
        let prior = |edge| if self.has_priors { self.prior(edge) } else { 0.0 };
        kept.set_edges(new, (0..count).map(|at| (self.edge_move(edge(at)), prior(edge(at)))), blocks);
        let copied = to.edges().0;
        for at in 0..from.child_count() {
            let Some(old_child) = self.child(edge(at)) else { continue };
            let new_child = kept.add_child(EdgeIndex(copied + at as u32), Proof::Unknown, Stage::New, blocks);
            numbers.push((old_child, new_child));
        }
        to.set_child_count(from.child_count());
    }
}

/// Returns a number that the same moves give in any order.
fn checksum(numbers: impl Iterator<Item = u16>) -> (u64, u64) {
    numbers.map(u64::from).fold((0, 0), |(sum, squares), number| (sum + number, squares + number * number))
}

impl<M: MoveNumber + Copy> TreeView for Tree<M> {
    type Move = M;

    fn view(&self, index: NodeIndex) -> NodeView {
        self.node(index).view()
    }

    fn edges(&self, index: NodeIndex) -> impl Iterator<Item = Edge<M>> {
        let node = self.node(index);
        let (first, count) = if node.stage() == Stage::Ready { node.edges() } else { (0, 0) };
        (0..count as u32).map(move |at| {
            let edge = EdgeIndex(first + at);
            let prior = if self.has_priors { self.prior(edge) } else { 1.0 / count as f32 };
            Edge { mv: self.edge_move(edge), prior, child: self.child(edge).map(|child| (child, self.view(child))) }
        })
    }
}
