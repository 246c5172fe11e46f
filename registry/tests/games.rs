//! The registry of games: leases, reports, ends, gates, and what a crash leaves.

use std::time::{Duration, Instant};

use fixtures::{
    BLACK_WINS, DRAW, LEASE, TicTacToeLearner, WHITE_WINS, crash_copy, encoding, is_lost, is_refused, lease_one,
    network_id, plies, report, start, start_with, start_with_grants,
};
use proptest::prelude::*;
use registry::{Bar, GatePlan, LeafLoad, PlyStatus, RegistryLimits, SelfPlayPlan, StartPlan, YardstickPlan, rebuild};
use samples::buffer::SampleBuffer;
use samples::sampler::{BatchSampler, seed_of_step};
use shared::encoding::TrainingBatch;
use shared::game::{Outcome, Side};
use shared::gate::{GateSettings, Verdict};
use shared::ids::{GameId, Generation, NetworkId, NetworkRef};
use shared::record::{PlyRecord, PolicyTarget};
use shared::search::SearchSettings;
use shared::wire::ReportedPly;
use store::{Change, GameKind, GameState, NewNetwork};

/// Asserts that the store holds exactly these moves of the game, and how far it is.
fn assert_stored(learner: &TicTacToeLearner, game_id: GameId, moves: &[&str], state: GameState) {
    let stored = learner.store.reader().expect("a reader").game(game_id).expect("readable").expect("there");
    let texts: Vec<&str> = stored.record.plies.iter().map(|ply| ply.move_text.as_str()).collect();
    assert_eq!((texts.as_slice(), stored.state), (moves, state), "game {game_id}");
}

#[test]
fn a_game_is_played_counted_and_learned_from() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    let game_id = lease_one(&learner, "a", now);
    let statuses = report(&learner, "a", &plies(game_id, &BLACK_WINS), now);
    assert!(statuses.iter().all(|status| *status == PlyStatus::Accepted), "{statuses:?}");
    assert_stored(&learner, game_id, &BLACK_WINS, GameState::Finished);
    let progress = learner.registry.progress();
    assert_eq!((progress.finished_self_play_count, progress.last_finish_number), (1, 1));
    assert_eq!(progress.open_self_play_count, 0);
    assert_eq!(learner.replay.position_count(), 6);
    let stored = learner.store.reader().expect("a reader").game(game_id).expect("readable").expect("there");
    assert_eq!(stored.result.map(|result| result.outcome), Some(Outcome::Win(Side::Black)));
}

#[test]
fn every_acknowledged_ply_is_there_once_after_a_crash() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    let games: Vec<GameId> = (0..3).map(|_| lease_one(&learner, "a", now)).collect();
    report(&learner, "a", &plies(games[0], &WHITE_WINS), now);
    report(&learner, "a", &plies(games[1], &DRAW)[..4], now);
    let after = crash_copy(run_dir.path());
    let learner = start(after.path());
    assert_stored(&learner, games[0], &WHITE_WINS, GameState::Finished);
    assert_stored(&learner, games[1], &DRAW[..4], GameState::Open);
    assert_eq!(learner.replay.position_count(), 5);
    assert_eq!(learner.registry.progress().open_self_play_count, 2);
    // The worker that lived on goes on, and what it is not sure of it says again.
    let statuses = report(&learner, "a", &plies(games[1], &DRAW)[2..], now);
    assert_eq!(statuses, vec![PlyStatus::Accepted; 7]);
    assert_stored(&learner, games[1], &DRAW, GameState::Finished);
    let progress = learner.registry.progress();
    assert_eq!((progress.finished_self_play_count, progress.counters.duplicate_ply_count), (2, 2));
    // A new worker gets the game that nobody went on with, then a new one.
    let leases = learner.registry.lease("b", GameKind::SelfPlay, 2, now).expect("leases").leases;
    assert_eq!(
        leases.iter().map(|lease| lease.game_id).collect::<Vec<_>>(),
        [games[2], GameId::new(games[2].get() + 1)]
    );
}

