//! One thread's hands in the tree: leaves handed out, answers taken.

use std::sync::atomic::Ordering::Relaxed;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::descent::{Descent, End, Hands};
use super::tree::Blocks;
use super::{Rule, TeamSearch};
use crate::game::{Game, Value};
use crate::search::priors::{mix_noise, take_priors};
use crate::search::view::NodeIndex;
use crate::search::{LeafId, Request, Valuer};
use crate::seed::mix_seed;

/// One thread of a [`TeamSearch`]. Leaves that are awaited when it is dropped are given up.
pub struct Member<'a, G: Game> {
    team: &'a TeamSearch<G>,
    descents: Vec<Descent<G>>,
    hands: Hands,
    /// Scratch: the priors of a leaf as they are given, and as they are kept.
    given: Vec<f32>,
    priors: Vec<f32>,
    /// Scratch: priors of a leaf, and where in the order of the rules they stood.
    order: Vec<(f32, u16)>,
}

impl<'a, G: Game> Member<'a, G> {
    pub(super) fn new(team: &'a TeamSearch<G>, number: u32) -> Self {
        let random = Pcg64Mcg::seed_from_u64(mix_seed(team.seed, number.into()));
        Self {
            team,
            descents: (0..team.settings.leaves_per_game).map(|_| Descent::new(&team.position)).collect(),
            hands: Hands { blocks: Blocks::default(), random, lookup_count: 0, hit_count: 0 },
            given: vec![],
            priors: vec![],
            order: vec![],
        }
    }

    /// Returns the search that this is a hand of.
    #[must_use]
    pub fn team(&self) -> &'a TeamSearch<G> {
        self.team
    }

    /// Goes down the tree once: to a leaf that must be evaluated, or to a known result, which is backed up at once.
    ///
    /// [`Request::Blocked`] if the search is done, if no more leaves may be awaited, or if the way led to where another
    /// thread is at work: then answer the leaves in hand, let the other thread go on, and try again.
    pub fn select_leaf(&mut self) -> Request {
        let Some(slot) = self.descents.iter().position(|descent| !descent.is_awaited) else { return Request::Blocked };
        let Some(root) = self.team.begin_simulation() else { return Request::Blocked };
        let descent = &mut self.descents[slot];
        match descent.go(self.team, root, &mut self.hands) {
            End::Leaf => {
                descent.is_awaited = true;
                Request::Evaluate(LeafId { slot: slot as u32, serial: descent.serial })
            }
            End::Known(value) => {
                self.team.tree.back_up(&descent.path, value);
                Request::Finished
            }
            End::Busy => {
                descent.leave(self.team);
                Request::Blocked
            }
        }
    }

    /// Returns the position of a leaf.
    ///
    /// # Panics
    /// If the leaf is not awaited any more.
    #[must_use]
    pub fn leaf_position(&self, leaf: LeafId) -> &G::Position {
        let slot = self.awaited(leaf).expect("the leaf is awaited");
        &self.descents[slot].position
    }

    /// Returns the legal moves of a leaf, in the order of the rules; by UCB1 none, since leaves have no priors.
    /// None either if the leaf is not awaited any more.
    #[must_use]
    pub fn leaf_moves(&self, leaf: LeafId) -> &[G::Move] {
        self.awaited(leaf).map_or(&[], |slot| &self.descents[slot].moves)
    }

    /// Takes the evaluation of a leaf: `priors` in the order of [`Self::leaf_moves`], `value` for its side to move.
    ///
    /// Priors are scaled to the sum 1. Those that are no distribution become uniform and are counted in
    /// [`TeamSearch::repaired_priors_count`]. An answer for a leaf that is not awaited any more is dropped.
    pub fn expand(&mut self, leaf: LeafId, priors: &[f32], value: Value) {
        let Some(slot) = self.awaited(leaf) else { return };
        if self.team.rule == Rule::Puct {
            self.take_priors(slot, priors);
        }
        let descent = &mut self.descents[slot];
        if let (Some(table), Some(leaf)) = (&self.team.table, descent.path.last()) {
            self.team.tree.node(*leaf).set_evaluation(value);
            table.remember(descent.hash, *leaf);
        }
        self.team.tree.back_up(&descent.path, value);
        descent.free();
    }

    /// Gives a leaf up whose evaluation will not come: no visit is counted, and any thread may be handed it out again.
    /// A leaf that is not awaited any more is passed over.
    pub fn cancel(&mut self, leaf: LeafId) {
        if let Some(slot) = self.awaited(leaf) {
            self.give_up(slot);
        }
    }

    /// Runs one simulation that `valuer` values on the spot. Returns false if there was nothing to do:
    /// see [`Self::select_leaf`].
    pub fn simulate(&mut self, valuer: &mut (impl Valuer<G> + ?Sized)) -> bool {
        match self.select_leaf() {
            Request::Evaluate(leaf) => self.answer(leaf, valuer),
            Request::Finished => {}
            Request::Blocked => return false,
        }
        true
    }

    /// Has `valuer` value a leaf on the spot. A leaf that is not awaited any more is passed over.
    pub fn answer(&mut self, leaf: LeafId, valuer: &mut (impl Valuer<G> + ?Sized)) {
        let Some(slot) = self.awaited(leaf) else { return };
        let Descent { position, played, moves, .. } = &mut self.descents[slot];
        let mut given = std::mem::take(&mut self.given);
        given.clear();
        given.resize(moves.len(), 0.0);
        // Whoever values the position may play on it.
        *played = None;
        let value = valuer.value(&self.team.game, position, moves, &mut given);
        self.expand(leaf, &given, value);
        self.given = given;
    }

    fn awaited(&self, leaf: LeafId) -> Option<usize> {
        let descent = self.descents.get(leaf.slot as usize)?;
        (descent.is_awaited && descent.serial == leaf.serial).then_some(leaf.slot as usize)
    }

    /// Gives the leaf its edges: the highest prior first, of equals in the order of the rules. So the move without a
    /// visit that can score best is always the next.
    fn take_priors(&mut self, slot: usize, given: &[f32]) {
        let Self { team, descents, hands, priors, order, .. } = self;
        let (moves, path) = (&descents[slot].moves, &descents[slot].path);
        priors.clear();
        priors.resize(moves.len(), 0.0);
        if !take_priors(given, priors) {
            team.repaired_priors_count.fetch_add(1, Relaxed);
        }
        let Some(leaf) = path.last() else { return };
        if *leaf == NodeIndex::ROOT && team.settings.has_noise() {
            let mut random = Pcg64Mcg::seed_from_u64(team.seed);
            mix_noise(priors, team.settings.dirichlet_alpha, team.settings.dirichlet_weight, &mut random);
        }
        order.clear();
        order.extend(priors.iter().copied().zip(0..));
        order.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let edges = order.iter().map(|(prior, at)| (moves[usize::from(*at)], *prior));
        team.tree.set_edges(*leaf, edges, &mut hands.blocks);
    }

    fn give_up(&mut self, slot: usize) {
        let descent = &mut self.descents[slot];
        if let (Rule::Puct, Some(leaf)) = (self.team.rule, descent.path.last()) {
            self.team.tree.node(*leaf).give_back();
        }
        descent.leave(self.team);
        descent.free();
    }
}

impl<G: Game> Drop for Member<'_, G> {
    fn drop(&mut self) {
        for slot in 0..self.descents.len() {
            if self.descents[slot].is_awaited {
                self.give_up(slot);
            }
        }
        if let Some(table) = &self.team.table {
            table.count(self.hands.lookup_count, self.hands.hit_count);
        }
    }
}
