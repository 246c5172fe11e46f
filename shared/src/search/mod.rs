//! The tree search of AlphaZero with a solver for proven wins and losses.
//!
//! Hands out leaves and takes their evaluations; evaluates nothing itself, knows neither thread nor clock, and the
//! same seed and evaluations give the same tree. How it works and where it comes from: `docs/training.md`.
//!
//! [`Search`] belongs to one thread: a worker owns many. Several threads work on the tree of a [`ParallelSearch`] at once.
//! Both are a [`LeafSource`], whose leaves an [`Evaluator`] evaluates.

mod choice;
mod evaluator;
mod evaluators;
mod gumbel;
mod halving;
mod leaf_source;
mod outline;
mod parallel;
mod preset;
mod priors;
mod proof;
mod report;
mod run;
mod search_settings;
mod selection;
mod tree;
mod view;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::game::{Game, Value};
use crate::setting::SettingError;
use gumbel::GumbelRoot;
use leaf_source::LeafSlots;
use tree::Tree;
use view::{EdgeIndex, NodeIndex, NodeView, TreeView};

pub use evaluator::{Added, EvaluationError, Evaluator, LeafAnswers, simulate};
pub use evaluators::{HeuristicEvaluator, RolloutEvaluator, UniformEvaluator};
pub use leaf_source::{LeafId, LeafMut, LeafSource, Request};
pub use parallel::{PARALLEL_EDGE_BYTES, PARALLEL_NODE_BYTES, ParallelSearch, Rule, SearchThread};
pub use preset::{SearchPreset, SearchPresetError};
pub use proof::Proof;
pub use report::MoveReport;
pub use run::run_search;
pub use search_settings::{RootSelection, SIMULATION_COUNT_MAX, SearchEffort, SearchSettings};
pub use tree::{NODE_BYTES, edge_bytes};

/// The search of one game: the tree below its current position.
///
/// Sides must alternate from ply to ply, as the laws of [`Game`] say.
///
/// ```
/// use shared::game::tictactoe::TicTacToe;
/// use shared::game::{Game, Value};
/// use shared::search::{LeafSource, Proof, Request, Search, SearchSettings};
///
/// let game = TicTacToe;
/// let mut position = game.initial_position();
/// for text in ["b2", "a1", "b3", "a2"] {
///     let mv = game.parse_move(&position, text)?;
///     game.play(&mut position, mv);
/// }
///
/// let settings = SearchSettings::default().for_match(100);
/// let mut search = Search::new(game, position, settings, 1)?;
/// while !search.is_done() {
///     if let Request::Evaluate(leaf) = search.select_leaf() {
///         // A network would evaluate `search.leaf_position(leaf)`; equal priors and an even value do here.
///         let move_count = search.leaf_moves(leaf).len();
///         search.expand(leaf, &vec![1.0 / move_count as f32; move_count], Value::DRAW);
///     }
/// }
/// assert_eq!(search.proof(), Proof::Win);
/// let mv = search.choose_move();
/// assert_eq!(game.format_move(search.position(), mv), "b1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Search<G: Game> {
    game: G,
    settings: SearchSettings,
    effort: SearchEffort,
    /// Simulations at that effort.
    simulation_count_max: u32,
    position: G::Position,
    tree: Tree<G::Move>,
    /// Unless the root is searched by PUCT.
    gumbel: Option<GumbelRoot>,
    leaves: LeafSlots<PendingLeaf<G::Position>>,
    path: Vec<G::Move>,
    random: Pcg64Mcg,
    repaired_priors_count: u64,
}

/// A leaf whose evaluation is awaited.
struct PendingLeaf<P> {
    node: NodeIndex,
    /// Its memory is used again and again.
    position: P,
}

/// Why a search cannot begin.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// There is nothing to search.
    #[error("the game is over at ply {ply}")]
    GameOver {
        /// Plies played.
        ply: u32,
    },
    /// A setting is impossible.
    #[error("search.{0}")]
    Setting(#[from] SettingError),
}

