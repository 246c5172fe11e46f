//! One thread of a parallel search: hands out leaves, takes their evaluations.

use std::sync::atomic::Ordering::Relaxed;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::descent::{Descent, End, ThreadState};
use super::{ParallelSearch, Rule};
use crate::game::{Game, Value};
use crate::search::leaf_source::{LeafId, LeafMut, LeafSlots, LeafSource, Request};
use crate::search::priors::{mix_noise, take_priors};
use crate::search::view::NodeIndex;
use crate::seed::mix_seed;

/// One thread of a [`ParallelSearch`]. Leaves that are awaited when it is dropped are cancelled.
pub struct SearchThread<'a, G: Game> {
    search: &'a ParallelSearch<G>,
    leaves: LeafSlots<Descent<G>>,
    state: ThreadState,
    /// Scratch: the priors of a leaf, scaled.
    priors: Vec<f32>,
    /// Scratch: priors of a leaf, and where in the order of the rules they stood.
    order: Vec<(f32, u16)>,
}

impl<'a, G: Game> SearchThread<'a, G> {
    pub(super) fn new(search: &'a ParallelSearch<G>, number: u32) -> Self {
        Self {
            search,
            leaves: LeafSlots::new(search.settings.leaves_per_game, || Descent::new(&search.position)),
            state: ThreadState::new(Pcg64Mcg::seed_from_u64(mix_seed(search.seed, number.into()))),
            priors: vec![],
            order: vec![],
        }
    }

    /// Returns the search that this is a thread of.
    #[must_use]
    pub fn search(&self) -> &'a ParallelSearch<G> {
        self.search
    }

    /// Gives the leaf its edges: the highest prior first, of equals in the order of the rules. So the unvisited move that
    /// can score best is always the next.
    fn take_priors(&mut self, slot: usize, given: &[f32]) {
        let Self { search, leaves, state, priors, order } = self;
        let Descent { moves, path, .. } = leaves.content(slot);
        priors.clear();
        priors.resize(moves.len(), 0.0);
        if !take_priors(given, search.settings.policy_temperature, priors) {
            search.repaired_priors_count.fetch_add(1, Relaxed);
        }
        let Some(leaf) = path.last() else { return };
        if *leaf == NodeIndex::ROOT && search.settings.has_noise() {
            let mut random = Pcg64Mcg::seed_from_u64(search.seed);
            mix_noise(priors, search.settings.dirichlet_alpha, search.settings.dirichlet_weight, &mut random);
        }
        order.clear();
        order.extend(priors.iter().copied().zip(0..));
        order.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let edges = order.iter().map(|(prior, at)| (moves[usize::from(*at)], *prior));
        search.tree.set_edges(*leaf, edges, &mut state.blocks);
    }
}

impl<G: Game> LeafSource<G> for SearchThread<'_, G> {
    fn game(&self) -> &G {
        &self.search.game
    }

    fn select_leaf(&mut self) -> Request {
        let Some(slot) = self.leaves.free_slot() else { return Request::Blocked };
        let Some(root) = self.search.begin_simulation() else { return Request::Blocked };
        let descent = self.leaves.content_mut(slot);
        match descent.go(self.search, root, &mut self.state) {
            End::Leaf => Request::Evaluate(self.leaves.hand_out(slot)),
            End::Known(value) => {
                self.search.tree.back_up(&descent.path, value);
                Request::Finished
            }
            End::Busy => {
                descent.leave(self.search);
                Request::Blocked
            }
        }
    }

    fn leaf_position(&self, leaf: LeafId) -> &G::Position {
        let slot = self.leaves.awaited_slot(leaf).expect("the leaf is awaited");
        &self.leaves.content(slot).position
    }

    fn leaf_moves(&self, leaf: LeafId) -> &[G::Move] {
        let slot = self.leaves.awaited_slot(leaf).expect("the leaf is awaited");
        &self.leaves.content(slot).moves
    }

    fn leaf_mut(&mut self, leaf: LeafId) -> LeafMut<'_, G> {
        let slot = self.leaves.awaited_slot(leaf).expect("the leaf is awaited");
        let Descent { position, played, moves, .. } = self.leaves.content_mut(slot);
        *played = None;
        LeafMut { game: &self.search.game, position, moves }
    }

    /// Priors that are not a distribution are counted in [`ParallelSearch::repaired_priors_count`].
    fn expand(&mut self, leaf: LeafId, priors: &[f32], value: Value) {
        let Some(slot) = self.leaves.awaited_slot(leaf) else { return };
        if self.search.rule == Rule::Puct {
            self.take_priors(slot, priors);
        }
        let descent = self.leaves.content(slot);
        if let (Some(table), Some(node)) = (&self.search.table, descent.path.last()) {
            self.search.tree.node(*node).set_evaluation(value);
            table.remember(descent.hash, *node);
        }
        self.search.tree.back_up(&descent.path, value);
        self.leaves.free(slot);
    }

    fn cancel(&mut self, leaf: LeafId) {
        let Some(slot) = self.leaves.awaited_slot(leaf) else { return };
        let descent = self.leaves.content(slot);
        if let (Rule::Puct, Some(node)) = (self.search.rule, descent.path.last()) {
            self.search.tree.node(*node).give_back();
        }
        descent.leave(self.search);
        self.leaves.free(slot);
    }
}

impl<G: Game> Drop for SearchThread<'_, G> {
    fn drop(&mut self) {
        while let Some(leaf) = self.leaves.awaited_leaf() {
            self.cancel(leaf);
        }
        if let Some(table) = &self.search.table {
            table.count(self.state.lookup_count, self.state.hit_count);
        }
    }
}