#[test]
fn a_game_of_before_a_restart_is_the_workers_that_had_it() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    let games = [lease_one(&learner, "a", now), lease_one(&learner, "b", now)];
    let lost = |learner: &TicTacToeLearner, worker_id| learner.registry.renew(worker_id, &games, now).expect("renewed");
    let after = crash_copy(run_dir.path());
    let learner = start(after.path());
    assert_eq!(lost(&learner, "stranger"), games, "a name that never had them");
    assert!(is_lost(&report(&learner, "b", &plies(games[0], &DRAW)[..1], now)[0]), "another's");
    assert_eq!((lost(&learner, "a"), lost(&learner, "b")), (vec![games[1]], vec![games[0]]));

    // A game that was passed on is the last one's.
    let later = now + LEASE * 2;
    let passed_on = learner.registry.lease("c", GameKind::SelfPlay, 2, later).expect("leases").leases;
    assert_eq!(passed_on.iter().map(|lease| lease.game_id).collect::<Vec<_>>(), games);
    let after = crash_copy(after.path());
    let learner = start(after.path());
    assert_eq!(lost(&learner, "a"), games);
    assert_eq!(lost(&learner, "c"), []);
}

#[test]
fn plies_that_no_search_can_have_found_are_refused() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    let max = SearchSettings::default().simulation_count + SearchSettings::default().leaves_per_game;
    let good = |game_id| plies(game_id, &DRAW).remove(0).record;
    type Change = fn(&mut PlyRecord, u32);
    let changes: [(&str, Change); 4] = [
        ("26 visits", |record, _| record.policy_target = PolicyTarget::from_visits([(0, 26)]).ok()),
        ("simulation_count", |record, max| record.simulation_count = max + 1),
        ("simulation_count", |record, _| record.simulation_count = u32::MAX),
        ("no network 9", |record, _| record.network_id = NetworkId::new(9)),
    ];
    for (worker_id, (words, change)) in ["a", "b", "c", "d"].into_iter().zip(changes) {
        let game_id = lease_one(&learner, worker_id, now);
        let mut record = good(game_id);
        change(&mut record, max);
        let statuses = report(&learner, worker_id, &[ReportedPly { game_id, ply: 0, record }], now);
        let PlyStatus::Refused { reason } = &statuses[0] else { panic!("{words}: {statuses:?}") };
        assert!(reason.contains(words), "{reason}");
    }
    let game_id = lease_one(&learner, "e", now);
    let record = PlyRecord { simulation_count: max, ..good(game_id) };
    assert_eq!(report(&learner, "e", &[ReportedPly { game_id, ply: 0, record }], now), [PlyStatus::Accepted]);
}

#[test]
fn a_ply_again_has_no_effect_and_another_in_its_place_is_refused() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    let game_id = lease_one(&learner, "a", now);
    let game = plies(game_id, &WHITE_WINS);
    let doubled = [&game[..2], &game[..2]].concat();
    assert_eq!(report(&learner, "a", &doubled, now), vec![PlyStatus::Accepted; 4]);
    report(&learner, "a", &game, now);
    assert_eq!(report(&learner, "a", &game, now), vec![PlyStatus::Accepted; 5]);
    assert!(is_lost(&report(&learner, "a", &plies(game_id, &BLACK_WINS), now)[4]), "the game is closed");
    assert_stored(&learner, game_id, &WHITE_WINS, GameState::Finished);
    assert_eq!(learner.registry.progress().finished_self_play_count, 1);

    let game_id = lease_one(&learner, "a", now);
    report(&learner, "a", &plies(game_id, &["b2", "a1"]), now);
    let statuses = report(&learner, "a", &plies(game_id, &["b2", "c1", "a3"]), now);
    assert_eq!(statuses[0], PlyStatus::Accepted);
    assert!(is_refused(&statuses[1]) && is_refused(&statuses[2]), "{statuses:?}");
    assert_stored(&learner, game_id, &["b2", "a1"], GameState::Open);
}

