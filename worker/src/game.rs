//! One game in hand: its trees, the leaves it waits for, and the plies it plays.

use std::sync::Arc;

use shared::encoding::{Encoding, Mv, Pos};
use shared::game::{Game, MoveError, StartError, Value};
use shared::record::{PlyRecord, PolicyTarget};
use shared::search::{LeafId, Request, Search, SearchError};
use shared::seed::mix_seed;
use shared::wire::{ReportedPly, WireError, ply_to_proto, search_settings_from_proto};

use crate::counters::count;
use crate::desk::{AskError, Closed, Desk, Spot};
use crate::messages::Report;
use crate::tickets::Ticket;

/// Simulations of one game before others have their turn, if none of its leaves must wait.
const TURN_SIMULATION_COUNT_MAX: u32 = 4096;

/// Why a leased game cannot be played.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LeaseError {
    #[error("no search settings")]
    NoSettings,
    #[error("unknown kind of game {0}")]
    Kind(i32),
    #[error(transparent)]
    Settings(#[from] WireError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Move(#[from] MoveError),
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// How far a game came in its turn.
#[derive(Debug)]
pub(crate) enum Step {
    /// It waits for evaluations.
    Waiting,
    /// It could go on, but others wait for their turn.
    Ready,
    /// It has an outcome, and all its plies are with the reporting task.
    Over,
    /// It is another worker's now, or nobody's.
    Lost,
    /// It cannot go on, for this reason.
    Broken(String),
}

/// A leaf that waits for its evaluation. Leaves are expanded in the order in which they were selected, whatever was
/// remembered: so the same seed gives the same game.
#[derive(Debug)]
struct AwaitedLeaf {
    tree: usize,
    leaf: LeafId,
    priors_start: usize,
    move_count: usize,
    value: Option<f32>,
}

/// A game that this worker plays.
pub(crate) struct GameInHand<E: Encoding> {
    pub(crate) ticket: Arc<Ticket>,
    /// One tree for both sides, or one for each if they are different networks: a tree holds one network's views.
    searches: Vec<Search<E::Game>>,
    network_ids: [u32; 2],
    makes_targets: bool,
    /// Plies so far; a game that began with Black to move counts them otherwise.
    ply_count: u32,
    awaited: Vec<AwaitedLeaf>,
    priors: Vec<f32>,
    failure: Option<String>,
}

impl<E: Encoding> GameInHand<E> {
    /// Sets up the game of a lease, from the plies it has.
    ///
    /// # Errors
    /// [`LeaseError`] if the lease cannot be played.
    pub(crate) fn new(encoding: &E, ticket: Arc<Ticket>, lease: &proto::Lease) -> Result<Self, LeaseError> {
        let settings = search_settings_from_proto(lease.search.as_ref().ok_or(LeaseError::NoSettings)?)?;
        let makes_targets = match proto::GameKind::try_from(lease.kind) {
            Ok(proto::GameKind::SelfPlay) => true,
            Ok(proto::GameKind::Gate) => false,
            _ => return Err(LeaseError::Kind(lease.kind)),
        };
        let game = encoding.game();
        let position = position_after(game, &lease.start_position, &lease.moves)?;
        let ply_count = lease.moves.len() as u32;
        let network_ids = [lease.white_network_id, lease.black_network_id];
        let tree_count = if network_ids[0] == network_ids[1] { 1 } else { 2 };
        let search = |tree: u64| {
            let seed = mix_seed(lease.seed, u64::from(ply_count) << 1 | tree);
            Search::new(game.clone(), position.clone(), settings.clone(), seed)
        };
        let searches = (0..tree_count).map(search).collect::<Result<_, _>>()?;
        let (awaited, priors) = (vec![], vec![]);
        Ok(Self { ticket, searches, network_ids, makes_targets, ply_count, awaited, priors, failure: None })
    }

    /// Searches and plays until leaves must be waited for.
    ///
    /// # Errors
    /// [`Closed`] if the process is stopping.
    pub(crate) fn advance(&mut self, desk: &mut Desk<E>, game_index: usize) -> Result<Step, Closed> {
        if let Some(reason) = self.failure.take() {
            return Ok(Step::Broken(reason));
        }
        if !self.expand_answered() {
            return Ok(Step::Waiting);
        }
        for _ in 0..TURN_SIMULATION_COUNT_MAX {
            let tree = self.tree_to_move(desk.encoding.game());
            match self.searches[tree].select_leaf() {
                Request::Finished => {}
                Request::Evaluate(leaf) => {
                    match self.await_leaf(desk, tree, leaf, game_index) {
                        Ok(()) => {}
                        Err(AskError::Wire(error)) => {
                            // Dropped in its next turn: until then the batch may name this game by its place.
                            self.fail(error.to_string());
                            return Ok(Step::Waiting);
                        }
                        Err(AskError::Closed(closed)) => return Err(closed),
                    }
                }
                Request::Blocked if !self.awaited.is_empty() => {
                    if !self.expand_answered() {
                        return Ok(Step::Waiting);
                    }
                }
                Request::Blocked if self.searches[tree].is_done() => {
                    if self.play_ply(desk, tree)? {
                        return Ok(Step::Over);
                    }
                }
                Request::Blocked => return Ok(Step::Broken("the search hands out no leaf".into())),
            }
        }
        Ok(if self.is_answered() { Step::Ready } else { Step::Waiting })
    }

    /// Takes the evaluation of a leaf that came in a batch.
    pub(crate) fn answer(&mut self, leaf: usize, priors: &[f32], value: f32) {
        let Some(awaited) = self.awaited.get_mut(leaf) else { return };
        if priors.len() == awaited.move_count {
            self.priors[awaited.priors_start..][..priors.len()].copy_from_slice(priors);
            awaited.value = Some(value);
        } else {
            let reason = format!("{} priors for {} moves", priors.len(), awaited.move_count);
            self.fail(reason);
        }
    }

    /// Gives the game up: an evaluation will not come.
    pub(crate) fn fail(&mut self, reason: String) {
        self.failure = Some(reason);
    }

    fn tree_to_move(&self, game: &E::Game) -> usize {
        if self.searches.len() == 1 { 0 } else { game.side_to_move(self.searches[0].position()).index() }
    }

    fn await_leaf(&mut self, desk: &mut Desk<E>, tree: usize, leaf: LeafId, game_index: usize) -> Result<(), AskError> {
        let search = &self.searches[tree];
        let (position, moves) = (search.leaf_position(leaf), search.leaf_moves(leaf));
        // The network of the side whose ply is searched sees all leaves of its tree, those of the other side too.
        let side = desk.encoding.game().side_to_move(search.position());
        let spot = Spot { game: game_index, leaf: self.awaited.len() };
        let (priors_start, move_count) = (self.priors.len(), moves.len());
        self.priors.resize(priors_start + move_count, 0.0);
        let priors = &mut self.priors[priors_start..];
        let value = desk.ask(self.network_ids[side.index()], (position, moves), spot, priors)?;
        self.awaited.push(AwaitedLeaf { tree, leaf, priors_start, move_count, value });
        Ok(())
    }

    fn is_answered(&self) -> bool {
        self.awaited.iter().all(|awaited| awaited.value.is_some())
    }

    /// Expands the awaited leaves once all are answered. Returns whether none is awaited any more.
    fn expand_answered(&mut self) -> bool {
        if !self.is_answered() {
            return false;
        }
        for awaited in self.awaited.drain(..) {
            let Some(value) = awaited.value else { continue };
            let priors = &self.priors[awaited.priors_start..][..awaited.move_count];
            self.searches[awaited.tree].expand(awaited.leaf, priors, Value::new(value));
        }
        self.priors.clear();
        true
    }

    /// Plays the move that the search found and reports it. Returns whether the game is over.
    fn play_ply(&mut self, desk: &mut Desk<E>, tree: usize) -> Result<bool, Closed> {
        let game = desk.encoding.game();
        let search = &mut self.searches[tree];
        let side = game.side_to_move(search.position());
        let mv = search.choose_move();
        let reported = ReportedPly {
            game_id: self.ticket.game_id,
            ply: self.ply_count,
            record: PlyRecord {
                move_text: game.format_move(search.position(), mv),
                policy_target: if self.makes_targets { policy_target(&desk.encoding, search) } else { None },
                root_value: search.root_value().get(),
                simulation_count: search.simulation_count(),
                network_id: desk.resolve(self.network_ids[side.index()]),
            },
        };
        self.ply_count += 1;
        for search in &mut self.searches {
            search.play(mv);
        }
        let is_over = game.outcome(self.searches[0].position()).is_some();
        let report = Report { ticket: self.ticket.clone(), ply: ply_to_proto(&reported) };
        desk.outlets.reports.blocking_send(report).map_err(|_| Closed)?;
        count(&desk.shared.counters.ply_count, 1);
        Ok(is_over)
    }
}

fn position_after<G: Game>(game: &G, start: &str, moves: &[String]) -> Result<G::Position, LeaseError> {
    let mut position = game.start_position((!start.is_empty()).then_some(start))?;
    for text in moves {
        let mv = game.parse_move(&position, text)?;
        game.play(&mut position, mv);
    }
    Ok(position)
}

/// Returns what the policy learns from the root; `None` if nothing was visited, as in a proven position.
fn policy_target<E: Encoding>(encoding: &E, search: &Search<E::Game>) -> Option<PolicyTarget> {
    let position: &Pos<E> = search.position();
    let (moves, visit_counts): (Vec<Mv<E>>, Vec<u32>) = search.visit_counts().into_iter().unzip();
    let mut policy_indices = Vec::with_capacity(moves.len());
    encoding.policy_indices(position, &moves, &mut policy_indices);
    PolicyTarget::from_visits(policy_indices.into_iter().zip(visit_counts)).ok()
}
