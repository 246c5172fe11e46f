//! What the benchmarks of the search share: a team at work.

use shared::game::Appraise;
use shared::search::{Preset, TeamSearch};

/// Searches a position from nothing with several threads.
pub fn team<G: Appraise>(
    game: G,
    position: G::Position,
    preset: Preset,
    simulation_count: u32,
    thread_count: u32,
) -> TeamSearch<G> {
    let search = TeamSearch::new(game, position, preset.rule(), preset.settings(simulation_count), 1);
    let search = search.expect("a game that goes on");
    std::thread::scope(|scope| {
        for number in 0..thread_count {
            let search = &search;
            scope.spawn(move || {
                let (mut member, mut valuer) = (search.member(number), preset.valuer(number.into()));
                while !search.is_done() {
                    if !member.simulate(&mut *valuer) {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!((search.simulation_count(), search.awaited_count()), (simulation_count, 0));
    search
}