impl<G: Game> Search<G> {
    /// Makes a search of `position`, which must have no outcome. Noise and temperature draw from `seed`.
    ///
    /// # Errors
    /// [`SearchError`] if the game is over or the settings are impossible.
    pub fn new(game: G, position: G::Position, settings: SearchSettings, seed: u64) -> Result<Self, SearchError> {
        settings.check()?;
        if game.outcome(&position).is_some() {
            return Err(SearchError::GameOver { ply: game.ply(&position) });
        }
        let leaf = || PendingLeaf { node: NodeIndex::NONE, position: position.clone() };
        let leaves = LeafSlots::new(settings.leaves_per_game, leaf);
        let random = Pcg64Mcg::seed_from_u64(seed);
        let gumbel = (settings.root == RootSelection::Gumbel).then(GumbelRoot::default);
        let mut search = Self {
            game,
            effort: SearchEffort::Full,
            simulation_count_max: settings.simulation_count,
            settings,
            position,
            tree: Tree::new(),
            gumbel,
            leaves,
            path: vec![],
            random,
            repaired_priors_count: 0,
        };
        search.plant();
        Ok(search)
    }

    /// Returns whether the root has all its simulations, or its result is proven.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let root = self.tree.root();
        root.visit_count >= self.simulation_count_max || root.proof != Proof::Unknown
    }

    /// Sets how thoroughly positions are searched: from the first one on if nothing was searched yet, otherwise from the
    /// next one that is played to. Full unless set.
    pub fn set_effort(&mut self, effort: SearchEffort) {
        self.effort = effort;
        self.simulation_count_max = self.settings.simulation_count_of(effort);
    }

    /// Returns each legal move with its visits, in an order that the same search repeats: by PUCT the policy target.
    ///
    /// If a move is proven to win, only such moves count; moves proven to lose count 0 while there is another.
    #[must_use]
    pub fn visit_counts(&self) -> Vec<(G::Move, u32)> {
        choice::corrected_visits(&self.tree)
    }

    /// Returns a share for each legal move, sum 1: the policy target of [`RootSelection::Gumbel`], better than the priors
    /// however few the simulations. `None` by PUCT; empty if nothing was evaluated.
    ///
    /// If a move is proven to win, only such moves get a share; moves proven to lose get none while there is another.
    #[must_use]
    pub fn improved_policy(&self) -> Option<Vec<(G::Move, f32)>> {
        self.gumbel.as_ref().map(|gumbel| gumbel.improved_policy(&self.tree, &self.settings))
    }

    /// Returns what the position is worth to its side to move: the proven value, otherwise the mean of the simulations,
    /// or with [`RootSelection::Gumbel`] the value of play by [`Self::improved_policy`].
    #[must_use]
    pub fn root_value(&self) -> Value {
        let mean = || self.tree.view(NodeIndex::ROOT).best_known_value();
        self.gumbel.as_ref().map_or_else(mean, |gumbel| gumbel.value(&self.tree, &self.settings))
    }

    /// Returns what is known for certain about the position, from the view of its side to move.
    #[must_use]
    pub fn proof(&self) -> Proof {
        self.tree.root().proof
    }

    /// Returns the best play for both sides as far as the tree knows it.
    #[must_use]
    pub fn principal_variation(&self) -> Vec<G::Move> {
        match &self.gumbel {
            Some(gumbel) => choice::line_from(&self.tree, gumbel.choose(&self.tree, &self.settings)),
            None => choice::principal_variation(&self.tree),
        }
    }

    /// Returns what is known of each legal move: proven wins first, proven losses last, then by visits and prior.
    #[must_use]
    pub fn move_reports(&self) -> Vec<MoveReport<G::Move>> {
        report::move_reports(&self.tree)
    }

    /// Returns the visited tree down to `depth` plies below the root, a line a node: move, prior, visits, value for
    /// its side to move, and what is proven. The most visited move of each node comes first.
    #[must_use]
    pub fn outline(&self, depth: u32) -> String {
        outline::outline(&self.game, &self.tree, &self.position, depth)
    }

    /// Returns the simulations through the root, those kept from the move before included.
    #[must_use]
    pub fn simulation_count(&self) -> u32 {
        self.tree.root().visit_count
    }

    /// Returns how many leaves are awaited.
    #[must_use]
    pub fn awaited_count(&self) -> u32 {
        u32::from(self.tree.root().pending_count)
    }

    /// Returns how many evaluations so far had priors that were no distribution.
    #[must_use]
    pub fn repaired_priors_count(&self) -> u64 {
        self.repaired_priors_count
    }

    /// Returns the number of nodes in the tree.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.tree.node_count()
    }

    /// Returns the bytes the tree holds, spare room included.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.tree.byte_count()
    }

    /// Chooses the move to play: by the temperature of the ply, or with [`RootSelection::Gumbel`] what the halving left
    /// as the best. A proven win is always chosen, a proven loss never while there is another move.
    ///
    /// # Panics
    /// If the game is over.
    pub fn choose_move(&mut self) -> G::Move {
        if let Some(edge) = self.gumbel.as_ref().and_then(|gumbel| gumbel.choose(&self.tree, &self.settings)) {
            return edge.mv;
        }
        let temperature = self.temperature();
        choice::choose(&self.tree, temperature, &mut self.random).expect("a game that goes on has a move")
    }

    /// Plays `mv`, which must be legal: keeps the tree below it, forgets the rest, gives up awaited leaves and mixes
    /// new noise into the root. The game may then be over, see [`Self::is_done`] and [`Game::outcome`].
    ///
    /// [`RootSelection::Gumbel`] begins a new tree unless the position is proven: visits that were not shared out by the
    /// halving would count against the moves that have them. A cache of evaluations answers again what is still of use.
    pub fn play(&mut self, mv: G::Move) {
        while let Some(leaf) = self.leaves.awaited_leaf() {
            self.cancel(leaf);
        }
        self.game.play(&mut self.position, mv);
        let child = self.tree.edges(NodeIndex::ROOT).find(|edge| edge.mv == mv).and_then(|edge| edge.child);
        let is_kept = |node: &NodeView| self.gumbel.is_none() || node.proof != Proof::Unknown;
        match child.filter(|(_, node)| is_kept(node)) {
            Some((child, _)) => self.tree.keep_subtree(child),
            None => self.plant(),
        }
        if !self.tree.root().is_evaluated {
            return;
        }
        match &mut self.gumbel {
            Some(gumbel) => gumbel.begin_proven(&self.tree),
            None => self.mix_noise(),
        }
    }

    /// Returns the position that is searched.
    #[must_use]
    pub fn position(&self) -> &G::Position {
        &self.position
    }

    /// Returns the settings of the search.
    #[must_use]
    pub fn settings(&self) -> &SearchSettings {
        &self.settings
    }

    /// Begins a tree at the current position.
    fn plant(&mut self) {
        let Self { game, position, tree, gumbel, .. } = self;
        gumbel.iter_mut().for_each(GumbelRoot::clear);
        tree.reset(proof_of(game, position), |moves| game.legal_moves(position, moves));
    }

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
        let proof = proof_of(&self.game, position);
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

    /// Prepares a root that was just evaluated.
    fn begin_root(&mut self, network_value: Value) {
        let temperature = self.temperature();
        match &mut self.gumbel {
            Some(gumbel) => gumbel.begin(&mut self.tree, network_value, temperature, &mut self.random),
            None => self.mix_noise(),
        }
    }

    fn temperature(&self) -> f32 {
        self.settings.temperature_at(self.game.ply(&self.position))
    }

    /// Returns whether the priors of the root are mixed with noise.
    fn is_noisy(&self) -> bool {
        self.effort == SearchEffort::Full && self.settings.has_noise()
    }

    fn mix_noise(&mut self) {
        if self.is_noisy() {
            let SearchSettings { dirichlet_alpha, dirichlet_weight, .. } = self.settings;
            let priors = self.tree.priors_mut(NodeIndex::ROOT);
            priors::mix_noise(priors, dirichlet_alpha, dirichlet_weight, &mut self.random);
        }
    }
}

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
        if !priors::take_priors(priors, self.tree.priors_mut(index)) {
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

fn proof_of<G: Game>(game: &G, position: &G::Position) -> Proof {
    game.outcome(position).map_or(Proof::Unknown, |outcome| Proof::of_outcome(outcome, game.side_to_move(position)))
}
