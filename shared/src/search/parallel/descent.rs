//! One way down the tree, to a leaf or a known result.

use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use super::node::Stage;
use super::tree::Blocks;
use super::{ParallelSearch, Rule};
use crate::game::{Game, Value};
use crate::search::oracle::proof_of_node;
use crate::search::selection::{select_by_puct, select_by_ucb1};
use crate::search::view::{EdgeIndex, NodeIndex, NodeView};

/// What one thread keeps from simulation to simulation.
pub(super) struct ThreadState {
    pub blocks: Blocks,
    pub random: Pcg64Mcg,
    /// Leaves looked for in the table of evaluations, and found.
    pub lookup_count: u64,
    pub hit_count: u64,
}

impl ThreadState {
    pub fn new(random: Pcg64Mcg) -> Self {
        Self { blocks: Blocks::default(), random, lookup_count: 0, hit_count: 0 }
    }
}

/// A way down the tree, and the leaf at its end. Its memory is used again and again.
pub(super) struct Descent<G: Game> {
    pub path: Vec<NodeIndex>,
    pub line: Vec<G::Move>,
    pub position: G::Position,
    /// How many moves of `line` have been played on `position`; `None` if it is something else.
    pub played: Option<usize>,
    /// The legal moves at the leaf, if the search needs priors.
    pub moves: Vec<G::Move>,
    /// The hash by which the leaf's evaluation is found again, if evaluations are shared.
    pub hash: u64,
}

/// Where a descent ends.
pub(super) enum End {
    /// At a leaf that must be evaluated.
    Leaf,
    /// Where the result is known.
    Known(Value),
    /// At a node on which another thread is at work, or that is an awaited leaf of this one; or at a root just proven.
    Busy,
}

impl<G: Game> Descent<G> {
    /// Makes a descent that has not begun.
    pub fn new(position: &G::Position) -> Self {
        Self { path: vec![], line: vec![], position: position.clone(), played: None, moves: vec![], hash: 0 }
    }

    /// Goes down from the root, at which this simulation has arrived and which held `before` then.
    pub fn go(&mut self, search: &ParallelSearch<G>, mut before: NodeView, state: &mut ThreadState) -> End {
        self.path.clear();
        self.line.clear();
        self.moves.clear();
        self.played = None;
        let tree = &search.tree;
        let mut index = NodeIndex::ROOT;
        loop {
            self.path.push(index);
            let node = tree.node(index);
            if let Some(value) = node.proof().value() {
                return self.end_at_proof(value);
            }
            if node.stage() != Stage::Ready
                && let Some(end) = self.open(search, index, &before, state)
            {
                return end;
            }
            let unvisited = tree.next_unvisited(index);
            let selected = select(search, index, &before, unvisited);
            match selected {
                None if tree.prove_by_children(index) => {
                    return self.end_at_proof(node.proof().value().unwrap_or_default());
                }
                None => return End::Busy,
                Some(edge) if selected == unvisited => {
                    if tree.claim_edge(index, edge) {
                        return self.grow(search, edge, state);
                    }
                    // Another thread took the move: look again.
                    self.path.pop();
                }
                Some(edge) => {
                    let Some(child) = tree.child(edge) else { return End::Busy };
                    self.line.push(tree.edge_move(edge));
                    before = tree.node(child).arrive();
                    index = child;
                }
            }
        }
    }

    /// Ends at a node whose result is known. If that is the root, the search has just ended: no simulation is counted.
    fn end_at_proof(&self, value: Value) -> End {
        if self.path.len() > 1 { End::Known(value) } else { End::Busy }
    }

