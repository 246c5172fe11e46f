//! One leased game: its search trees, the leaves that wait for evaluations, and the plies that it plays.

use std::sync::Arc;

use shared::encoding::Encoding;
use shared::game::{Game, Value};
use shared::ids::NetworkRef;
use shared::record::{PlyRecord, searched_ply};
use shared::search::{Added, EvaluationError, LeafId, LeafSource, Request, Search, SearchEffort, SharedOracle};
use shared::seed::mix_seed;
use shared::wire::{ReportedPly, ply_to_proto};

use crate::channels::PlyReport;
use crate::counters::count;
use crate::held_leases::HeldLease;
use crate::leaf_batcher::{AddLeafError, LeafBatcher, LeafOrigin, Stopping};
use crate::lease_terms::{LeaseError, LeaseTerms};

/// Most simulations of one game in a turn, if all its leaves are answered from the cache.
const TURN_SIMULATION_COUNT_MAX: u32 = 4096;

/// The state of a game after its turn.
#[derive(Debug)]
pub(crate) enum Step {
    /// It waits for evaluations.
    Waiting,
    /// It could go on, but its turn is over.
    Ready,
    /// It has an outcome, and all its plies were passed to the reporting task; or a side resigned, and the learner ended it.
    Finished,
    /// This worker no longer holds its lease.
    LeaseLost,
    /// It cannot go on.
    Failed(GameFailure),
}

/// Why a game is dropped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GameFailure {
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    #[error("the search selects no leaf and is not done")]
    NoLeaf,
}

/// A leaf that waits for its evaluation. Leaves are expanded in the order of their selection, cached or not, so that
/// the same seed gives the same game.
#[derive(Debug)]
struct AwaitedLeaf {
    tree: usize,
    leaf: LeafId,
    priors_start: usize,
    move_count: usize,
    value: Option<Value>,
}

/// A game that this worker plays.
pub(crate) struct LeasedGame<E: Encoding> {
    pub(crate) lease: Arc<HeldLease>,
    /// One tree for both sides, or one for each if their networks differ: a tree holds evaluations of one network.
    searches: Vec<Search<E::Game>>,
    networks: [NetworkRef; 2],
    /// The game's seed, if the policy learns from it: then some plies may be searched fast.
    self_play_seed: Option<u64>,
    /// Plies played so far; says nothing about the side to move, since a start position may have Black to move.
    ply_count: u32,
    awaited: Vec<AwaitedLeaf>,
    priors: Vec<f32>,
    failure: Option<EvaluationError>,
}

impl<E: Encoding> LeasedGame<E> {
    /// Sets up the game of a lease and replays its plies. If it is of self-play, its searches ask `oracle`.
    ///
    /// # Errors
    /// [`LeaseError`] if the lease cannot be played.
    pub(crate) fn new(
        encoding: &E,
        oracle: Option<&SharedOracle<E::Game>>,
        held: Arc<HeldLease>,
        lease: &proto::Lease,
    ) -> Result<Self, LeaseError> {
        let game = encoding.game();
        let terms = LeaseTerms::from_proto(game, lease)?;
        let LeaseTerms { settings, networks, seed: game_seed, is_self_play, position, ply_count } = terms;
        let self_play_seed = is_self_play.then_some(game_seed);
        let tree_count = if networks[0] == networks[1] { 1 } else { 2 };
        let search = |tree: u64| {
            let seed = mix_seed(game_seed, u64::from(ply_count) << 1 | tree);
            let search = Search::new(game.clone(), position.clone(), settings.clone(), seed)?;
            Ok::<_, LeaseError>(search.with_oracle(oracle.filter(|_| is_self_play).cloned()))
        };
        let searches = (0..tree_count).map(search).collect::<Result<_, _>>()?;
        let (awaited, priors) = (vec![], vec![]);
        let mut leased =
            Self { lease: held, searches, networks, self_play_seed, ply_count, awaited, priors, failure: None };
        leased.prepare_ply();
        Ok(leased)
    }

    /// Searches and plays until leaves wait for evaluations, or the turn is over.
    ///
    /// # Errors
    /// [`Stopping`] if the process is stopping.
    pub(crate) fn advance(&mut self, batcher: &mut LeafBatcher<E>, game_index: usize) -> Result<Step, Stopping> {
        if let Some(error) = self.failure.take() {
            return Ok(Step::Failed(error.into()));
        }
        if !self.expand_answered() {
            return Ok(Step::Waiting);
        }
        for _ in 0..TURN_SIMULATION_COUNT_MAX {
            let tree = self.tree_to_move(batcher.encoding.game());
            match self.searches[tree].select_leaf() {
                Request::Finished => {}
                Request::Evaluate(leaf) => {
                    match self.await_leaf(batcher, tree, leaf, game_index) {
                        Ok(()) => {}
                        Err(AddLeafError::Evaluation(error)) => {
                            // Dropped in its next turn: until then a batch may name this game by its index.
                            self.fail(error);
                            return Ok(Step::Waiting);
                        }
                        Err(AddLeafError::Stopping(stopping)) => return Err(stopping),
                    }
                }
                Request::Blocked if !self.awaited.is_empty() => {
                    if !self.expand_answered() {
                        return Ok(Step::Waiting);
                    }
                }
                Request::Blocked if self.searches[tree].is_done() => {
                    if self.play_ply(batcher, tree)? {
                        return Ok(Step::Finished);
                    }
                }
                Request::Blocked => return Ok(Step::Failed(GameFailure::NoLeaf)),
            }
        }
        Ok(if self.is_answered() { Step::Ready } else { Step::Waiting })
    }

