//! The pipeline with a trainer that answers at once, and ticks that never come: events alone drive it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use inference::InferenceCounters;
use inference::best::CurrentBest;
use net::NetworkShape;
use registry::{Lease, RegistryLimits, StartPlan};
use samples::buffer::{SampleBuffer, SharedReplay};
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Game;
use shared::game::tictactoe::TicTacToe;
use shared::ids::{Generation, NetworkId};
use shared::record::{PlyRecord, PolicyTarget};
use shared::wire::ReportedPly;
use store::files::sha256_hex;
use store::{GameKind, NewNetwork, RunRow, Store};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::config::{AfterRejection, LearnerConfig, LearnerSettings, PipelineMode};
use crate::progress::RunStatus;
use crate::tensorboard::TensorBoardLog;
use crate::trainer::{Candidate, TrainingJob};

/// What the trainer writes.
const CANDIDATE: &[u8] = b"candidate";
/// Longer than any test runs.
const NEVER: Duration = Duration::from_secs(60 * 60);
/// After which a test has failed.
const DEADLINE: Duration = Duration::from_secs(60);

/// A pipeline on its thread, and the games that it waits for.
struct Running {
    inference: Arc<InferenceCounters>,
    registry: Arc<GameRegistry<TicTacToeEncoding>>,
    store: Arc<Store>,
    stop: CancellationToken,
    ended: std::sync::mpsc::Receiver<Result<Ended, PipelineError>>,
    /// Each job of the trainer.
    jobs: std::sync::mpsc::Receiver<TrainingJob>,
    _tokio: Runtime,
}

impl Running {
    fn start(run_dir: &Path) -> Self {
        Self::start_with(run_dir, &settings(), None)
    }

    /// Starts with an iteration that is under way already.
    fn start_with(run_dir: &Path, settings: &LearnerSettings, under_way: Option<IterationRow>) -> Self {
        let (stop, tokio) = (CancellationToken::new(), Runtime::new().expect("tokio starts"));
        let files = RunFiles::new(run_dir);
        files.create().expect("a folder");
        let store = Arc::new(Store::open(run_dir, &run_row()).expect("the store opens"));
        let first = NetworkId::FIRST;
        if store.reader().expect("a reader").best_network().expect("readable").is_none() {
            let network = NewNetwork { network_id: first, file: "f".into(), sha256: "s".into(), training_step: 0 };
            store
                .write(vec![Change::AddNetwork(network), Change::Promote { network_id: first }])
                .expect("the first network is stored");
        }
        store.write(under_way.map(Change::PutIteration).into_iter().collect()).expect("the iteration is stored");
        let inference = Arc::new(InferenceCounters::default());
        let replay = Arc::new(SharedReplay::new(SampleBuffer::new(1000)));
        let encoding = TicTacToeEncoding::new(TicTacToe);
        let limits = RegistryLimits::default();
        let registry = GameRegistry::open(encoding, Arc::clone(&store), Arc::clone(&replay), limits);
        let registry = Arc::new(registry.expect("the registry opens"));
        let sources = ProgressSources {
            registry: Arc::clone(&registry),
            replay: Arc::clone(&replay),
            inference: Arc::clone(&inference),
            batch_leaf_count_max: 1,
        };
        let (job_sender, jobs) = std::sync::mpsc::channel();
        let pipeline = Pipeline {
            settings: settings.pipeline(),
            registry: Arc::clone(&registry),
            starts: StartPlan::default(),
            replay,
            store: DurableStore::new(Arc::clone(&store), stop.clone()),
            network: None,
            files: files.clone(),
            trainer: TrainerHandle::fake(move |job| {
                let _ = job_sender.send(job);
                std::fs::write(files.network(job.candidate_id), CANDIDATE).expect("written");
                let (sha256, held_out) = (sha256_hex(CANDIDATE), Box::default());
                Ok(Candidate { sha256, training_step: job.step_end, held_out })
            })
            .expect("a thread"),
            best: Arc::new(BestNetwork::new(CurrentBest { network_id: first, generation: Generation::default() })),
            gate_check: None,
            events: PipelineEvents::new(tokio.handle().clone(), registry.subscribe(), stop.clone(), NEVER),
            cost: CostMeter::new(&shape(), Arc::clone(&inference)),
            work_time: WorkTime::take_up(&store.reader().expect("a reader"), Instant::now()).expect("readable"),
            alarms: Arc::default(),
            reporter: ProgressReporter::new(sources, Arc::<RunStatus>::default(), TensorBoardLog::in_run(run_dir)),
            stop: stop.clone(),
            is_self_play_paused: false,
        };
        let (sender, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(pipeline.run()));
        Self { inference, registry, store, stop, ended, jobs, _tokio: tokio }
    }

