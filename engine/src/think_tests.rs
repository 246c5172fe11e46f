//! Tests of driving a search.

use shared::game::dama::Dama;

use super::*;
use crate::settings::Settings;

/// Searches a position with so many simulations. Returns how many it took.
#[cfg(feature = "network")]
pub fn simulations_of<G: Game>(
    game: &G,
    position: G::Position,
    evaluator: &mut dyn Evaluator<G>,
    simulation_count: u32,
) -> u32 {
    let settings = Settings::default();
    let mut search = Search::new(game.clone(), position, settings.search(), 1).unwrap();
    let limits = settings.limits(Some(simulation_count), None);
    think(game, &mut search, evaluator, &limits, &mut |_| true).unwrap();
    search.simulation_count()
}

#[test]
fn a_search_ends_when_it_is_told_to() {
    let dama = Dama::default();
    let mut search = Search::new(dama, dama.initial_position(), Settings::default().search(), 1).unwrap();
    let limits = Settings::default().limits(Some(1000), None);
    let goes_on = &mut |search: &Search<_>| search.simulation_count() < 100;
    think(&dama, &mut search, &mut Uniform::default(), &limits, goes_on).unwrap();
    let count = search.simulation_count();
    assert!((100..100 + limits.batch_size).contains(&count), "{count}");
}
