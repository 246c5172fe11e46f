//! Resignation in self-play: who resigns when, what is played on, what the store knows of it, and that no gate sees it.

use std::path::Path;
use std::time::Instant;

use fixtures::{
    BLACK_WINS, DRAW, TicTacToeLearner, WHITE_WINS, crash_copy, is_lost, lease_one, network_id, plies, report, start,
};
use registry::{GatePlan, PlyStatus, ResignationRule};
use shared::game::{Outcome, Side};
use shared::gate::GateSettings;
use shared::ids::{GameId, NetworkId};
use shared::search::SearchSettings;
use shared::wire::ReportedPly;
use store::{Change, GameFilter, GameKind, GameState, NewNetwork, PlayedOn, Reader, Resignation, StoredGame};

/// Two plies of either side must agree, and every game ends there.
const AT_ONCE: ResignationRule = ResignationRule { value: 0.9, plies: 2, played_on_share: 0.0 };
/// Every game is played on.
const PLAYED_ON: ResignationRule = ResignationRule { played_on_share: 1.0, ..AT_ONCE };

fn start_resigning(run_dir: &Path, rule: ResignationRule) -> TicTacToeLearner {
    let TicTacToeLearner { store, replay, registry } = start(run_dir);
    TicTacToeLearner { store, replay, registry: registry.with_resignation(rule) }
}

/// Returns the plies of a game in which all searches see this value for White.
fn plies_seen(game_id: GameId, moves: &[&str], white_value: f32) -> Vec<ReportedPly> {
    let mut plies = plies(game_id, moves);
    for ply in &mut plies {
        ply.record.root_value = if ply.ply % 2 == 0 { white_value } else { -white_value };
    }
    plies
}

fn stored(learner: &TicTacToeLearner, game_id: GameId) -> StoredGame {
    learner.store.reader().expect("a reader").game(game_id).expect("readable").expect("there")
}

/// Returns who won a finished game, and what resignation had to do with it.
fn end_of(learner: &TicTacToeLearner, game_id: GameId) -> (Outcome, Option<Resignation>) {
    let game = stored(learner, game_id);
    assert_eq!(game.state, GameState::Finished);
    let result = game.result.expect("a result");
    (result.outcome, result.resignation)
}

#[test]
fn either_side_resigns_once_both_agree_and_loses() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start_resigning(run_dir.path(), AT_ONCE), Instant::now());
    for (white_value, loser) in [(-0.95, Side::White), (0.95, Side::Black)] {
        let game_id = lease_one(&learner, "a", now);
        let game = plies_seen(game_id, &DRAW, white_value);
        assert_eq!(report(&learner, "a", &game[..3], now), vec![PlyStatus::Accepted; 3]);
        let statuses = report(&learner, "a", &game[3..6], now);
        assert_eq!(statuses[0], PlyStatus::Resigned);
        assert!(statuses[1..].iter().all(is_lost), "played before the worker knew: {statuses:?}");
        assert!(is_lost(&report(&learner, "a", &game[6..7], now)[0]), "and after it");
        assert_eq!(report(&learner, "a", &game[..4], now), vec![PlyStatus::Accepted; 4], "plies that are there");
        assert_eq!(end_of(&learner, game_id), (Outcome::Win(loser.opponent()), Some(Resignation::Resigned)));
        let record = stored(&learner, game_id).record;
        assert_eq!((record.plies.len(), record.resigned_by), (4, Some(loser)));
    }
    let progress = learner.registry.progress();
    assert_eq!((progress.finished_self_play_count, progress.open_self_play_count), (2, 0));
    assert_eq!((progress.counters.self_play.resigned_count, progress.counters.refused_ply_count), (2, 0));
    assert_eq!(learner.replay.position_count(), 8);
}

#[test]
fn a_game_that_nobody_thinks_lost_or_in_which_nobody_may_resign_ends_by_the_rules() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let now = Instant::now();
    for (rule, white_value) in [(AT_ONCE, 0.89), (ResignationRule::default(), 1.0)] {
        let learner = start_resigning(run_dir.path(), rule);
        let game_id = lease_one(&learner, "a", now);
        assert_eq!(report(&learner, "a", &plies_seen(game_id, &DRAW, white_value), now), vec![PlyStatus::Accepted; 9]);
        assert_eq!(end_of(&learner, game_id), (Outcome::Draw, None));
    }
}

