//! Many workers at one device: together they hold as many games as a few would, so none of these takes longer.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use fixtures::{DRAW, plies, report, start_with_grants};
use registry::LeafLoad;
use shared::ids::GameId;
use store::GameKind;

/// Games of the first iteration; as many are let out before anything was measured.
const GAME_COUNT: usize = 64;
/// Plies that the device answers in a tick, of all games in turn.
const PLIES_PER_TICK: usize = 16;
const TICK: Duration = Duration::from_millis(25);
/// A worker asks for as many games, as often as it holds fewer: every so many ticks, and at once when a game has ended.
const GAMES_ASKED: usize = 128;
const TICKS_BETWEEN: u32 = 10;

/// A worker that plays without a search.
#[derive(Default)]
struct Session {
    name: String,
    held_count: usize,
    asks_at: u32,
}

/// Returns the ticks until so many sessions have played the games of the first iteration.
fn ticks_of_first_iteration(session_count: usize) -> u32 {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, start) = (start_with_grants(run_dir.path(), GAME_COUNT), Instant::now());
    let named = |number| Session { name: format!("worker-{number}"), ..Session::default() };
    let mut sessions: Vec<Session> = (0..session_count).map(named).collect();
    // Who holds which game, and its next ply, in the order in which the device answers.
    let mut queue: VecDeque<(usize, GameId, usize)> = VecDeque::new();
    for tick in 0.. {
        let now = start + TICK * tick;
        for (index, session) in sessions.iter_mut().enumerate().filter(|(_, session)| session.asks_at <= tick) {
            let asked = (GAMES_ASKED - session.held_count) as u32;
            let leases =
                learner.registry.lease(&session.name, GameKind::SelfPlay, asked, now).expect("an answer").leases;
            session.held_count += leases.len();
            session.asks_at = tick + TICKS_BETWEEN;
            queue.extend(leases.iter().map(|lease| (index, lease.game_id, 0)));
        }
        let waiting_leaf_count = queue.len() as f64;
        for _ in 0..PLIES_PER_TICK.min(queue.len()) {
            let (index, game_id, ply) = queue.pop_front().expect("one waits");
            let session = &mut sessions[index];
            report(&learner, &session.name, &plies(game_id, &DRAW)[ply..=ply], now);
            if ply + 1 < DRAW.len() {
                queue.push_back((index, game_id, ply + 1));
            } else {
                session.held_count -= 1;
                session.asks_at = tick + 1;
            }
        }
        learner.registry.note_load(&LeafLoad { waiting_leaf_count, batch_leaf_count: GAME_COUNT / 3 });
        if learner.registry.progress().finished_self_play_count >= GAME_COUNT as u64 {
            return tick;
        }
    }
    unreachable!("the ticks have no end")
}

#[test]
fn the_first_iteration_of_two_hundred_workers_is_no_later_than_that_of_two() {
    let few = ticks_of_first_iteration(2);
    for session_count in [8, 90, 200] {
        let many = ticks_of_first_iteration(session_count);
        assert!(many * 10 <= few * 11, "{many} ticks with {session_count} workers, {few} with 2");
    }
}
