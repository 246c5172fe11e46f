//! What the tests of store and games share: run directories that die, and games of tic-tac-toe.
#![allow(dead_code, unused_imports)]

#[path = "../../../store/tests/common/mod.rs"]
mod store_common;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use registry::{GameRegistry, GrantSettings, Lease, PlyStatus, RegistryLimits, SelfPlayPlan, StartPlan, rebuild};
use samples::buffer::{SampleBuffer, SharedReplay};
use shared::encoding::Encoding;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Game;
use shared::game::tictactoe::TicTacToe;
use shared::ids::{GameId, NetworkId};
use shared::record::{PlyRecord, PolicyTarget, replay};
use shared::search::SearchSettings;
use shared::wire::ReportedPly;
use store::{GameKind, Reader, RunRow, Store, StoredGame};
pub use store_common::{crash_copy, network_id, run_row};

/// How long leases last in these tests.
pub const LEASE: Duration = Duration::from_secs(60);
/// White wins on the top row with its third mark.
pub const WHITE_WINS: [&str; 5] = ["a3", "a1", "b3", "b1", "c3"];
/// Black wins on the bottom row.
pub const BLACK_WINS: [&str; 6] = ["a3", "a1", "b3", "b1", "c2", "c1"];
/// Nobody wins.
pub const DRAW: [&str; 9] = ["b2", "a3", "c3", "a1", "a2", "c2", "b3", "b1", "c1"];

/// A learner's memory as it is after a start.
pub struct Learner<E: Encoding> {
    pub store: Arc<Store>,
    pub replay: Arc<SharedReplay>,
    pub registry: GameRegistry<E>,
}

pub type TicTacToeLearner = Learner<TicTacToeEncoding>;

/// Starts in `run_dir`, whatever is there.
pub fn start_with<E: Encoding>(encoding: E, run_dir: &Path) -> Learner<E> {
    start_run(encoding, &run_row(), run_dir)
}

/// Starts a run of tic-tac-toe in which self-play is open, and workers get `games_first` games at first.
pub fn start_with_grants(run_dir: &Path, games_first: usize) -> TicTacToeLearner {
    let grants = GrantSettings { games_first, ..RegistryLimits::default().grants };
    let limits = RegistryLimits { lease: LEASE, grants, ..RegistryLimits::default() };
    let learner = start_limited(encoding(), &run_row(), run_dir, limits);
    open_self_play(&learner);
    learner
}

/// Starts the run that `row` describes, whatever is there.
pub fn start_run<E: Encoding>(encoding: E, row: &RunRow, run_dir: &Path) -> Learner<E> {
    let limits = RegistryLimits { lease: LEASE, ..RegistryLimits::default() };
    start_limited(encoding, row, run_dir, limits)
}

fn start_limited<E: Encoding>(encoding: E, row: &RunRow, run_dir: &Path, limits: RegistryLimits) -> Learner<E> {
    let store = Arc::new(Store::open(run_dir, row).expect("the store opens"));
    let (buffer, _) = rebuild(&encoding, &store, SampleBuffer::new(1000), u64::MAX).expect("the buffer is rebuilt");
    let replay = Arc::new(SharedReplay::new(buffer));
    let registry = GameRegistry::open(encoding, store.clone(), replay.clone(), limits).expect("the registry opens");
    Learner { store, replay, registry }
}

/// Starts a run of tic-tac-toe in which self-play is open.
pub fn start(run_dir: &Path) -> TicTacToeLearner {
    let learner = start_with(encoding(), run_dir);
    open_self_play(&learner);
    learner
}

/// Lets self-play begin.
pub fn open_self_play<E: Encoding>(learner: &Learner<E>) {
    let plan = SelfPlayPlan {
        iteration: 1,
        search: SearchSettings::default(),
        starts: StartPlan::default(),
        game_count_max: None,
    };
    learner.registry.plan_self_play(Some(plan)).expect("self-play is planned");
}

pub fn encoding() -> TicTacToeEncoding {
    TicTacToeEncoding::new(TicTacToe)
}