#[test]
fn an_illegal_ply_is_refused_and_the_game_goes_on() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, mut now) = (start(run_dir.path()), Instant::now());
    let game_id = lease_one(&learner, "a", now);
    let good = plies(game_id, &WHITE_WINS);
    let mut bad_target = good[2].clone();
    bad_target.record.policy_target = good[0].record.policy_target.clone();
    let too_long = "x".repeat(100_000);
    for bad in [
        plies(game_id, &["a3", "a1", "a3"])[2].clone(),
        plies(game_id, &["a3", "a1", &too_long])[2].clone(),
        bad_target,
        good[4].clone(),
    ] {
        let leases = learner.registry.lease("a", GameKind::SelfPlay, 1, now).expect("a lease").leases;
        assert!(leases[0].game_id >= game_id);
        let statuses = report(&learner, "a", &[&good[..2], std::slice::from_ref(&bad), &good[3..]].concat(), now);
        assert!(statuses[2..].iter().all(is_refused), "{statuses:?}");
        assert_stored(&learner, game_id, &["a3", "a1"], GameState::Open);
        // Its lease is gone with the refusal; whoever asks gets it at its last good ply, this worker after a pause.
        assert!(is_lost(&report(&learner, "a", &good[2..3], now)[0]));
        let paused = learner.registry.lease("a", GameKind::SelfPlay, 1, now).expect("an answer");
        assert!(paused.leases.is_empty() && paused.is_withheld, "{paused:?}");
        assert!(paused.waiting_for.is_some_and(|text| text.contains("were refused")), "{paused:?}");
        now += Duration::from_secs(10);
        let lease = learner.registry.lease("a", GameKind::SelfPlay, 1, now).expect("a lease").leases.remove(0);
        assert_eq!((lease.game_id, lease.moves), (game_id, vec!["a3".to_owned(), "a1".to_owned()]));
    }
    assert_eq!(report(&learner, "a", &good, now), vec![PlyStatus::Accepted; 5]);
    assert_stored(&learner, game_id, &WHITE_WINS, GameState::Finished);
}

#[test]
fn a_lease_that_runs_out_goes_to_another_worker() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, start_time) = (start(run_dir.path()), Instant::now());
    let game_id = lease_one(&learner, "a", start_time);
    let game = plies(game_id, &WHITE_WINS);
    report(&learner, "a", &game[..2], start_time);
    let nobody = GameId::new(999);
    // Within the lease others get other games; renewing prolongs it; late is not too late while nobody took it.
    let soon = start_time + LEASE - Duration::from_secs(1);
    assert_ne!(lease_one(&learner, "b", soon), game_id);
    assert_eq!(learner.registry.renew("a", &[game_id, nobody], soon).expect("renewed"), [nobody]);
    assert_ne!(lease_one(&learner, "b", soon + LEASE - Duration::from_secs(1)), game_id);
    let late = soon + LEASE * 2;
    assert_eq!(report(&learner, "a", &game[2..3], late), [PlyStatus::Accepted]);
    // Another takes it: the first has lost it, the second goes on from the last ply.
    let later = late + LEASE * 2;
    let lease = learner.registry.lease("c", GameKind::SelfPlay, 1, later).expect("a lease").leases.remove(0);
    assert_eq!((lease.game_id, lease.moves.len()), (game_id, 3));
    assert!(is_lost(&report(&learner, "a", &game[3..4], later)[0]));
    assert_eq!(learner.registry.renew("a", &[game_id], later).expect("renewed"), [game_id]);
    assert_eq!(report(&learner, "c", &game[3..], later), vec![PlyStatus::Accepted; 2]);
    assert_stored(&learner, game_id, &WHITE_WINS, GameState::Finished);
    assert_eq!(learner.registry.progress().finished_self_play_count, 1);
}

#[test]
fn workers_get_as_many_games_as_keep_the_learner_busy() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start_with_grants(run_dir.path(), 4), Instant::now());
    let lease =
        |worker_id: &str, count| learner.registry.lease(worker_id, GameKind::SelfPlay, count, now).expect("leases");
    let first = lease("a", 10);
    assert_eq!((first.leases.len(), first.is_withheld), (4, true));
    assert!(first.waiting_for.is_some_and(|reason| reason.starts_with("the learner")), "{:?}", first.waiting_for);
    let few = LeafLoad { waiting_leaf_count: 8.0, batch_leaf_count: 10 };
    learner.registry.note_load(&few);
    assert!(lease("a", 10).leases.is_empty(), "it has played nothing: the leaves of its games are still to come");
    for lease in &first.leases {
        report(&learner, "a", &plies(lease.game_id, &DRAW)[..1], now);
    }
    // The four games have eight leaves waiting where 30 should: twice as many games at most at one look.
    learner.registry.note_load(&few);
    assert_eq!(lease("a", 10).leases.len(), 4, "it has played what it had");
    learner.registry.note_load(&LeafLoad { waiting_leaf_count: 60.0, batch_leaf_count: 10 });
    assert!(lease("a", 10).leases.is_empty(), "twice as many leaves wait as should");
    assert!(lease("b", 10).leases.is_empty(), "its share of four is two, but all are taken");
    // What nobody holds any more is granted in the same way, and what was begun is all there is.
    let later = now + LEASE;
    assert_eq!(learner.registry.lease("c", GameKind::SelfPlay, 10, later).expect("leases").leases.len(), 4);
    assert_eq!(learner.registry.progress().open_self_play_count, 8);
}