    /// Takes the evaluation of a leaf from the answer to a batch.
    pub(crate) fn take_evaluation(&mut self, leaf_index: usize, priors: &[f32], value: Value) {
        let Some(awaited) = self.awaited.get_mut(leaf_index) else { return };
        if priors.len() == awaited.move_count {
            self.priors[awaited.priors_start..][..priors.len()].copy_from_slice(priors);
            awaited.value = Some(value);
        } else {
            let reason = format!("{} priors for {} moves", priors.len(), awaited.move_count);
            self.fail(EvaluationError::InvalidAnswer(reason));
        }
    }

    /// Gives the game up in its next turn: an evaluation will not come.
    pub(crate) fn fail(&mut self, error: EvaluationError) {
        self.failure = Some(error);
    }

    fn tree_to_move(&self, game: &E::Game) -> usize {
        if self.searches.len() == 1 { 0 } else { game.side_to_move(self.searches[0].position()).index() }
    }

    fn await_leaf(
        &mut self,
        batcher: &mut LeafBatcher<E>,
        tree: usize,
        leaf: LeafId,
        game_index: usize,
    ) -> Result<(), AddLeafError> {
        let search = &self.searches[tree];
        let (position, moves) = (search.leaf_position(leaf), search.leaf_moves(leaf));
        // The network of the side to move at the root evaluates all leaves of the tree, whoever moves there.
        let side = batcher.encoding.game().side_to_move(search.position());
        let origin = LeafOrigin { game_index, leaf_index: self.awaited.len() };
        let (priors_start, move_count) = (self.priors.len(), moves.len());
        self.priors.resize(priors_start + move_count, 0.0);
        let priors = &mut self.priors[priors_start..];
        let value = match batcher.add_leaf(self.networks[side.index()], (position, moves), origin, priors)? {
            Added::Answered(value) => Some(value),
            Added::Enqueued => None,
        };
        self.awaited.push(AwaitedLeaf { tree, leaf, priors_start, move_count, value });
        Ok(())
    }

    fn is_answered(&self) -> bool {
        self.awaited.iter().all(|awaited| awaited.value.is_some())
    }

    /// Expands the awaited leaves if all are answered. Returns whether they were.
    fn expand_answered(&mut self) -> bool {
        if !self.is_answered() {
            return false;
        }
        for awaited in self.awaited.drain(..) {
            let Some(value) = awaited.value else { continue };
            let priors = &self.priors[awaited.priors_start..][..awaited.move_count];
            self.searches[awaited.tree].expand(awaited.leaf, priors, value);
        }
        self.priors.clear();
        true
    }

    /// Tells the searches how thoroughly the next position is to be searched.
    fn prepare_ply(&mut self) {
        let effort = self.effort();
        self.searches.iter_mut().for_each(|search| search.set_effort(effort));
    }

    /// Returns how thoroughly the ply is searched that is played next. It follows from the game's seed, so that whoever
    /// goes on with the game does the same.
    fn effort(&self) -> SearchEffort {
        let settings = self.searches[0].settings();
        self.self_play_seed.map_or(SearchEffort::Full, |seed| settings.effort_at(seed, self.ply_count))
    }

    /// Plays the move that the search chose and reports it. Returns whether the game is over.
    fn play_ply(&mut self, batcher: &mut LeafBatcher<E>, tree: usize) -> Result<bool, Stopping> {
        let game = batcher.encoding.game();
        let makes_target = self.self_play_seed.is_some() && self.effort() == SearchEffort::Full;
        let search = &mut self.searches[tree];
        let side = game.side_to_move(search.position());
        let mv = search.choose_move();
        let reported = ReportedPly {
            game_id: self.lease.game_id,
            ply: self.ply_count,
            record: PlyRecord {
                network_id: Some(batcher.resolve(self.networks[side.index()])),
                ..searched_ply(&batcher.encoding, search, mv, makes_target)
            },
        };
        self.ply_count += 1;
        self.prepare_ply();
        for search in &mut self.searches {
            search.play(mv);
        }
        let is_over = game.outcome(self.searches[0].position()).is_some();
        let report = PlyReport { lease: self.lease.clone(), ply: ply_to_proto(&reported) };
        batcher.senders.reports.blocking_send(report).map_err(|_| Stopping)?;
        count(&batcher.state.counters.ply_count, 1);
        Ok(is_over)
    }
}