/// Leases one self-play game.
pub fn lease_one(learner: &TicTacToeLearner, worker_id: &str, now: Instant) -> GameId {
    let leases = learner.registry.lease(worker_id, GameKind::SelfPlay, 1, now).expect("a lease").leases;
    leases[0].game_id
}

/// Returns the plies of a game of tic-tac-toe, each with a target on the move that was played.
pub fn plies(game_id: GameId, moves: &[&str]) -> Vec<ReportedPly> {
    let mut position = TicTacToe.initial_position();
    let ply = |(ply, text): (u32, &&str)| {
        let target = TicTacToe.parse_move(&position, text).map(|mv| {
            TicTacToe.play(&mut position, mv);
            PolicyTarget::from_visits([(mv.index() as u16, 25)]).expect("a target")
        });
        let record = PlyRecord {
            move_text: (*text).into(),
            policy_target: target.ok(),
            root_value: 0.25,
            simulation_count: 25,
            network_id: Some(NetworkId::FIRST),
        };
        ReportedPly { game_id, ply, record }
    };
    (0..).zip(moves).map(ply).collect()
}

/// Plays the game of a lease to its end by random plies, with targets on all moves.
pub fn random_game<E: Encoding>(encoding: &E, lease: &Lease) -> Vec<ReportedPly> {
    let game = encoding.game();
    let mut rng = Pcg64::seed_from_u64(lease.seed);
    let mut position = game.start_position(lease.start.as_deref()).expect("the start is one");
    let (mut moves, mut indices, mut plies) = (Vec::new(), Vec::new(), Vec::new());
    while game.outcome(&position).is_none() {
        moves.clear();
        indices.clear();
        game.legal_moves(&position, &mut moves);
        encoding.policy_indices(&position, &moves, &mut indices);
        // No more than the search of the game makes, however many moves there are.
        let visits: Vec<(u16, u32)> = indices.iter().map(|index| (*index, rng.random_range(1..4))).collect();
        let simulation_count = visits.iter().map(|(_, count)| count).sum();
        let policy_target = Some(PolicyTarget::from_visits(visits).expect("legal moves are visited"));
        let mv = moves[rng.random_range(0..moves.len())];
        let move_text = game.format_move(&position, mv);
        let record = PlyRecord {
            move_text,
            policy_target,
            root_value: 0.5,
            simulation_count,
            network_id: Some(NetworkId::FIRST),
        };
        plies.push(ReportedPly { game_id: lease.game_id, ply: plies.len() as u32, record });
        game.play(&mut position, mv);
    }
    plies
}

/// Checks that the finished games of a run are numbered without a gap, have all their plies, and each replay to their
/// result. Returns them.
pub fn check_finished_games<E: Encoding>(encoding: &E, run_dir: &Path) -> Vec<StoredGame> {
    let reader = Reader::of_run(run_dir).expect("the store opens");
    let kinds = [GameKind::SelfPlay, GameKind::Gate].into_iter();
    let game_ids = kinds.flat_map(|kind| reader.finished_game_ids(kind).expect("readable"));
    let games: Vec<StoredGame> = game_ids
        .map(|game_id| reader.game(game_id).expect("the plies have no gap").expect("the game is there"))
        .collect();
    let numbers: BTreeSet<u64> = games.iter().filter_map(|game| game.finish_number).collect();
    assert_eq!(numbers, (1..=games.len() as u64).collect(), "finish numbers");
    for game in &games {
        let replayed = replay(encoding, &game.record).expect("the game replays");
        assert_eq!(replayed.outcome, game.result.map(|result| result.outcome), "game {}", game.game.game_id);
    }
    games
}

/// Reports, and returns the statuses.
pub fn report(learner: &TicTacToeLearner, worker_id: &str, plies: &[ReportedPly], now: Instant) -> Vec<PlyStatus> {
    learner.registry.report(worker_id, plies, now).expect("the report is stored")
}

pub fn is_refused(status: &PlyStatus) -> bool {
    matches!(status, PlyStatus::Refused { .. })
}

pub fn is_lost(status: &PlyStatus) -> bool {
    matches!(status, PlyStatus::LeaseLost { .. })
}