    /// Plays one game of a kind, as soon as there is one. Returns whether the pipeline still runs.
    fn play(&self, kind: GameKind) {
        let started_at = Instant::now();
        loop {
            let mut leases = self.registry.lease("w", kind, 1, Instant::now()).expect("leases").leases;
            if let Some(lease) = leases.pop() {
                let plies = plies_of(&lease);
                self.registry.report("w", &plies, Instant::now()).expect("stored");
                return;
            }
            assert!(started_at.elapsed() < DEADLINE, "no {} game", kind.word());
            std::thread::yield_now();
        }
    }

    /// Answers so many leaves, each with nine active cells.
    fn answer(&self, count: u64) {
        self.inference.evaluation_count.fetch_add(count, Ordering::Relaxed);
        self.inference.active_cell_count.fetch_add(9 * count, Ordering::Relaxed);
    }

    fn wait(&self) -> Ended {
        self.ended.recv_timeout(DEADLINE).expect("it ends long before a tick").expect("nothing fails")
    }
}

/// One iteration of two games and a gate of two.
fn settings() -> LearnerSettings {
    let mut config = LearnerConfig::default();
    (config.run.pipeline, config.run.iterations) = (PipelineMode::Overlapped, 1);
    config.self_play.games_per_iteration = 2;
    config.gate.game_count = 2;
    config.gate.opening_plies = 1;
    // The games are not played by search.
    config.replay.position_count_min = 1;
    LearnerSettings::try_from(config).expect("possible settings")
}

fn shape() -> NetworkShape {
    NetworkShape::new(&TicTacToeEncoding::new(TicTacToe), LearnerConfig::default().network)
}

fn run_row() -> RunRow {
    RunRow {
        run_id: "test".into(),
        created_at: "2026-01-01T00:00:00Z".into(),
        game: r#"{"name":"tictactoe"}"#.into(),
        config: "{}".into(),
        seed: 7,
        start_network: None,
    }
}

/// Plays the first legal moves to the end.
fn plies_of(lease: &Lease) -> Vec<ReportedPly> {
    let mut position = TicTacToe.initial_position();
    for text in &lease.moves {
        let mv = TicTacToe.parse_move(&position, text).expect("legal");
        TicTacToe.play(&mut position, mv);
    }
    let (mut plies, mut moves) = (Vec::new(), Vec::new());
    while TicTacToe.outcome(&position).is_none() {
        moves.clear();
        TicTacToe.legal_moves(&position, &mut moves);
        let target = PolicyTarget::from_visits([(moves[0].index() as u16, 1)]).expect("a target");
        let record = PlyRecord {
            move_text: TicTacToe.format_move(&position, moves[0]),
            policy_target: (lease.kind == GameKind::SelfPlay).then_some(target),
            ..PlyRecord::default()
        };
        let ply = (lease.moves.len() + plies.len()) as u32;
        plies.push(ReportedPly { game_id: lease.game_id, ply, record });
        TicTacToe.play(&mut position, moves[0]);
    }
    plies
}

#[test]
fn games_and_training_wake_the_pipeline_without_a_tick() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let running = Running::start(run_dir.path());
    for kind in [GameKind::SelfPlay, GameKind::SelfPlay, GameKind::Gate, GameKind::Gate] {
        running.play(kind);
    }
    assert_eq!(running.wait(), Ended::IterationsDone);
    let last = running.store.reader().expect("a reader").last_iteration().expect("readable").expect("there");
    assert!(last.state.is_finished(), "{last:?}");
    assert_eq!((last.number, last.game_count, last.candidate_id), (1, 2, NetworkId::new(2)));
}

/// As [`settings`], but each position is learned from four times in batches of seven.
fn settings_with_uses() -> LearnerSettings {
    let mut config = LearnerConfig::clone(&settings());
    (config.training.uses_per_position, config.training.batch_size) = (4.0, 7);
    LearnerSettings::try_from(config).expect("possible settings")
}

#[test]
fn steps_follow_from_the_positions_of_an_iteration() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let running = Running::start_with(run_dir.path(), &settings_with_uses(), None);
    for kind in [GameKind::SelfPlay, GameKind::SelfPlay, GameKind::Gate, GameKind::Gate] {
        running.play(kind);
    }
    assert_eq!(running.wait(), Ended::IterationsDone);
    let last = running.store.reader().expect("a reader").last_iteration().expect("readable").expect("there");
    assert_eq!((last.position_count, last.training_step_end), (14, Some(8)), "14 x 4 / 7");
}