#[test]
fn a_game_that_is_held_and_not_played_goes_to_another_worker() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, start_time) = (start(run_dir.path()), Instant::now());
    let [sat_on, played] = [lease_one(&learner, "a", start_time), lease_one(&learner, "a", start_time)];
    let game = plies(played, &DRAW);
    let mut now = start_time;
    for renewal in 1..60 {
        now = start_time + LEASE / 2 * renewal;
        if renewal >= 30 {
            report(&learner, "a", &game[..1], now);
        }
        assert_eq!(learner.registry.renew("a", &[sat_on, played], now).expect("renewed"), [], "renewal {renewal}");
        assert_ne!(lease_one(&learner, "b", now), sat_on);
    }
    now += LEASE;
    assert_eq!(learner.registry.renew("a", &[sat_on, played], now).expect("renewed"), [sat_on]);
    assert!(is_lost(&report(&learner, "a", &plies(sat_on, &DRAW)[..1], now)[0]));
    assert_eq!(lease_one(&learner, "c", now), sat_on);
    // Reporting the same ply again was no play.
    now = start_time + LEASE * 46;
    report(&learner, "a", &game[..1], now);
    assert_eq!(learner.registry.renew("a", &[played], now).expect("renewed"), [played]);
}

#[test]
fn evaluators_share_the_games_of_a_gate() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    add_networks(&learner);
    learner.registry.begin_gate(&gate_plan(24)).expect("begun");
    let lease = |worker_id: &str, count| learner.registry.lease(worker_id, GameKind::Gate, count, now).expect("leases");
    assert_eq!(lease("e", 0).leases.len() + lease("f", 100).leases.len(), 12);
    let rest = lease("e", 100);
    assert_eq!((rest.leases.len(), rest.waiting_for), (12, Some("open gate games to finish")));
}

#[test]
fn a_plan_bounds_the_games_of_its_iteration() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let now = Instant::now();
    let plan = SelfPlayPlan {
        iteration: 4,
        search: SearchSettings::default(),
        starts: StartPlan::default(),
        game_count_max: Some(3),
    };
    let learner = start(run_dir.path());
    learner.registry.plan_self_play(Some(plan.clone())).expect("planned");
    let answer = learner.registry.lease("a", GameKind::SelfPlay, 2, now).expect("leases");
    assert_eq!((answer.leases.len(), answer.waiting_for), (2, None));
    drop(learner);
    let learner = start(run_dir.path());
    learner.registry.plan_self_play(Some(plan)).expect("planned");
    let answer = learner.registry.lease("b", GameKind::SelfPlay, 9, now).expect("leases");
    assert_eq!((answer.leases.len(), answer.waiting_for), (3, Some("open self-play games to finish")));
    learner.registry.plan_self_play(None).expect("planned");
    let answer = learner.registry.lease("b", GameKind::SelfPlay, 9, now).expect("leases");
    assert_eq!((answer.leases.len(), answer.waiting_for), (0, Some("self-play to begin")));
}

#[test]
fn a_full_disk_costs_no_ply() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    let leases = learner.registry.lease("a", GameKind::SelfPlay, 200, now).expect("leases").leases;
    learner.store.limit_pages(1).expect("bounded to what is there");
    let play = |game_id| learner.registry.report("a", &plies(game_id, &DRAW), now);
    let failed: Vec<GameId> =
        leases.iter().map(|lease| lease.game_id).filter(|game_id| play(*game_id).is_err()).collect();
    assert!(failed.len() > 100, "200 games do not fit: {}", failed.len());
    let error = play(failed[0]).expect_err("full");
    assert!(error.to_string().contains("full"), "{error}");
    assert_stored(&learner, failed[0], &[], GameState::Open);
    let (failed_count, stored_count) = (failed.len() as u64, 200 - failed.len() as u64);
    let progress = learner.registry.progress();
    assert_eq!((progress.finished_self_play_count, progress.open_self_play_count), (stored_count, failed_count));
    assert_eq!(learner.replay.position_count(), stored_count * 9);
    assert!((0..100).any(|_| learner.registry.lease("z", GameKind::SelfPlay, 50, now).is_err()), "no new games");

    learner.store.limit_pages(1_000_000).expect("there is room again");
    for game_id in failed {
        assert_eq!(play(game_id).expect("the same report works now"), vec![PlyStatus::Accepted; 9]);
        assert_stored(&learner, game_id, &DRAW, GameState::Finished);
    }
    assert_eq!(learner.registry.progress().finished_self_play_count, 200);
    assert_eq!(learner.replay.position_count(), 1000);
    assert_eq!(learner.registry.lease("z", GameKind::SelfPlay, 50, now).expect("leases").leases.len(), 50);
}