#[test]
fn after_a_crash_a_side_resigns_as_if_there_was_none() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start_resigning(run_dir.path(), AT_ONCE), Instant::now());
    let [over, open] = [lease_one(&learner, "a", now), lease_one(&learner, "a", now)];
    report(&learner, "a", &plies_seen(over, &DRAW, 0.95)[..4], now);
    report(&learner, "a", &plies_seen(open, &DRAW, -0.95)[..3], now);
    let copy = crash_copy(run_dir.path());
    let again = start_resigning(copy.path(), AT_ONCE);
    assert_eq!(again.replay.position_count(), 4, "the game that was resigned is learned from");
    assert_eq!(again.store.reader().expect("a reader").quarantined_count().expect("readable"), 0);
    assert_eq!(end_of(&again, over), (Outcome::Win(Side::White), Some(Resignation::Resigned)));
    assert_eq!(report(&again, "a", &plies_seen(open, &DRAW, -0.95)[3..4], now), [PlyStatus::Resigned]);
    assert_eq!(end_of(&again, open), (Outcome::Win(Side::Black), Some(Resignation::Resigned)));
    let statistics = again.store.reader().expect("a reader").statistics(0, u64::MAX).expect("readable");
    assert_eq!((statistics.game_count, statistics.resigned_count, statistics.draw_count), (2, 2, 0));
}

#[test]
fn what_was_not_stored_is_not_resigned() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start_resigning(run_dir.path(), AT_ONCE), Instant::now());
    let leases = learner.registry.lease("a", GameKind::SelfPlay, 400, now).expect("leases").leases;
    learner.store.limit_pages(1).expect("bounded to what is there");
    let play = |game_id| learner.registry.report("a", &plies_seen(game_id, &DRAW, 0.95)[..4], now);
    let game_ids = leases.iter().map(|lease| lease.game_id);
    let failed: Vec<GameId> = game_ids.filter(|game_id| play(*game_id).is_err()).collect();
    assert!(!failed.is_empty(), "400 games do not fit");
    learner.store.limit_pages(1_000_000).expect("there is room again");
    for game_id in failed {
        assert_eq!(stored(&learner, game_id).state, GameState::Open);
        assert_eq!(play(game_id).expect("the same report works now")[3], PlyStatus::Resigned);
        assert_eq!(end_of(&learner, game_id), (Outcome::Win(Side::White), Some(Resignation::Resigned)));
    }
    assert_eq!(learner.registry.progress().counters.self_play.resigned_count, 400);
}

#[test]
fn a_game_that_is_played_on_tells_whether_the_side_would_have_been_right() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start_resigning(run_dir.path(), PLAYED_ON), Instant::now());
    let (right, false_) = (Some(Resignation::Right), Some(Resignation::False));
    let games: [(&[&str], f32, _); 5] = [
        (&WHITE_WINS, 0.95, (Outcome::Win(Side::White), right)),
        (&WHITE_WINS, -0.95, (Outcome::Win(Side::White), false_)),
        (&BLACK_WINS, -0.95, (Outcome::Win(Side::Black), right)),
        (&DRAW, 0.95, (Outcome::Draw, false_)),
        (&DRAW, 0.5, (Outcome::Draw, None)),
    ];
    for (moves, white_value, expected) in games {
        let game_id = lease_one(&learner, "a", now);
        let statuses = report(&learner, "a", &plies_seen(game_id, moves, white_value), now);
        assert_eq!(statuses, vec![PlyStatus::Accepted; moves.len()]);
        assert_eq!(end_of(&learner, game_id), expected, "{moves:?} at {white_value}");
    }
    let counters = learner.registry.progress().counters.self_play;
    assert_eq!((counters.resigned_count, counters.played_on_count, counters.false_resignation_count), (0, 4, 2));
    let reader = learner.store.reader().expect("a reader");
    let played_on = |game_count, false_count| PlayedOn { game_count, false_count };
    assert_eq!(reader.statistics(0, u64::MAX).expect("readable").played_on, played_on(4, 2));
    assert_eq!(reader.newest_played_on(u64::MAX, 100).expect("readable"), played_on(4, 2));
    assert_eq!(reader.newest_played_on(u64::MAX, 2).expect("readable"), played_on(2, 1), "the newest");
    assert_eq!(reader.newest_played_on(2, 100).expect("readable"), played_on(2, 1), "those up to a number");
    assert_eq!(played_on(4, 2).false_share(), 0.5);
}

