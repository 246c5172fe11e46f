//! The tree search of AlphaZero with a solver for proven wins and losses.
//!
//! Hands out leaves and takes their evaluations; evaluates nothing itself, knows neither thread nor clock, and the
//! same seed and evaluations give the same tree. How it works and where it comes from: `docs/training.md`.
//!
//! [`Search`] belongs to one thread: a worker owns many. Several threads work on the tree of a [`ParallelSearch`] at once.
//! Both are a [`LeafSource`], whose leaves an [`Evaluator`] evaluates.

mod choice;
mod descent;
mod evaluator;
mod evaluators;
mod gumbel;
mod halving;
mod leaf_source;
mod mean_depth;
mod oracle;
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
use oracle::{proof_of, tries_all};
use tree::Tree;
use view::{NodeIndex, NodeView, TreeView};

pub use evaluator::{Added, EvaluationError, Evaluator, LeafAnswers, simulate};
pub use evaluators::{HeuristicEvaluator, RolloutEvaluator, UniformEvaluator};
pub use leaf_source::{LeafId, LeafMut, LeafSource, Request};
pub use oracle::{Oracle, SharedOracle};
pub use parallel::{PARALLEL_EDGE_BYTES, PARALLEL_NODE_BYTES, ParallelSearch, Rule, SearchThread};
pub use preset::{SearchPreset, SearchPresetError};
pub use proof::Proof;
pub use report::MoveReport;
pub use run::{run_search, select_leaves};
pub use search_settings::{FirstPlayUrgency, RootSelection, SIMULATION_COUNT_MAX, SearchEffort, SearchSettings};
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
    /// What knows results before the game ends, if anything does.
    oracle: Option<SharedOracle<G>>,
    /// Whether each move of the root is tried once before any is again.
    tries_all: bool,
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
            oracle: None,
            tries_all: false,
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

    /// Asks `oracle` about each node from now on, those at the root aside.
    #[must_use]
    pub fn with_oracle(mut self, oracle: Option<SharedOracle<G>>) -> Self {
        self.tries_all = tries_all(oracle.as_deref(), &self.position);
        self.oracle = oracle;
        self
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
        self.tries_all = tries_all(self.oracle.as_deref(), &self.position);
        let child = self.tree.edges(NodeIndex::ROOT).find(|edge| edge.mv == mv).and_then(|edge| edge.child);
        let is_over = self.game.outcome(&self.position).is_some();
        let is_kept = |(child, node): &(NodeIndex, NodeView)| {
            let is_proven = node.proof != Proof::Unknown;
            // What an oracle knows has no moves.
            let is_told = is_proven && !self.tree.node(*child).is_evaluated && !is_over;
            !is_told && (self.gumbel.is_none() || is_proven)
        };
        match child.filter(is_kept) {
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