#[test]
fn a_game_that_does_not_replay_is_quarantined() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    let games: Vec<GameId> = (0..4).map(|_| lease_one(&learner, "a", now)).collect();
    for game_id in &games[..2] {
        report(&learner, "a", &plies(*game_id, &WHITE_WINS), now);
    }
    for game_id in &games[2..] {
        report(&learner, "a", &plies(*game_id, &DRAW)[..5], now);
    }
    drop(learner);
    let connection = rusqlite::Connection::open(run_dir.path().join("alveare.db")).expect("opens");
    for sql in [
        format!("UPDATE plies SET move_text = 'a3' WHERE ply = 3 AND game_id = {}", games[0]),
        format!("DELETE FROM plies WHERE ply = 2 AND game_id = {}", games[2]),
        format!("UPDATE plies SET policy_target = x'010203' WHERE ply = 2 AND game_id = {}", games[3]),
    ] {
        assert_eq!(connection.execute(&sql, []).expect("tampered"), 1);
    }
    drop(connection);
    let learner = start(run_dir.path());
    assert_eq!(learner.replay.position_count(), 5);
    let progress = learner.registry.progress();
    assert_eq!((progress.open_self_play_count, progress.counters.quarantined_game_count), (0, 2));
    let reader = learner.store.reader().expect("a reader");
    assert_eq!(reader.quarantined_count().expect("readable"), 3);
    assert!(is_lost(&report(&learner, "a", &plies(games[2], &DRAW)[5..], now)[0]));
}

#[test]
fn statistics_tell_of_draws_and_openings() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    for moves in [&WHITE_WINS[..], &DRAW, &DRAW, &BLACK_WINS] {
        let game_id = lease_one(&learner, "a", now);
        report(&learner, "a", &plies(game_id, moves), now);
    }
    let statistics = learner.store.reader().expect("a reader").statistics(1, 4).expect("readable");
    assert_eq!((statistics.game_count, statistics.draw_count, statistics.cut_off_count), (3, 2, 0));
    assert_eq!((statistics.mean_ply_count, statistics.distinct_opening_count, statistics.sample_count), (8.0, 2, 24));
}

#[test]
fn sampling_after_a_restart_is_sampling_as_if_there_was_none() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    let play = |learner: &TicTacToeLearner, moves: &[&str]| {
        let game_id = lease_one(learner, "a", now);
        report(learner, "a", &plies(game_id, moves), now);
    };
    for moves in [&WHITE_WINS[..], &DRAW, &BLACK_WINS, &DRAW] {
        play(&learner, moves);
    }
    let batches = |learner: &TicTacToeLearner, window| {
        let mut sampler = BatchSampler::new(encoding());
        let mut batch = TrainingBatch::default();
        let mut planes = Vec::new();
        for step in 0..10 {
            sampler.sample(&learner.replay, window, 32, seed_of_step(11, step), &mut batch).expect("a batch");
            assert_eq!((batch.input.len(), batch.value_targets.len()), (32, 32));
            planes.push((batch.input.planes.clone(), batch.policy_targets.clone(), batch.value_targets.clone()));
        }
        planes
    };
    let window = learner.replay.fix_window(3, u64::MAX);
    assert_eq!(window.len(), 20);
    let before = batches(&learner, window);
    for _ in 0..2 {
        play(&learner, &WHITE_WINS);
    }
    assert_eq!(batches(&learner, window), before);
    drop(learner);
    let learner = start(run_dir.path());
    let (buffer, report) = rebuild(&encoding(), &learner.store, SampleBuffer::new(20), 3).expect("rebuilt");
    assert_eq!(report.game_count, 6);
    let learner = TicTacToeLearner { replay: samples::buffer::SharedReplay::new(buffer).into(), ..learner };
    let window = learner.replay.fix_window(3, u64::MAX);
    assert_eq!(window.len(), 20);
    assert_eq!(batches(&learner, window), before);
}

