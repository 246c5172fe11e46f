//! Tests of driving a search.

use shared::game::dama::Dama;
use shared::search::SearchPreset;

use super::*;
use crate::options::EngineOptions;

fn evaluator_of(preset: SearchPreset) -> impl Fn(u64) -> Box<dyn Evaluator<Dama> + Send> {
    move |seed| preset.evaluator(seed)
}

#[test]
fn a_search_ends_when_it_is_told_to() {
    let dama = Dama::default();
    for thread_count in [1, 4] {
        let mut search =
            EngineOptions::new::<Dama>(SearchPreset::AlphaZero).new_search(&dama, &dama.initial_position(), 1).unwrap();
        let limits = Limits {
            thread_count,
            ..EngineOptions::new::<Dama>(SearchPreset::AlphaZero).limits(Some(1_000_000), None)
        };
        let goes_on = &mut |search: &ParallelSearch<_>| search.simulation_count() < 100;
        think(&mut search, &evaluator_of(SearchPreset::AlphaZero), &limits, goes_on).unwrap();
        let count = search.simulation_count();
        assert!(count >= 100, "{count}");
        assert!(thread_count > 1 || count < 100 + limits.batch_size, "{count}");
    }
}

#[test]
fn every_preset_makes_all_its_simulations_with_one_thread_and_with_several() {
    let dama = Dama::default();
    for preset in SearchPreset::ALL {
        for thread_count in [1, 4] {
            let mut settings = EngineOptions::new::<Dama>(SearchPreset::AlphaZero);
            settings.set("Preset", preset.name()).unwrap();
            let mut search = settings.new_search(&dama, &dama.initial_position(), 1).unwrap();
            let limits = Limits { thread_count, ..settings.limits(Some(2000), None) };
            think(&mut search, &evaluator_of(preset), &limits, &mut |_| true).unwrap();
            assert_eq!((search.simulation_count(), search.awaited_count()), (2000, 0), "{preset}");
        }
    }
}
