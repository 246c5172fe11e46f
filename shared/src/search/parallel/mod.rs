//! Several threads on one tree: for play and analysis, by PUCT as [`super::Search`] does it, or by UCB1.
//!
//! [`ParallelSearch`] is the tree below a position, [`SearchThread`] what one thread works on it with; the caller makes the
//! threads. One thread gives exactly the tree of [`super::Search`]. How several work together: `docs/training.md`.

mod arena;
mod descent;
mod node;
mod table;
mod thread;
mod tree;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::oracle::{SharedOracle, proof_of, tries_all};
use super::proof::Proof;
use super::report::MoveReport;
use super::search_settings::{RootSelection, SearchSettings};
use super::view::{NodeIndex, NodeView, TreeView};
use super::{SearchError, choice, mean_depth, outline, report};
use crate::game::{Game, Value};
use crate::setting::check_that;
use node::Stage;
use table::Table;
use tree::Tree;

pub use node::PARALLEL_NODE_BYTES;
pub use thread::SearchThread;
pub use tree::PARALLEL_EDGE_BYTES;

/// By which formula a simulation goes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Prior and value: each leaf gets a prior for each move. The root is a leaf at first.
    Puct,
    /// Value alone: leaves have no priors, and moves without a visit come first, in a random order.
    Ucb1,
}

/// The search of one game by several threads: the tree below its current position.
///
/// Sides must alternate from ply to ply, as the laws of [`Game`] say.
///
/// ```
/// use shared::game::Game;
/// use shared::game::tictactoe::TicTacToe;
/// use shared::search::{ParallelSearch, RolloutEvaluator, Rule, SearchSettings, simulate};
///
/// let settings = SearchSettings::default().for_match(1_000);
/// let search = ParallelSearch::new(TicTacToe, TicTacToe.initial_position(), Rule::Puct, settings, 1)?;
/// std::thread::scope(|scope| {
///     for number in 0..2 {
///         let search = &search;
///         scope.spawn(move || {
///             let mut thread = search.thread(number);
///             let mut evaluator = RolloutEvaluator::new(number.into());
///             while !search.is_done() {
///                 // False: other threads are at work wherever this one would go.
///                 if !simulate(&mut thread, &mut evaluator).expect("rollouts do not fail") {
///                     std::thread::yield_now();
///                 }
///             }
///         });
///     }
/// });
/// assert_eq!(search.simulation_count(), 1_000);
/// # Ok::<(), shared::search::SearchError>(())
/// ```
pub struct ParallelSearch<G: Game> {
    game: G,
    /// What knows results before the game ends, if anything does.
    oracle: Option<SharedOracle<G>>,
    /// Whether each move of the root is tried once before any is again.
    tries_all: bool,
    rule: Rule,
    settings: SearchSettings,
    position: G::Position,
    tree: Tree<G::Move>,
    table: Option<Table>,
    seed: u64,
    random: Pcg64Mcg,
    repaired_priors_count: AtomicU64,
}

impl<G: Game> ParallelSearch<G> {
    /// Makes a search of `position`, which must have no outcome. Whatever is drawn at random follows from `seed`.
    ///
    /// # Errors
    /// [`SearchError`] if the game is over or the settings are impossible.
    pub fn new(
        game: G,
        position: G::Position,
        rule: Rule,
        settings: SearchSettings,
        seed: u64,
    ) -> Result<Self, SearchError> {
        // By UCB1 one simulation is enough for a move: the root needs none.
        let spare = u32::from(rule == Rule::Ucb1 && settings.simulation_count == 1);
        SearchSettings { simulation_count: settings.simulation_count + spare, ..settings.clone() }.check()?;
        check_that("root", settings.root == RootSelection::Puct, || "gumbel is for the search of one thread")?;
        if game.outcome(&position).is_some() {
            return Err(SearchError::GameOver { ply: game.ply(&position) });
        }
        let tree = Tree::new(rule == Rule::Puct, Proof::Unknown);
        let random = Pcg64Mcg::seed_from_u64(seed);
        let (oracle, tries_all, table, repaired_priors_count) = (None, false, None, AtomicU64::new(0));
        Ok(Self { game, oracle, tries_all, rule, settings, position, tree, table, seed, random, repaired_priors_count })
    }

    /// Asks `oracle` about each node from now on, those at the root aside.
    #[must_use]
    pub fn with_oracle(mut self, oracle: Option<SharedOracle<G>>) -> Self {
        self.tries_all = tries_all(oracle.as_deref(), &self.position);
        self.oracle = oracle;
        self
    }

    /// Shares evaluations from now on: a position that is reached by another order of moves is not evaluated again.
    /// The table takes `byte_count` bytes, rounded down to a power of two; 0 = nothing is shared. Do not share random
    /// rollouts: the mean of two says more than one.
    pub fn share_evaluations(&mut self, byte_count: usize) {
        self.table = (byte_count > 0).then(|| Table::new(byte_count));
    }

    /// Returns how many leaves were looked for in the table of evaluations, and how many were found, by the members that
    /// have been dropped.
    #[must_use]
    pub fn shared_evaluation_counts(&self) -> (u64, u64) {
        self.table.as_ref().map_or((0, 0), Table::counts)
    }

    /// Sets how many simulations the root shall have, those that it has included.
    pub fn set_simulation_count(&mut self, simulation_count: u32) {
        self.settings.simulation_count = simulation_count;
    }