#[test]
fn a_training_under_way_keeps_its_steps_whatever_the_settings_say() {
    for (fixed, expected) in [(Some(105), 105), (None, 108)] {
        let run_dir = tempfile::tempdir().expect("a directory");
        let under_way = IterationRow {
            state: IterationState::Training,
            window_finish_number: Some(0),
            training_step_end: fixed,
            position_count: 14,
            ..IterationRow::new(1, 100)
        };
        let running = Running::start_with(run_dir.path(), &settings_with_uses(), Some(under_way));
        for kind in [GameKind::Gate, GameKind::Gate] {
            running.play(kind);
        }
        assert_eq!(running.wait(), Ended::IterationsDone);
        let last = running.store.reader().expect("a reader").last_iteration().expect("readable").expect("there");
        assert_eq!(last.training_step_end, Some(expected), "fixed: {fixed:?}");
    }
}

#[test]
fn a_stop_ends_the_wait_at_once() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let running = Running::start(run_dir.path());
    running.play(GameKind::SelfPlay);
    running.stop.cancel();
    assert_eq!(running.wait(), Ended::Stopped);
}

#[test]
fn a_restart_neither_loses_nor_doubles_what_an_iteration_cost() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let running = Running::start(run_dir.path());
    running.answer(100);
    running.play(GameKind::SelfPlay);
    running.answer(20);
    running.stop.cancel();
    assert_eq!(running.wait(), Ended::Stopped);
    let iteration = |running: &Running| {
        running.store.reader().expect("a reader").last_iteration().expect("readable").expect("there")
    };
    assert_eq!(iteration(&running).cost.map(|cost| cost.evaluation_count), Some(120));
    drop(running);

    let running = Running::start(run_dir.path());
    running.answer(7);
    for kind in [GameKind::SelfPlay, GameKind::Gate, GameKind::Gate] {
        running.play(kind);
    }
    assert_eq!(running.wait(), Ended::IterationsDone);
    let row = iteration(&running);
    let samples = row.training_step_end.expect("trained") * u64::from(settings().training.batch_size);
    let evaluation = shape().arithmetic().evaluation_flop(1, 9);
    let cost = row.cost.expect("counted");
    assert_eq!((cost.evaluation_count, cost.training_sample_count), (127, samples));
    let expected = evaluation * (127.0 + 3.0 * samples as f64);
    assert!((cost.flop / expected - 1.0).abs() < 1e-12, "{} is not {expected}", cost.flop);
    assert_eq!(running.store.reader().expect("a reader").run_cost().expect("readable"), Some(cost));
}

/// Stores networks 1, the best, and 2, a candidate with this SHA-256 and no file.
fn store_candidate(run_dir: &Path, sha256: &str) {
    let store = Store::open(run_dir, &run_row()).expect("the store opens");
    let network = |number: u32, sha256: &str| {
        let network_id = NetworkId::new(number).expect("from 1");
        let (file, sha256) = (RunFiles::network_path(network_id), sha256.to_owned());
        Change::AddNetwork(NewNetwork { network_id, file, sha256, training_step: 0 })
    };
    let changes = vec![network(1, "s"), Change::Promote { network_id: NetworkId::FIRST }, network(2, sha256)];
    store.write(changes).expect("stored");
}

/// Returns an iteration at the gate of network 2.
fn at_gate() -> IterationRow {
    IterationRow {
        state: IterationState::Gate,
        window_finish_number: Some(0),
        training_step_end: Some(5),
        candidate_id: NetworkId::new(2),
        ..IterationRow::new(1, 0)
    }
}

#[test]
fn a_candidate_whose_file_is_damaged_is_made_again() {
    let run_dir = tempfile::tempdir().expect("a directory");
    store_candidate(run_dir.path(), &sha256_hex(CANDIDATE));
    let running = Running::start_with(run_dir.path(), &settings(), Some(at_gate()));
    for kind in [GameKind::Gate, GameKind::Gate] {
        running.play(kind);
    }
    assert_eq!(running.wait(), Ended::IterationsDone);
    let file = RunFiles::new(run_dir.path()).network(NetworkId::new(2).expect("from 1"));
    assert_eq!(std::fs::read(file).expect("it is there"), CANDIDATE);
}

