//! What the benchmarks share: several threads on one tree, and positions of recorded games.

#![allow(dead_code, reason = "each benchmark uses its part")]

use shared::game::hive::{GameType, Hive, Position};
use shared::game::{Game, Heuristic};
use shared::search::{ParallelSearch, SearchPreset, simulate};

/// Searches a position from nothing with several threads.
pub fn search_in_parallel<G: Heuristic>(
    game: G,
    position: G::Position,
    preset: SearchPreset,
    simulation_count: u32,
    thread_count: u32,
) -> ParallelSearch<G> {
    let search = ParallelSearch::new(game, position, preset.rule(), preset.settings(simulation_count), 1);
    let search = search.expect("a game that goes on");
    std::thread::scope(|scope| {
        for number in 0..thread_count {
            let search = &search;
            scope.spawn(move || {
                let (mut thread, mut evaluator) = (search.thread(number), preset.evaluator::<G>(number.into()));
                while !search.is_done() {
                    if !simulate(&mut thread, &mut *evaluator).expect("an evaluation") {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!((search.simulation_count(), search.awaited_count()), (simulation_count, 0));
    search
}

/// Returns type and moves of a game of Hive that is written `TYPE;STATE;TURN;MOVE;...`.
pub fn hive_game(text: &str) -> (GameType, Vec<&str>) {
    let mut parts = text.split(';');
    let game_type = parts.next().and_then(|part| part.parse().ok()).expect("a game type");
    (game_type, parts.skip(2).collect())
}

/// Returns the position after the moves; `None` if one of them is not legal.
pub fn replay(hive: &Hive, texts: &[&str]) -> Option<Position> {
    let mut position = hive.initial_position();
    for text in texts {
        let mv = hive.parse_move(&position, text).ok()?;
        hive.play(&mut position, mv);
    }
    Some(position)
}