    /// Returns what one thread searches with. Each thread has a `number` of its own.
    #[must_use]
    pub fn thread(&self, number: u32) -> SearchThread<'_, G> {
        SearchThread::new(self, number)
    }

    /// Returns whether the root has all its simulations, or its result is proven.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let root = self.root();
        root.visit_count >= self.settings.simulation_count || root.proof != Proof::Unknown
    }

    /// Returns each legal move with its visits, as [`super::Search::visit_counts`] does. Empty before the first
    /// simulation.
    #[must_use]
    pub fn visit_counts(&self) -> Vec<(G::Move, u32)> {
        choice::corrected_visits(&self.tree)
    }

    /// Returns what the position is worth to its side to move: the proven value, otherwise the mean of the simulations.
    #[must_use]
    pub fn root_value(&self) -> Value {
        self.root().best_known_value()
    }

    /// Returns what is known for certain about the position, from the view of its side to move.
    #[must_use]
    pub fn proof(&self) -> Proof {
        self.root().proof
    }

    /// Returns the best play for both sides as far as the tree knows it.
    #[must_use]
    pub fn principal_variation(&self) -> Vec<G::Move> {
        choice::principal_variation(&self.tree)
    }

    /// Returns `mv` and the best play for both sides after it as far as the tree knows it; empty if it was never tried.
    #[must_use]
    pub fn line_of(&self, mv: G::Move) -> Vec<G::Move> {
        choice::line_of(&self.tree, &mv)
    }

    /// Returns what is known of each legal move: proven wins first, proven losses last, then by visits and prior.
    #[must_use]
    pub fn move_reports(&self) -> Vec<MoveReport<G::Move>> {
        report::move_reports(&self.tree)
    }

    /// Returns the visited tree as text, as [`super::Search::outline`] does.
    #[must_use]
    pub fn outline(&self, depth: u32) -> String {
        outline::outline(&self.game, &self.tree, &self.position, depth)
    }

    /// Returns the simulations through the root, those kept from the move before included.
    #[must_use]
    pub fn simulation_count(&self) -> u32 {
        self.root().visit_count
    }

    /// Returns the mean number of plies from the root to the leaf of a simulation, of a large tree about so.
    #[must_use]
    pub fn mean_depth(&self) -> f64 {
        mean_depth::mean_depth(&self.tree)
    }

    /// Returns how many simulations are under way.
    #[must_use]
    pub fn awaited_count(&self) -> u32 {
        self.root().pending_count
    }

    /// Returns how many evaluations so far had priors that were no distribution.
    #[must_use]
    pub fn repaired_priors_count(&self) -> u64 {
        self.repaired_priors_count.load(Relaxed)
    }

    /// Counts the nodes of the tree and their edges, one by one.
    #[must_use]
    pub fn count_nodes_and_edges(&self) -> (usize, usize) {
        let (mut node_count, mut edge_count) = (0, 0);
        let mut open = vec![NodeIndex::ROOT];
        while let Some(index) = open.pop() {
            node_count += 1;
            for edge in self.tree.edges(index) {
                edge_count += 1;
                open.extend(edge.child.map(|(child, _)| child));
            }
        }
        (node_count, edge_count)
    }

    /// Returns the bytes the tree holds, spare room included.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.tree.byte_count()
    }

    /// Chooses the move to play, by the temperature of the ply. A proven win is always chosen, a proven loss never
    /// while there is another move. `None` before the first simulation.
    pub fn choose_move(&mut self) -> Option<G::Move> {
        let temperature = self.settings.temperature_at(self.game.ply(&self.position));
        choice::choose(&self.tree, temperature, &mut self.random)
    }

    /// Plays `mv`, which must be legal: keeps the tree below it and forgets the rest. The game may then be over, see
    /// [`Self::is_done`] and [`Game::outcome`]. A root that is kept gets no noise: noise is for self-play.
    pub fn play(&mut self, mv: G::Move) {
        self.game.play(&mut self.position, mv);
        self.tries_all = tries_all(self.oracle.as_deref(), &self.position);
        let child = self.tree.edges(NodeIndex::ROOT).find(|edge| edge.mv == mv).and_then(|edge| edge.child);
        // What an oracle knows has no moves.
        let is_over = self.game.outcome(&self.position).is_some();
        let has_moves = |child| self.tree.node(child).stage() == Stage::Ready;
        let is_told = |child, view: NodeView| view.proof != Proof::Unknown && !has_moves(child) && !is_over;
        let (tree, numbers) = match child {
            Some((child, view)) if !is_told(child, view) => self.tree.subtree(child),
            _ => (Tree::new(self.tree.has_priors(), proof_of(&self.game, &self.position)), vec![]),
        };
        self.tree = tree;
        if let Some(table) = &mut self.table {
            let old_count = numbers.iter().map(|(old, _)| old.0 as usize + 1).max().unwrap_or(0);
            let mut new_numbers = vec![None; old_count];
            numbers.into_iter().for_each(|(old, new)| new_numbers[old.0 as usize] = Some(new));
            table.renumber(|old| new_numbers.get(old.0 as usize).copied().flatten());
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

    /// Returns the formula of the search.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
    }

    fn root(&self) -> NodeView {
        self.tree.view(NodeIndex::ROOT)
    }

    /// Begins one more simulation at the root, unless enough are done or under way. Returns what the root held before.
    fn begin_simulation(&self) -> Option<NodeView> {
        let root = self.tree.root();
        if root.proof() != Proof::Unknown {
            return None;
        }
        let before = root.arrive();
        if before.visit_count + before.pending_count < self.settings.simulation_count {
            return Some(before);
        }
        root.leave();
        None
    }
}
