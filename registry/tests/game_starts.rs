//! Where self-play games begin: in the middle of human games and of the run's own, and what is learned from them then.

use std::collections::HashSet;
use std::time::Instant;

use fixtures::{DRAW, TicTacToeLearner, WHITE_WINS, crash_copy, encoding, lease_one, plies, report, start, start_with};
use registry::{Lease, SelfPlayPlan, StartPlan};
use shared::search::SearchSettings;
use store::GameKind;

fn plan(learner: &TicTacToeLearner, starts: StartPlan) {
    let plan = SelfPlayPlan { iteration: 1, search: SearchSettings::default(), starts, game_count_max: None };
    learner.registry.plan_self_play(Some(plan)).expect("planned");
}

fn leases(learner: &TicTacToeLearner, count: u32) -> Vec<Lease> {
    learner.registry.lease("a", GameKind::SelfPlay, count, Instant::now()).expect("leases").leases
}

/// Asserts that the opening of a game is the beginning of `moves`, with at least one and at most `ply_count_max` plies.
fn assert_begins(lease: &Lease, moves: &[&str], ply_count_max: usize) {
    let count = lease.moves.len();
    assert_eq!(lease.moves, moves[..count], "{lease:?}");
    assert_eq!(lease.opening_ply_count as usize, count);
    assert!((1..=ply_count_max).contains(&count), "{lease:?}");
}

fn texts(moves: &[&str]) -> Vec<String> {
    moves.iter().map(ToString::to_string).collect()
}

#[test]
fn games_begin_within_the_earlier_games_of_the_run() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    plan(&learner, StartPlan { earlier_share: 1.0, ..StartPlan::default() });
    let first = lease_one(&learner, "a", now);
    assert_eq!(leases(&learner, 1)[0].moves, Vec::<String>::new(), "there is no earlier game");
    let oldest = |starts: StartPlan| starts.oldest_game(&learner.store.reader().expect("a reader")).expect("readable");
    assert_eq!(oldest(StartPlan::default()), None, "no game begins in another");
    report(&learner, "a", &plies(first, &WHITE_WINS), now);
    assert_eq!(oldest(StartPlan { earlier_share: 1.0, ..StartPlan::default() }), Some(1));
    let later = leases(&learner, 40);
    // Never the position after the last ply: the game was over then.
    later.iter().for_each(|lease| assert_begins(lease, &WHITE_WINS, WHITE_WINS.len() - 1));
    let counts: HashSet<usize> = later.iter().map(|lease| lease.moves.len()).collect();
    assert_eq!(counts.len(), WHITE_WINS.len() - 1, "each position is drawn");

    // The game goes on after its opening, and only what was played is learned from.
    let (before, lease) = (learner.replay.position_count(), &later[0]);
    report(&learner, "a", &plies(lease.game_id, &WHITE_WINS)[lease.moves.len()..], now);
    let played = WHITE_WINS.len() - lease.moves.len();
    assert_eq!(learner.replay.position_count(), before + played as u64);

    // An open game keeps its start over a crash.
    let after = crash_copy(run_dir.path());
    let learner = start(after.path());
    let again = leases(&learner, 50);
    let same = again.iter().find(|found| found.game_id == later[1].game_id).expect("it is still open");
    assert_eq!((&same.moves, same.opening_ply_count), (&later[1].moves, later[1].opening_ply_count));
}

#[test]
fn games_begin_within_human_games() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let learner = start_with(encoding(), run_dir.path());
    let human_games = [texts(&DRAW[..4])].into();
    plan(&learner, StartPlan { human_share: 0.5, human_games, ..StartPlan::default() });
    let leases = leases(&learner, 200);
    let (whole, begun): (Vec<&Lease>, Vec<&Lease>) = leases.iter().partition(|lease| lease.moves.is_empty());
    begun.iter().for_each(|lease| assert_begins(lease, &DRAW, 4));
    assert!((70..=130).contains(&begun.len()), "half of 200 games, not {}", begun.len());
    assert_eq!(whole.len() + begun.len(), 200);
}

#[test]
fn a_start_that_the_rules_refuse_gives_way_to_the_initial_position() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let learner = start_with(encoding(), run_dir.path());
    for moves in [vec!["z9".to_owned()], texts(&["b2", "b2"]), texts(&WHITE_WINS)] {
        let whole = moves.len();
        plan(&learner, StartPlan { human_share: 1.0, human_games: [moves].into(), ..StartPlan::default() });
        let leases = leases(&learner, 30);
        assert!(leases.iter().all(|lease| lease.moves.len() < whole), "{leases:?}");
        assert!(leases.iter().any(|lease| lease.moves.is_empty()));
    }
}
