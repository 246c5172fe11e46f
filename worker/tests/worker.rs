//! A whole worker against a learner that serves tic-tac-toe or draughts, dies, comes back, and sends invalid answers.

mod common;

use std::time::Duration;

use common::{Disk, FakeLearner, InvalidAnswer, State};
use fixtures::load_generator;
use proto::{GameKind, WorkerKind};
use runtime::auth::Token;
use shared::game::{Outcome, Side};
use shared::record::PolicyTarget;
use shared::search::{RootSelection, SearchEffort, SearchSettings};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use worker::{Summary, WorkerConfig, WorkerError, WorkerSettings};

/// A worker that runs beside the test.
struct Running {
    shutdown: CancellationToken,
    task: JoinHandle<Result<Summary, WorkerError>>,
}

impl Running {
    fn start(settings: WorkerSettings, kind: WorkerKind) -> Self {
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(worker::run(settings, kind, shutdown.clone()));
        Self { shutdown, task }
    }

    async fn stop(self) -> Summary {
        self.shutdown.cancel();
        self.task.await.expect("the worker does not panic").expect("the worker ends well")
    }
}

/// Plays all games of `state` with a worker made of `config`, and returns them.
async fn play_all(state: State, change: impl FnOnce(WorkerConfig) -> WorkerConfig) -> (State, Summary) {
    let disk = Disk::new(state);
    let learner = FakeLearner::start(&disk);
    let settings = change(learner.config()).check(None).expect("settings");
    let worker = Running::start(settings, WorkerKind::Actor);
    disk.wait_until("all games are over", State::are_all_over).await;
    let summary = worker.stop().await;
    (take(&disk), summary)
}