fn gate_plan(game_count: u32) -> GatePlan {
    GatePlan {
        candidate_id: network_id(2),
        best_id: NetworkId::FIRST,
        iteration: 1,
        settings: GateSettings { game_count, promotion_score: 0.55, ..GateSettings::default() },
        opening_plies: 2,
        search: SearchSettings::default().for_match(100),
    }
}

fn add_networks(learner: &TicTacToeLearner) {
    let network = |number| {
        let network_id = network_id(number);
        Change::AddNetwork(NewNetwork { network_id, file: "f".into(), sha256: "s".into(), training_step: 0 })
    };
    let changes = vec![network(1), Change::Promote { network_id: NetworkId::FIRST }, network(2)];
    learner.store.write(changes).expect("stored");
}

/// Plays a leased game with the first legal moves, or so that the candidate wins if that is wanted.
fn play_gate_game(learner: &TicTacToeLearner, worker_id: &str, now: Instant) -> bool {
    use shared::game::Game;
    use shared::game::tictactoe::TicTacToe;
    let leases = learner.registry.lease(worker_id, GameKind::Gate, 1, now).expect("a lease").leases;
    let Some(lease) = leases.into_iter().next() else { return false };
    let mut position = TicTacToe.initial_position();
    let mut texts = lease.moves.clone();
    for text in &lease.moves {
        let mv = TicTacToe.parse_move(&position, text).expect("legal");
        TicTacToe.play(&mut position, mv);
    }
    let mut moves = Vec::new();
    while TicTacToe.outcome(&position).is_none() {
        moves.clear();
        TicTacToe.legal_moves(&position, &mut moves);
        let winning = moves.iter().copied().find(|mv| {
            let mut next = position;
            TicTacToe.play(&mut next, *mv);
            TicTacToe.outcome(&next).is_some()
        });
        // The candidate takes a win, the other does not see any.
        let candidate = if lease.white_network == network_id(2).into() { Side::White } else { Side::Black };
        let mv = if TicTacToe.side_to_move(&position) == candidate {
            winning.unwrap_or(moves[0])
        } else {
            moves.iter().copied().rev().find(|mv| Some(*mv) != winning).unwrap_or(moves[0])
        };
        texts.push(TicTacToe.format_move(&position, mv));
        TicTacToe.play(&mut position, mv);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut reported = plies(lease.game_id, &texts);
    for ply in &mut reported {
        ply.record.policy_target = None;
    }
    let statuses = report(learner, worker_id, &reported[lease.opening_ply_count as usize..], now);
    assert!(statuses.iter().all(|status| *status == PlyStatus::Accepted), "{statuses:?}");
    true
}

#[test]
fn a_gate_is_played_resumed_and_decided() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    add_networks(&learner);
    let begun = learner.registry.begin_gate(&gate_plan(40)).expect("begun");
    assert_eq!((begun.pair_count, begun.distinct_opening_count, begun.verdict), (20, 12, None));
    for _ in 0..7 {
        assert!(play_gate_game(&learner, "e", now));
    }
    let before = learner.registry.gate_report(network_id(2)).expect("a report");
    assert_eq!(before.score.game_count(), 7);
    let after = crash_copy(run_dir.path());
    let learner = start(after.path());
    // No gate game is given out before its gate is taken up again.
    assert!(!play_gate_game(&learner, "e", now));
    let resumed = learner.registry.begin_gate(&gate_plan(40)).expect("resumed");
    assert_eq!(resumed, before);
    assert_eq!(learner.registry.progress().open_gate_count, 33);
    while play_gate_game(&learner, "e", now) {}
    let decided = learner.registry.gate_report(network_id(2)).expect("a report");
    assert_eq!(decided.verdict, Some(Verdict::Promoted), "{decided:?}");
    assert!(decided.score.game_count() < 40, "the verdict falls as soon as nothing can change it");
    assert!(decided.distinct_game_count > 1 && decided.distinct_game_count <= decided.score.game_count());
    learner.store.write(vec![Change::Promote { network_id: network_id(2) }]).expect("promoted");
    learner.registry.close_gate(network_id(2));
    assert_eq!(learner.registry.progress().open_gate_count, 0);
    let reader = learner.store.reader().expect("a reader");
    assert_eq!(reader.best_network().expect("readable").map(|row| row.generation), Some(Some(Generation::new(1))));
    let games = reader.gate_games(network_id(2)).expect("readable");
    let count = |state| games.iter().filter(|game| game.state == state).count() as u32;
    assert_eq!(count(GameState::Finished), decided.score.game_count());
    assert_eq!(count(GameState::Abandoned), 40 - decided.score.game_count());
    assert_eq!(learner.replay.position_count(), 0, "gate games are not learned from");
}

