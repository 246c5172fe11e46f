//! One simulation of a [`Search`]: down the tree to a leaf, and back up once the leaf is evaluated.

use super::leaf_source::{LeafId, LeafMut, LeafSource, Request};
use super::oracle::proof_of_node;
use super::proof::Proof;
use super::view::{EdgeIndex, NodeIndex, TreeView};
use super::{PendingLeaf, Search, priors, selection};
use crate::game::{Game, Value};

impl<G: Game> LeafSource<G> for Search<G> {
    fn game(&self) -> &G {
        &self.game
    }

    fn select_leaf(&mut self) -> Request {
        let Some(slot) = self.free_slot() else { return Request::Blocked };
        self.path.clear();
        let mut index = NodeIndex::ROOT;
        loop {
            let node = self.tree.node(index);
            if let Some(value) = node.proof.value() {
                self.tree.back_up(index, value);
                return Request::Finished;
            }
            if !node.is_evaluated {
                return if node.pending_count > 0 { Request::Blocked } else { self.hand_out_again(slot, index) };
            }
            let edge = self.select_edge(index);
            self.path.push(self.tree.edge_move(edge));
            match self.tree.child(edge) {
                Some(child) => index = child,
                None => return self.grow(slot, index, edge),
            }
        }
    }

    fn leaf_position(&self, leaf: LeafId) -> &G::Position {
        &self.awaited(leaf).expect("the leaf is awaited").position
    }

    fn leaf_moves(&self, leaf: LeafId) -> &[G::Move] {
        self.tree.moves(self.awaited(leaf).expect("the leaf is awaited").node)
    }

    fn leaf_mut(&mut self, leaf: LeafId) -> LeafMut<'_, G> {
        let slot = self.leaves.awaited_slot(leaf).expect("the leaf is awaited");
        let Self { game, tree, leaves, .. } = self;
        let PendingLeaf { node, position } = leaves.content_mut(slot);
        LeafMut { game, position, moves: tree.moves(*node) }
    }

    /// Priors that are not a distribution are counted in [`Search::repaired_priors_count`].
    fn expand(&mut self, leaf: LeafId, priors: &[f32], value: Value) {
        let Some(index) = self.free(leaf) else { return };
        self.tree.set_evaluated(index);
        let temperature = self.settings.policy_temperature;
        if !priors::take_priors(priors, temperature, self.tree.priors_mut(index)) {
            self.repaired_priors_count += 1;
        }
        if index == NodeIndex::ROOT {
            self.begin_root(value);
        }
        self.tree.back_up(index, value);
    }

    fn cancel(&mut self, leaf: LeafId) {
        self.free(leaf);
    }
}

impl<G: Game> Search<G> {
    /// Returns a slot for one more leaf, unless enough are awaited.
    fn free_slot(&self) -> Option<usize> {
        let is_enough = self.simulation_count() + self.awaited_count() >= self.simulation_count_max;
        if is_enough || self.is_done() {
            return None;
        }
        self.leaves.free_slot()
    }

    fn select_edge(&mut self, index: NodeIndex) -> EdgeIndex {
        let is_root = index == NodeIndex::ROOT;
        let selected = match &self.gumbel {
            Some(gumbel) if is_root => gumbel.select(&self.tree, &self.settings, self.simulation_count_max),
            _ => {
                let unvisited = self.tree.best_unvisited_edge(index);
                if let Some((edge, _)) = unvisited.filter(|_| is_root && self.tries_all) {
                    return edge;
                }
                let (node, visited) = (self.tree.view(index), self.tree.visited_edges(index));
                let is_noisy = is_root && self.is_noisy();
                selection::select_by_puct(&node, visited, unvisited, is_noisy, &self.settings)
            }
        };
        selected.expect("an unproven node has a move that is not lost")
    }

    /// Makes the child of `edge`, whose path is `self.path`.
    fn grow(&mut self, slot: usize, parent: NodeIndex, edge: EdgeIndex) -> Request {
        self.replay_path(slot);
        let position = &self.leaves.content(slot).position;
        let proof = proof_of_node(&self.game, self.oracle.as_deref(), position);
        let child = self.tree.add_child(parent, edge, proof, |moves| {
            if proof == Proof::Unknown {
                self.game.legal_moves(position, moves);
            }
        });
        if let Some(value) = proof.value() {
            self.tree.back_up(child, value);
            return Request::Finished;
        }
        self.hand_out(slot, child)
    }

    /// Hands out a node that was cancelled, or the root.
    fn hand_out_again(&mut self, slot: usize, index: NodeIndex) -> Request {
        self.replay_path(slot);
        self.hand_out(slot, index)
    }

    /// Sets the slot's position to that at the end of `self.path`.
    fn replay_path(&mut self, slot: usize) {
        let position = &mut self.leaves.content_mut(slot).position;
        position.clone_from(&self.position);
        for mv in &self.path {
            self.game.play(position, *mv);
        }
    }

    fn hand_out(&mut self, slot: usize, index: NodeIndex) -> Request {
        self.tree.add_pending(index);
        self.leaves.content_mut(slot).node = index;
        Request::Evaluate(self.leaves.hand_out(slot))
    }

    fn awaited(&self, leaf: LeafId) -> Option<&PendingLeaf<G::Position>> {
        self.leaves.awaited_slot(leaf).map(|slot| self.leaves.content(slot))
    }

    /// Frees the slot of a leaf. Returns its node, `None` if it is not awaited any more.
    fn free(&mut self, leaf: LeafId) -> Option<NodeIndex> {
        let slot = self.leaves.awaited_slot(leaf)?;
        let index = self.leaves.content(slot).node;
        self.leaves.free(slot);
        self.tree.remove_pending(index);
        Some(index)
    }
}