#[test]
fn which_games_are_played_on_follows_from_the_run_and_their_numbers() {
    let half = ResignationRule { played_on_share: 0.5, ..AT_ONCE };
    let play = |restarts: bool| -> Vec<bool> {
        let run_dir = tempfile::tempdir().expect("a directory");
        let now = Instant::now();
        let mut learner = start_resigning(run_dir.path(), half);
        let mut ends = Vec::new();
        for _ in 0..30 {
            let game_id = lease_one(&learner, "a", now);
            let game = plies_seen(game_id, &DRAW, 0.95);
            report(&learner, "a", &game[..3], now);
            if restarts {
                drop(learner);
                learner = start_resigning(run_dir.path(), half);
            }
            ends.push(report(&learner, "a", &game[3..], now)[0] == PlyStatus::Resigned);
            let is_over = stored(&learner, game_id).state == GameState::Finished;
            assert!(is_over, "or it would be leased again");
        }
        ends
    };
    let ends = play(false);
    let resigned_count = ends.iter().filter(|is_resigned| **is_resigned).count();
    assert!((5..=25).contains(&resigned_count), "{resigned_count} of 30");
    assert_eq!(ends, play(true));
}

#[test]
fn nobody_resigns_a_game_of_a_gate() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start_resigning(run_dir.path(), AT_ONCE), Instant::now());
    let network = |number| {
        let network_id = network_id(number);
        Change::AddNetwork(NewNetwork { network_id, file: "f".into(), sha256: "s".into(), training_step: 0 })
    };
    let changes = vec![network(1), Change::Promote { network_id: NetworkId::FIRST }, network(2)];
    learner.store.write(changes).expect("stored");
    let plan = GatePlan {
        candidate_id: network_id(2),
        best_id: NetworkId::FIRST,
        iteration: 1,
        settings: GateSettings { game_count: 4, ..GateSettings::default() },
        opening_plies: 0,
        search: SearchSettings::default().for_match(100),
    };
    learner.registry.begin_gate(&plan).expect("begun");
    let leases = learner.registry.lease("e", GameKind::Gate, 1, now).expect("leases").leases;
    let game_id = leases[0].game_id;
    assert_eq!(report(&learner, "e", &plies_seen(game_id, &DRAW, 0.95), now), vec![PlyStatus::Accepted; 9]);
    assert_eq!(end_of(&learner, game_id), (Outcome::Draw, None));
    assert_eq!(learner.registry.gate_report(network_id(2)).expect("open").score.draws, 1);
    assert_eq!(learner.registry.progress().counters.gate.resigned_count, 0);
}

#[test]
fn a_resignation_that_the_disk_changed_is_found() {
    let now = Instant::now();
    for change in ["resignation = NULL", "resignation = 'right'", "result = 'white'"] {
        let run_dir = tempfile::tempdir().expect("a directory");
        let learner = start_resigning(run_dir.path(), AT_ONCE);
        let game_id = lease_one(&learner, "a", now);
        report(&learner, "a", &plies_seen(game_id, &DRAW, -0.95)[..4], now);
        drop(learner);
        let database = rusqlite::Connection::open(run_dir.path().join("alveare.db")).expect("opens");
        database.execute(&format!("UPDATE games SET {change}"), []).expect("tampered");
        drop(database);
        let learner = start_resigning(run_dir.path(), AT_ONCE);
        assert_eq!(learner.replay.position_count(), 0, "{change}");
        assert_eq!(learner.store.reader().expect("a reader").quarantined_count().expect("readable"), 1, "{change}");
    }
}

#[test]
fn a_store_of_before_anyone_could_resign_is_read_and_goes_on() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    let old = lease_one(&learner, "a", now);
    report(&learner, "a", &plies_seen(old, &DRAW, 0.95), now);
    drop(learner);
    let database = rusqlite::Connection::open(run_dir.path().join("alveare.db")).expect("opens");
    database.execute_batch("ALTER TABLE games DROP COLUMN resignation; PRAGMA user_version = 8").expect("schema 8");
    drop(database);
    let reader = Reader::of_run(run_dir.path()).expect("a reader");
    let game = reader.game(old).expect("whole").expect("there");
    assert_eq!(game.result.map(|result| (result.outcome, result.resignation)), Some((Outcome::Draw, None)));
    let statistics = reader.statistics(0, u64::MAX).expect("readable");
    assert_eq!((statistics.game_count, statistics.resigned_count), (1, 0));
    assert_eq!(reader.newest_played_on(u64::MAX, 100).expect("readable"), PlayedOn::default());
    assert_eq!(reader.games_before(&GameFilter::default(), 9).expect("readable").len(), 1);
    let learner = start_resigning(run_dir.path(), AT_ONCE);
    assert_eq!(learner.replay.position_count(), 9, "what was there counts as before");
    let new = lease_one(&learner, "a", now);
    report(&learner, "a", &plies_seen(new, &DRAW, 0.95)[..4], now);
    assert_eq!(end_of(&learner, new), (Outcome::Win(Side::White), Some(Resignation::Resigned)));
}