#[test]
fn games_that_do_not_count_are_played_by_others_and_a_pause_ends() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    add_networks(&learner);
    learner.registry.begin_gate(&gate_plan(40)).expect("begun");
    for worker_id in ["alone", "together", "together", "honest"] {
        assert!(play_gate_game(&learner, worker_id, now));
    }
    let discount = |worker_id, bar| {
        let discounted = learner.registry.discount_gate_games(network_id(2), worker_id, "a test", bar, now);
        discounted.expect("taken out")
    };
    assert_eq!((discount("alone", Bar::UntilRestart), discount("together", Bar::Pause)), (1, 2));
    let report = learner.registry.gate_report(network_id(2)).expect("a report");
    assert_eq!((report.score.game_count(), learner.registry.progress().open_gate_count), (1, 39), "played again");
    let waits = |worker_id, now| {
        let answer = learner.registry.lease(worker_id, GameKind::Gate, 1, now).expect("leases");
        answer.waiting_for.unwrap_or_default()
    };
    let end = now + RegistryLimits::default().pause;
    let early = end - Duration::from_millis(1);
    assert!(waits("together", early).contains("the end of a pause"));
    assert_eq!((waits("together", end), waits("honest", now)), ("", ""));
    assert!(waits("alone", end + Duration::from_secs(1_000_000)).contains("another evaluator"));
    // A restart knows nothing of either.
    drop(learner);
    let learner = start(run_dir.path());
    learner.registry.begin_gate(&gate_plan(40)).expect("resumed");
    assert!(play_gate_game(&learner, "alone", now) && play_gate_game(&learner, "together", now));
}

#[test]
fn yardstick_games_are_played_when_no_gate_waits_and_decide_nothing() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    add_networks(&learner);
    learner.store.write(vec![Change::Promote { network_id: network_id(2) }]).expect("promoted");
    let plan = YardstickPlan {
        network_id: network_id(2),
        opponent_id: NetworkId::FIRST,
        iteration: 1,
        pair_count: 2,
        opening_plies: 2,
        search: SearchSettings::default().for_match(50),
    };
    learner.registry.add_yardstick_games(&plan).expect("stored");
    let gate = GatePlan { candidate_id: network_id(3), best_id: network_id(2), ..gate_plan(2) };
    learner.registry.begin_gate(&gate).expect("begun");
    let leases = learner.registry.lease("e", GameKind::Gate, 100, now).expect("leases").leases;
    assert!(leases.len() == 2 && leases.iter().all(|lease| lease.search.simulation_count == 100), "the gate's alone");
    learner.registry.close_gate(network_id(3));

    // They need nobody to take them up again.
    let after = crash_copy(run_dir.path());
    let learner = start(after.path());
    while play_gate_game(&learner, "e", now) {}
    let reader = learner.store.reader().expect("a reader");
    let scores = reader.yardstick_scores().expect("readable");
    assert_eq!((scores.len(), scores[0].score.game_count(), scores[0].opponent_id), (1, 4, NetworkId::FIRST));
    assert!(scores[0].score.wins > 0 && reader.gate_games(network_id(2)).expect("readable").is_empty());
    learner.registry.add_yardstick_games(&plan).expect("stored");
    let more = learner.registry.lease("e", GameKind::Gate, 100, now).expect("leases").leases;
    let first_openings: Vec<Vec<String>> =
        openings_of(&learner, &reader.finished_game_ids(GameKind::Gate).expect("readable"));
    assert_eq!((more.len(), more[0].moves == more[1].moves), (4, true));
    assert!(more.iter().all(|lease| !first_openings.contains(&lease.moves)), "other openings");
}

/// Returns the openings of stored games.
fn openings_of(learner: &TicTacToeLearner, game_ids: &[GameId]) -> Vec<Vec<String>> {
    let reader = learner.store.reader().expect("a reader");
    let opening = |game_id: &GameId| reader.game(*game_id).expect("readable").expect("there").game.opening;
    game_ids.iter().map(opening).collect()
}