    /// Opens a node that has no edges. Returns how the descent ends there, `None` if the node has edges now.
    fn open(
        &mut self,
        search: &ParallelSearch<G>,
        index: NodeIndex,
        before: &NodeView,
        state: &mut ThreadState,
    ) -> Option<End> {
        let node = search.tree.node(index);
        let is_root = index == NodeIndex::ROOT;
        let is_claimed = match search.rule {
            Rule::Puct => node.claim(),
            // A first visit values the node. So does a visit during which another thread lists its moves.
            Rule::Ucb1 => (is_root || before.visit_count > 0) && node.claim(),
        };
        match (search.rule, is_claimed) {
            (Rule::Puct, true) => {
                self.replay(search);
                Some(self.end_at_leaf(search, index, state))
            }
            (Rule::Puct, false) => Some(End::Busy),
            (Rule::Ucb1, true) => {
                self.replay(search);
                self.list_moves(search, index, state);
                None
            }
            (Rule::Ucb1, false) if is_root => Some(End::Busy),
            (Rule::Ucb1, false) => {
                self.replay(search);
                Some(self.end_at_leaf(search, index, state))
            }
        }
    }

    /// Gives a node its moves in a random order.
    fn list_moves(&mut self, search: &ParallelSearch<G>, index: NodeIndex, state: &mut ThreadState) {
        search.game.legal_moves(&self.position, &mut self.moves);
        self.moves.shuffle(&mut state.random);
        search.tree.set_edges(index, self.moves.iter().map(|mv| (*mv, 0.0)), &mut state.blocks);
        self.moves.clear();
    }

    /// Makes the child of `edge`, which this thread has claimed.
    fn grow(&mut self, search: &ParallelSearch<G>, edge: EdgeIndex, state: &mut ThreadState) -> End {
        self.line.push(search.tree.edge_move(edge));
        self.replay(search);
        let proof = proof_of_node(&search.game, search.oracle.as_deref(), &self.position);
        let stage = if search.rule == Rule::Puct { Stage::Claimed } else { Stage::New };
        let child = search.tree.add_child(edge, proof, stage, &mut state.blocks);
        self.path.push(child);
        proof.value().map_or_else(|| self.end_at_leaf(search, child, state), End::Known)
    }

    /// Ends at a leaf, whose position is at hand: with an evaluation that the tree has already, or without.
    fn end_at_leaf(&mut self, search: &ParallelSearch<G>, leaf: NodeIndex, state: &mut ThreadState) -> End {
        if search.rule == Rule::Puct {
            search.game.legal_moves(&self.position, &mut self.moves);
        }
        let Some(table) = &search.table else { return End::Leaf };
        self.hash = search.game.evaluation_hash(&self.position);
        state.lookup_count += 1;
        // A root may get noise, so it has priors of its own.
        let other = table.find(self.hash).filter(|_| leaf != NodeIndex::ROOT);
        let value = other.and_then(|other| search.tree.copy_evaluation(other, leaf, &self.moves, &mut state.blocks));
        let Some(value) = value else { return End::Leaf };
        state.hit_count += 1;
        search.tree.node(leaf).set_evaluation(value);
        End::Known(value)
    }

    /// Sets the position to that at the end of the line.
    fn replay(&mut self, search: &ParallelSearch<G>) {
        let from = self.played.unwrap_or_else(|| {
            self.position.clone_from(&search.position);
            0
        });
        for mv in &self.line[from..] {
            search.game.play(&mut self.position, *mv);
        }
        self.played = Some(self.line.len());
    }

    /// Takes the simulation back from all nodes that it has arrived at.
    pub fn leave(&self, search: &ParallelSearch<G>) {
        self.path.iter().for_each(|index| search.tree.node(*index).leave());
    }
}

/// Returns the edge that the simulation follows; `None` if every move is lost or another thread's.
fn select<G: Game>(
    search: &ParallelSearch<G>,
    index: NodeIndex,
    node: &NodeView,
    unvisited: Option<EdgeIndex>,
) -> Option<EdgeIndex> {
    let (tree, settings) = (&search.tree, &search.settings);
    match search.rule {
        Rule::Puct => {
            let is_noisy = index == NodeIndex::ROOT && settings.has_noise();
            if unvisited.is_some() && index == NodeIndex::ROOT && search.tries_all {
                return unvisited;
            }
            let unvisited = unvisited.map(|edge| (edge, tree.prior(edge)));
            select_by_puct(node, tree.visited_edges(index), unvisited, is_noisy, settings)
        }
        Rule::Ucb1 => unvisited.or_else(|| select_by_ucb1(node, tree.visited_children(index), settings)),
    }
}