#[test]
fn a_candidate_that_cannot_be_made_again_is_rejected() {
    let run_dir = tempfile::tempdir().expect("a directory");
    store_candidate(run_dir.path(), "another network");
    let running = Running::start_with(run_dir.path(), &settings(), Some(at_gate()));
    assert_eq!(running.wait(), Ended::IterationsDone, "without a game");
    let reader = running.store.reader().expect("a reader");
    let last = reader.last_iteration().expect("readable").expect("there");
    assert_eq!(last.state, IterationState::Rejected);
    let candidate = reader.network(NetworkId::new(2).expect("from 1")).expect("readable").expect("there");
    assert_eq!(candidate.state, store::NetworkState::Rejected);
}

/// As [`settings`], for so many iterations, and what follows on a rejection.
fn settings_after(after_rejection: AfterRejection, iterations: u32, promotion_score: f64) -> LearnerSettings {
    let mut config = LearnerConfig::clone(&settings());
    (config.training.after_rejection, config.run.iterations) = (after_rejection, iterations);
    config.gate.promotion_score = promotion_score;
    LearnerSettings::try_from(config).expect("possible settings")
}

#[test]
fn training_starts_from_the_best_network_after_a_rejection_if_that_is_wanted() {
    let cases = [
        (AfterRejection::Best, 0.55, [false, true, true]),
        (AfterRejection::Continue, 0.55, [false, false, false]),
        // Half of the points are enough: nobody is rejected.
        (AfterRejection::Best, 0.5, [false, false, false]),
    ];
    for (after_rejection, promotion_score, expected) in cases {
        let run_dir = tempfile::tempdir().expect("a directory");
        let running = Running::start_with(run_dir.path(), &settings_after(after_rejection, 3, promotion_score), None);
        for _ in expected {
            for kind in [GameKind::SelfPlay, GameKind::SelfPlay, GameKind::Gate, GameKind::Gate] {
                running.play(kind);
            }
        }
        assert_eq!(running.wait(), Ended::IterationsDone);
        let jobs: Vec<bool> = running.jobs.iter().map(|job| job.starts_from_best).collect();
        assert_eq!(jobs, expected, "{after_rejection:?} at {promotion_score}");
    }
}

#[test]
fn a_training_that_goes_on_after_a_restart_starts_where_it_did_before() {
    for (state, expected) in [(IterationState::Rejected, true), (IterationState::Promoted, false)] {
        let run_dir = tempfile::tempdir().expect("a directory");
        let before = IterationRow { state, ..IterationRow::new(1, 0) };
        drop(Store::open(run_dir.path(), &run_row()).expect("a store").write(vec![Change::PutIteration(before)]));
        let under_way = IterationRow {
            state: IterationState::Training,
            window_finish_number: Some(0),
            training_step_end: Some(8),
            ..IterationRow::new(2, 4)
        };
        let settings = settings_after(AfterRejection::Best, 1, 0.55);
        let running = Running::start_with(run_dir.path(), &settings, Some(under_way));
        assert_eq!(running.jobs.recv_timeout(DEADLINE).map(|job| job.starts_from_best), Ok(expected), "{state:?}");
    }
}

#[test]
fn self_play_waits_for_a_gate_that_nobody_plays() {
    let run_dir = tempfile::tempdir().expect("a directory");
    store_candidate(run_dir.path(), &sha256_hex(CANDIDATE));
    let mut config = LearnerConfig::clone(&settings());
    (config.self_play.games_per_iteration, config.replay.position_count_max) = (100, 14);
    let settings = LearnerSettings::try_from(config).expect("possible settings");
    let running = Running::start_with(run_dir.path(), &settings, None);
    running.play(GameKind::SelfPlay);
    running.play(GameKind::SelfPlay);
    running.stop.cancel();
    assert_eq!(running.wait(), Ended::Stopped);
    drop(running);

    let running = Running::start_with(run_dir.path(), &settings, Some(at_gate()));
    running.play(GameKind::Gate);
    // The pipeline hears of the game a moment later: until then games may be granted.
    let lease = || running.registry.lease("w", GameKind::SelfPlay, 1, Instant::now()).expect("leases");
    let deadline = Instant::now() + Duration::from_secs(20);
    let refused = std::iter::repeat_with(lease).take_while(|_| Instant::now() < deadline);
    let answer =
        refused.inspect(|_| std::thread::sleep(Duration::from_millis(5))).find(|answer| answer.leases.is_empty());
    assert_eq!(answer.and_then(|answer| answer.waiting_for), Some("self-play to begin"), "14 positions are waiting");
    running.play(GameKind::Gate);
    assert_eq!(running.wait(), Ended::IterationsDone);
}