#[test]
fn the_games_of_a_pair_start_alike_with_colours_swapped() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    add_networks(&learner);
    learner.registry.begin_gate(&gate_plan(24)).expect("begun");
    let leases = learner.registry.lease("e", GameKind::Gate, 100, now).expect("leases").leases;
    assert_eq!(leases.len(), 24);
    for pair in leases.chunks(2) {
        assert_eq!((&pair[0].moves, pair[0].opening_ply_count), (&pair[1].moves, 2));
        let [candidate, best] = [network_id(2), network_id(1)].map(NetworkRef::Id);
        assert_eq!([pair[0].white_network, pair[0].black_network], [candidate, best]);
        assert_eq!([pair[1].white_network, pair[1].black_network], [best, candidate]);
        assert_ne!(pair[0].seed, pair[1].seed);
    }
    // Someone who gets no self-play game for it: kinds do not mix.
    assert!(
        learner.registry.lease("s", GameKind::SelfPlay, 1, now).expect("leases").leases[0].kind == GameKind::SelfPlay
    );
}

#[test]
fn two_threads_report_the_same_game_and_it_counts_once() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    for _ in 0..20 {
        let game_id = lease_one(&learner, "a", now);
        let game = plies(game_id, &DRAW);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    assert_eq!(report(&learner, "a", &game[..5], now), vec![PlyStatus::Accepted; 5]);
                    assert_eq!(report(&learner, "a", &game, now), vec![PlyStatus::Accepted; 9]);
                });
            }
        });
    }
    assert_eq!(learner.registry.progress().finished_self_play_count, 20);
    assert_eq!(learner.replay.position_count(), 180);
}

#[test]
fn improper_requests_are_errors() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start_with(encoding(), run_dir.path()), Instant::now());
    assert!(learner.registry.lease("", GameKind::SelfPlay, 1, now).is_err());
    assert!(learner.registry.renew(&"x".repeat(129), &[], now).is_err());
    let too_many = vec![plies(GameId::new(1), &["a1"])[0].clone(); 5000];
    assert!(learner.registry.report("a", &too_many, now).is_err());
    assert!(is_lost(&report(&learner, "a", &plies(GameId::new(77), &["a1"]), now)[0]));
    assert!(learner.registry.begin_gate(&gate_plan(7)).is_err());
    assert!(learner.registry.gate_report(network_id(2)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever workers say, how often and in which order: plies form one legal game, which counts once.
    #[test]
    fn a_game_counts_once_whatever_is_reported(
        steps in prop::collection::vec((0..2usize, 0..3usize, 0..9usize, 1..6usize, 0..40u64), 1..40),
        crash_at in 0..40usize,
    ) {
        let run_dir = tempfile::tempdir().expect("a directory");
        let mut learner = start(run_dir.path());
        let mut copies = Vec::new();
        let mut now = Instant::now();
        let game_id = lease_one(&learner, "w0", now);
        let mut acknowledged: Vec<Option<String>> = vec![None; 9];
        for (number, (worker, line, from, count, seconds)) in steps.into_iter().enumerate() {
            if number == crash_at {
                let copy = crash_copy(copies.last().map_or(run_dir.path(), tempfile::TempDir::path));
                learner = start(copy.path());
                copies.push(copy);
            }
            now += Duration::from_secs(seconds);
            let worker = ["w0", "w1"][worker];
            let lines: [&[&str]; 3] = [&WHITE_WINS, &BLACK_WINS, &DRAW];
            let game = plies(game_id, lines[line]);
            let chosen = &game[from.min(game.len() - 1)..(from + count).min(game.len())];
            if seconds % 3 == 0 {
                learner.registry.lease(worker, GameKind::SelfPlay, 1, now).expect("a lease");
            }
            for (ply, status) in chosen.iter().zip(report(&learner, worker, chosen, now)) {
                if status == PlyStatus::Accepted {
                    let text = ply.record.move_text.clone();
                    let known = acknowledged[ply.ply as usize].get_or_insert(text.clone());
                    prop_assert_eq!(&*known, &text);
                }
            }
        }
        let stored = learner.store.reader().expect("a reader").game(game_id).expect("readable").expect("there");
        let texts: Vec<Option<String>> = stored.record.plies.iter().map(|ply| Some(ply.move_text.clone())).collect();
        prop_assert_eq!(&acknowledged[..texts.len()], &texts[..]);
        prop_assert!(acknowledged[texts.len()..].iter().all(Option::is_none));
        let is_over = stored.state == GameState::Finished;
        prop_assert_eq!(learner.registry.progress().finished_self_play_count, u64::from(is_over));
        prop_assert_eq!(learner.replay.position_count(), if is_over { texts.len() as u64 } else { 0 });
    }
}
