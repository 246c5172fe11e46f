//! Thinning games of tic-tac-toe: what stays is what the run needs, and every step leaves a run that is whole.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use registry::{StartPlan, rebuild};
use samples::buffer::{ReplaySets, SampleBuffer, SharedReplay};
use samples::split::Split;
use store::{GameKind, Store};

use super::OldGames;
use crate::check::check_run;

const GAMES: u32 = 200;

/// Plays games, and stops.
fn played() -> tempfile::TempDir {
    let run_dir = tempfile::tempdir().expect("a directory");
    let learner = fixtures::start(run_dir.path());
    let leases = learner.registry.lease("w", GameKind::SelfPlay, GAMES, Instant::now()).expect("leases").leases;
    assert_eq!(leases.len(), GAMES as usize);
    for lease in &leases {
        fixtures::report(&learner, "w", &fixtures::random_game(&fixtures::encoding(), lease), Instant::now());
    }
    run_dir
}

/// Fills the buffers as a start does: so many positions to learn from, and so many held out of one game in four.
fn buffers(store: &Store, [learned, held_out]: [u64; 2]) -> ReplaySets {
    let sets = ReplaySets::from(SampleBuffer::new(learned));
    let sets = match held_out {
        0 => sets,
        _ => sets.with_held_out(Split { seed: 3, held_out_share: 0.25 }, held_out),
    };
    let (sets, report) = rebuild(&fixtures::encoding(), store, sets, u64::MAX).expect("filled");
    assert_eq!(report.quarantined_count, 0);
    sets
}

fn content(sets: &ReplaySets) -> [Option<u64>; 3] {
    let held_out = sets.held_out_until(u64::MAX).position_count();
    [sets.first_finish_number(), Some(sets.position_count()), Some(held_out)]
}

fn assert_whole(run_dir: &Path) {
    let killed = fixtures::crash_copy(run_dir);
    let parts = check_run(killed.path()).expect("it can be checked");
    for part in parts.iter().filter(|part| ["database", "games"].contains(&part.part)) {
        assert_eq!(part.damages, Vec::<String>::new(), "{}", part.part);
    }
}

/// Thins step by step, looking at each what a kill would leave. Returns the number of steps and the finish number of the
/// oldest game that has its plies.
fn thin(run_dir: &Path, keep_games: u32, capacities: [u64; 2]) -> (u32, u64) {
    let store = Store::open(run_dir, &fixtures::run_row()).expect("the store opens");
    let (sets, reader) = (buffers(&store, capacities), store.reader().expect("a reader"));
    let before = content(&sets);
    let replay = Arc::new(SharedReplay::new(sets));
    let games = OldGames { keep_games, replay, starts: StartPlan::default() };
    let mut step_count = 0;
    loop {
        let changes = games.next_step(&reader).expect("chosen");
        if changes.is_empty() {
            break;
        }
        step_count += 1;
        store.write(changes).expect("removed");
        assert_whole(run_dir);
    }
    assert_eq!(content(&buffers(&store, capacities)), before, "a restart finds what was there");
    (step_count, oldest(&store))
}

fn oldest(store: &Store) -> u64 {
    let spans = store.reader().expect("a reader").newest_self_play(|_| false).expect("readable");
    spans.first().expect("some stay").finish_number
}

#[test]
fn the_newest_games_stay_and_all_that_the_buffers_hold() {
    let run_dir = played();
    let all = u64::from(GAMES);
    assert_eq!(thin(run_dir.path(), 0, [20, 0]), (0, 1), "0 keeps all");
    assert_eq!(thin(run_dir.path(), GAMES, [20, 0]), (0, 1));
    let (steps, first) = thin(run_dir.path(), 100, [20, 0]);
    assert_eq!((steps, first), (2, all - 99), "64 games a step");
    let store = Store::open(run_dir.path(), &fixtures::run_row()).expect("the store opens");
    let learned = buffers(&store, [200, 0]).first_finish_number().expect("games");
    let held_out = buffers(&store, [200, 100]).first_finish_number().expect("games");
    drop(store);
    assert!(held_out < learned && learned < all - 10, "{held_out} {learned}");
    assert_eq!(thin(run_dir.path(), 10, [200, 100]).1, held_out, "what is measured with reaches further back");
    assert_eq!(thin(run_dir.path(), 10, [200, 0]).1, learned);
    assert_eq!(thin(run_dir.path(), 1, [1, 0]).1, all);
}

#[test]
fn games_in_which_others_begin_stay() {
    let run_dir = played();
    let store = Store::open(run_dir.path(), &fixtures::run_row()).expect("the store opens");
    let (reader, replay) = (store.reader().expect("a reader"), Arc::new(SharedReplay::new(buffers(&store, [1, 0]))));
    let starts = StartPlan { earlier_share: 0.1, ..StartPlan::default() };
    let games = OldGames { keep_games: 1, replay, starts };
    assert_eq!(games.next_step(&reader).expect("chosen"), []);
}
