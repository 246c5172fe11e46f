//! What the benchmarks of the search share: several threads on one tree.

use shared::game::Heuristic;
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