fn take(disk: &Disk) -> State {
    let state = std::mem::take(&mut *disk.lock());
    assert_eq!(state.faults, Vec::<String>::new());
    state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn games_are_played_to_their_end_and_reported_once() {
    let (state, summary) = play_all(State::with_games(40), |config| config).await;
    let plies: Vec<_> = state.games.values().flat_map(|game| &game.plies).collect();
    for ply in &plies {
        let target = PolicyTarget::from_bytes(&ply.policy_target).expect("each ply of self-play has a target");
        assert!(target.pairs().len() <= 9 - ply.ply as usize, "at most one pair a legal move");
        assert_eq!(ply.network_id, 1, "0 stands for the best network");
        assert!(ply.simulation_count > 0);
    }
    assert_eq!(summary.ply_count, plies.len() as u64);
    assert_eq!(summary.acknowledged_ply_count, plies.len() as u64);
    assert_eq!((summary.finished_game_count, summary.dropped_game_count, summary.game_count), (40, 0, 0));
    assert!(summary.cache_hit_count > 0, "{summary:?}");
    assert_eq!(summary.cache_lookup_count, summary.cache_hit_count + summary.evaluation_count);
    assert!((1..=5).contains(&state.largest_batch), "the learner takes 5 leaves at most");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_game_that_the_learner_ends_since_a_side_resigned_is_finished_and_not_dropped() {
    let state = State { resigned_after: Some(3), ..State::with_games(40) };
    let (state, summary) = play_all(state, |config| config).await;
    assert!(state.games.values().all(|game| game.plies.len() == 3), "no ply is stored after it");
    assert_eq!((summary.dropped_game_count, summary.refused_ply_count), (0, 0));
    assert_eq!(summary.finished_game_count + summary.game_count, 40, "those that it had no time to put away");
    assert_eq!(summary.acknowledged_ply_count, 120);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_thread_that_waits_for_answers_takes_more_games_unless_their_number_is_set() {
    let held = async |games_per_thread, wanted| {
        let disk = Disk::new(State { answer_time: Duration::from_millis(100), ..State::with_games(300) });
        let learner = FakeLearner::start(&disk);
        let config = WorkerConfig { threads: 1, games_per_thread, cache_bytes: 0, ..learner.config() };
        let worker = Running::start(config.check(None).expect("settings"), WorkerKind::Actor);
        disk.wait_until("it has as many games as it wants", |state| state.held_count() >= wanted).await;
        // Longer than the time over which waiting and searching are compared.
        tokio::time::sleep(Duration::from_secs(3)).await;
        let held_count = disk.lock().held_count();
        worker.stop().await;
        held_count
    };
    let many = held(0, 64).await;
    assert!(many >= 64, "{many} games");
    let few = held(8, 8).await;
    assert!(few <= 8, "{few} games");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_learner_that_dies_and_comes_back_costs_no_ply() {
    let disk = Disk::new(State { evaluations_left: Some(60), ..State::with_games(30) });
    let learner = FakeLearner::start(&disk);
    let (address, worker) = (learner.address, Running::start(learner.settings(), WorkerKind::Actor));
    disk.wait_until("the learner stops answering in the middle of games", |state| state.evaluations_left == Some(0))
        .await;
    drop(learner);
    let before = disk.change(|state| {
        state.evaluations_left = None;
        state.ply_count()
    });
    assert!(!disk.lock().are_all_over(), "the learner died in the middle of games");
    let _learner = FakeLearner::start_at(&disk, address);
    disk.wait_until("all games are over", State::are_all_over).await;
    let summary = worker.stop().await;
    let state = take(&disk);
    assert!(state.ply_count() > before);
    assert_eq!(state.joined, 2);
    assert_eq!((summary.finished_game_count, summary.dropped_game_count), (30, 0), "no game was given up: {summary:?}");
    assert_eq!(summary.ply_count, state.ply_count() as u64, "no ply was played twice");
    assert_eq!(summary.acknowledged_ply_count, summary.ply_count);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn plies_whose_acknowledgement_was_lost_are_sent_again_and_stored_once() {
    let disk = Disk::new(State { acknowledgements_left: Some(2), ..State::with_games(12) });
    let learner = FakeLearner::start(&disk);
    let (address, worker) = (learner.address, Running::start(learner.settings(), WorkerKind::Actor));
    let acknowledged = |state: &State| state.acknowledgements_left;
    disk.wait_until("a report is stored and not answered", |state| acknowledged(state) == Some(0)).await;
    let stored = disk.lock().ply_count();
    disk.wait_until("one more report is stored", |state| state.ply_count() > stored || state.are_all_over()).await;
    drop(learner);
    disk.change(|state| state.acknowledgements_left = None);
    let _learner = FakeLearner::start_at(&disk, address);
    disk.wait_until("plies came twice", |state| state.are_all_over() && state.duplicate_plies > 0).await;
    let summary = worker.stop().await;
    let state = take(&disk);
    assert_eq!(summary.ply_count, state.ply_count() as u64);
    assert_eq!(summary.acknowledged_ply_count, summary.ply_count);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_game_whose_lease_is_lost_is_dropped() {
    let disk = Disk::new(State { evaluations_left: Some(0), lease_ms: 30, ..State::with_games(6) });
    let learner = FakeLearner::start(&disk);
    let worker = Running::start(learner.settings(), WorkerKind::Actor);
    disk.wait_until("all games are leased", |state| state.games.values().all(|game| game.holder.is_some())).await;
    disk.change(|state| state.games.get_mut(&3).expect("game 3").holder = Some("someone else".into()));
    // The renewal after that reports the loss; then the worker receives its evaluations.
    let lease_is_lost = disk.lock().renewals + 2;
    disk.wait_until("the leases were renewed", |state| state.renewals >= lease_is_lost).await;
    disk.change(|state| state.evaluations_left = None);
    disk.wait_until("the others are over", |state| state.games.iter().all(|(id, game)| game.is_over != (*id == 3)))
        .await;
    let summary = worker.stop().await;
    let state = take(&disk);
    assert_eq!(state.games[&3].plies.len(), 0);
    assert_eq!((summary.finished_game_count, summary.dropped_game_count), (5, 1), "{summary:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn invalid_answers_are_counted_and_requested_again() {
    use InvalidAnswer::{ErrorText, NotANumber, TooFewPriors, TooManyValues, UnknownBatch};
    let invalid_answers = [TooFewPriors, TooManyValues, NotANumber, UnknownBatch, ErrorText].into();
    let (state, summary) = play_all(State { invalid_answers, ..State::with_games(10) }, |config| config).await;
    assert!(state.invalid_answers.is_empty());
    assert!((1..=5).contains(&summary.unusable_evaluation_count), "{summary:?}");
    assert!(summary.session_count > 1);
    assert_eq!((summary.finished_game_count, summary.dropped_game_count), (10, 0), "{summary:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn games_of_a_network_that_never_answers_are_given_up_and_others_go_on() {
    let mut state = State::with_games(4);
    state.broken_network = Some(9);
    state.add_game(5, GameKind::Gate, [9, 2], &[]);
    let disk = Disk::new(state);
    let learner = FakeLearner::start(&disk);
    let worker = Running::start(learner.settings(), WorkerKind::Actor);
    disk.wait_until("the good games are over", |state| (1..=4).all(|id| state.games[&id].is_over)).await;
    let errors = |state: &State| state.broken_answers >= 5;
    disk.wait_until("the broken network was tried often enough", errors).await;
    let summary = worker.stop().await;
    assert_eq!(summary.finished_game_count, 4);
    assert!(summary.unusable_evaluation_count >= 5, "{summary:?}");
    assert!(take(&disk).games[&5].plies.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_player_of_a_gate_game_asks_its_own_network() {
    let mut state = State::default();
    state.add_game(1, GameKind::Gate, [7, 8], &["b2", "a1"]);
    state.add_game(2, GameKind::Gate, [8, 7], &["b2", "a1"]);
    let (state, _) = play_all(state, |config| config).await;
    assert_eq!(state.networks_asked.iter().copied().collect::<Vec<_>>(), [7, 8]);
    for (id, white_network_id, black_network_id) in [(1, 7, 8), (2, 8, 7)] {
        for ply in &state.games[&id].plies {
            assert!(ply.policy_target.is_empty(), "gate games teach nothing");
            let expected = if ply.ply % 2 == 0 { white_network_id } else { black_network_id };
            assert_eq!(ply.network_id, expected);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_same_seed_gives_the_same_game_with_and_without_a_cache() {
    let state = || State {
        settings: SearchSettings { leaves_per_game: 3, ..SearchSettings::default().for_match(60) },
        ..State::with_games(8)
    };
    let (one, _) = play_all(state(), |config| WorkerConfig { threads: 1, cache_bytes: 0, ..config }).await;
    let (other, summary) = play_all(state(), |config| config).await;
    assert!(summary.cache_hit_count > 0);
    for (game_id, game) in &one.games {
        assert_eq!(game.plies, other.games[game_id].plies, "game {game_id}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_wrong_token_ends_the_worker_with_the_learners_words() {
    let token = |text: &str| Token::new(text).expect("token");
    let disk = Disk::new(State { token: Some(token("right")), ..State::with_games(1) });
    let learner = FakeLearner::start(&disk);
    for (shown, words) in [(None, "no token"), (Some(token("wrong")), "wrong token")] {
        let settings = learner.config().check(shown).expect("settings");
        let error = worker::run(settings, WorkerKind::Actor, CancellationToken::new()).await.expect_err("refused");
        let error = error.to_string();
        assert!(error.contains(words) && error.contains(&learner.address.to_string()), "{error}");
    }
    let settings = learner.config().check(Some(token("right"))).expect("settings");
    let worker = Running::start(settings, WorkerKind::Actor);
    disk.wait_until("the game is over", State::are_all_over).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_wrong_version_ends_the_worker_with_the_learners_words() {
    let disk = Disk::new(State { domain_version: 77, ..State::with_games(1) });
    let learner = FakeLearner::start(&disk);
    let running = worker::run(learner.settings(), WorkerKind::Evaluator, CancellationToken::new());
    let error = running.await.expect_err("refused").to_string();
    let words = format!("refused to let us join: rules of version {}, the learner's are 77", shared::DOMAIN_VERSION);
    assert!(error.contains(&words), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_load_generator_counts_leaves_and_bytes() {
    let disk = Disk::new(State::default());
    let learner = FakeLearner::start(&disk);
    let load = load_generator::LoadSettings { batch_leaves: 64, warm_up_batches: 3, batches: 10, plies: 4, seed: 1 };
    let report = load_generator::run(&load_generator::target(learner.address, None), load).await;
    assert_eq!(report.leaf_count, 640);
    assert!(report.bytes_per_leaf > 4.0 && report.bytes_per_leaf < 60.0, "{report:?}");
    assert!((1.0..=9.0).contains(&report.moves_per_leaf), "{report:?}");
    assert!(report.leaves_per_second() > 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_gumbel_root_reports_improved_priors_as_targets() {
    let settings = SearchSettings {
        simulation_count: 8,
        leaves_per_game: 3,
        root: RootSelection::Gumbel,
        // No value weighs so much that another move's share rounds to 0.
        gumbel_value_scale: 0.02,
        ..SearchSettings::default()
    };
    let (state, summary) = play_all(State { settings, ..State::with_games(8) }, |config| config).await;
    assert_eq!((summary.finished_game_count, summary.dropped_game_count), (8, 0), "{summary:?}");
    for ply in state.games.values().flat_map(|game| &game.plies) {
        let target = PolicyTarget::from_bytes(&ply.policy_target).expect("each ply of self-play has a target");
        let rounding = target.pairs().len() as u32;
        assert!(target.weight_sum().abs_diff(65_535) <= rounding, "weights are shares of 65,535: {target:?}");
        assert!(ply.simulation_count <= 8, "no visits are kept from ply to ply unless the game is decided");
    }
    let first = state.games.values().filter_map(|game| game.plies.first());
    let targets = first.map(|ply| PolicyTarget::from_bytes(&ply.policy_target).expect("a target").pairs().len());
    assert!(targets.max() > Some(7), "moves without a visit have weights too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn plies_searched_fast_follow_from_the_seed_and_teach_nothing() {
    for root in [RootSelection::Puct, RootSelection::Gumbel] {
        let settings = SearchSettings {
            root,
            simulation_count: 24,
            full_search_share: 0.4,
            fast_simulation_count: 6,
            ..SearchSettings::default()
        };
        // The learner dies in the middle of games, and other threads go on with them.
        let disk = Disk::new(State { settings: settings.clone(), evaluations_left: Some(60), ..State::with_games(20) });
        let learner = FakeLearner::start(&disk);
        let first = Running::start(learner.settings(), WorkerKind::Actor);
        disk.wait_until("the learner stops answering", |state| state.evaluations_left == Some(0)).await;
        first.stop().await;
        disk.change(|state| {
            state.evaluations_left = None;
            state.games.values_mut().for_each(|game| game.holder = None);
        });
        assert!(!disk.lock().are_all_over(), "the first worker leaves in the middle of games");
        let second = Running::start(learner.settings(), WorkerKind::Actor);
        disk.wait_until("all games are over", State::are_all_over).await;
        second.stop().await;
        let state = take(&disk);
        let (mut full_count, mut fast_count) = (0, 0);
        for (game_id, game) in &state.games {
            for ply in &game.plies {
                let effort = settings.effort_at(state.seed + game_id, ply.ply);
                let is_fast = effort == SearchEffort::Fast;
                assert_eq!(ply.policy_target.is_empty(), is_fast, "ply {} of game {game_id}", ply.ply);
                *(if is_fast { &mut fast_count } else { &mut full_count }) += 1;
                if root == RootSelection::Gumbel {
                    // What is proven is kept from a full search, and its value is exact.
                    let is_proven = [-1.0, 0.0, 1.0].contains(&ply.root_value);
                    assert!(ply.simulation_count <= settings.simulation_count_of(effort) || is_proven, "{ply:?}");
                }
            }
        }
        assert!(full_count > 20 && fast_count > 30, "{full_count} full, {fast_count} fast");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn games_are_searched_by_endgame_tables_if_there_are_some() {
    let folder = tempfile::tempdir().expect("folder");
    let mut known = tables::TableSet::default();
    for class in (2..=3).flat_map(tables::classes_of) {
        let table = tables::solve(class, &known, &mut |_| {});
        tables::folder::write(folder.path(), &table).expect("the table is written");
        known.insert(table);
    }
    let state = || {
        let mut state = State { settings: SearchSettings::default().for_match(24), ..State::default() };
        // Two kings against one, which a search of 24 simulations by these values neither wins nor calls a win.
        (1..=4).for_each(|game_id| state.add_endgame(game_id, "W:WK1,K5:BK32"));
        state
    };
    let without = play_all(state(), |config| config).await.0;
    let with = play_all(state(), |config| WorkerConfig { tables: folder.path().into(), ..config }).await.0;
    for (game_id, game) in &with.games {
        assert_eq!(game.outcome(), Ok(Some(Outcome::Win(Side::White))), "game {game_id}");
        let values: Vec<f32> = game.plies.iter().map(|ply| ply.root_value).collect();
        assert!(values.iter().enumerate().all(|(ply, value)| *value == [1.0, -1.0][ply % 2]), "{values:?}");
        assert!(game.plies.len() < without.games[game_id].plies.len(), "the shortest way is taken");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn endgame_tables_for_a_game_without_any_end_the_worker() {
    let disk = Disk::new(State::with_games(1));
    let learner = FakeLearner::start(&disk);
    let settings = WorkerConfig { tables: "five".into(), ..learner.config() }.check(None).expect("settings");
    let error = worker::run(settings, WorkerKind::Actor, CancellationToken::new()).await.expect_err("refused");
    assert_eq!(runtime::exit::one_line(&error), "setting tables: there are endgame tables of draughts alone");
}
