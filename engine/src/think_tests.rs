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
        let search =
            EngineOptions::new::<Dama>(SearchPreset::AlphaZero).new_search(&dama, &dama.initial_position(), 1).unwrap();
        let limits = Limits {
            thread_count,
            ..EngineOptions::new::<Dama>(SearchPreset::AlphaZero).limits(Some(1_000_000), None)
        };
        let goes_on = &mut |search: &ParallelSearch<_>| search.simulation_count() < 100;
        let make_evaluator = evaluator_of(SearchPreset::AlphaZero);
        let search = think(&mut SearchPool::new(), search, &make_evaluator, &limits, goes_on).unwrap();
        let count = search.simulation_count();
        assert!(count >= 100, "{count}");
        assert!(thread_count > 1 || count < 100 + limits.batch_size, "{count}");
    }
}

#[test]
fn every_preset_makes_all_its_simulations_with_one_thread_and_with_several() {
    let dama = Dama::default();
    let mut pool = SearchPool::new();
    for preset in SearchPreset::ALL {
        for thread_count in [1, 4] {
            let mut settings = EngineOptions::new::<Dama>(SearchPreset::AlphaZero);
            settings.set("Preset", preset.name()).unwrap();
            let search = settings.new_search(&dama, &dama.initial_position(), 1).unwrap();
            let limits = Limits { thread_count, ..settings.limits(Some(2000), None) };
            let search = think(&mut pool, search, &evaluator_of(preset), &limits, &mut |_| true).unwrap();
            assert_eq!((search.simulation_count(), search.awaited_count()), (2000, 0), "{preset}");
        }
    }
}

/// Evaluates like the uniform evaluator, but batches, and notes how large they are.
struct Batches(Arc<Mutex<Vec<usize>>>);

impl Evaluator<Dama> for Batches {
    fn evaluate(&mut self, source: &mut dyn LeafSource<Dama>, leaves: &[LeafId]) -> Result<(), EvaluationError> {
        self.0.lock().unwrap().push(leaves.len());
        shared::search::UniformEvaluator::default().evaluate(source, leaves)
    }
}

#[test]
fn several_threads_share_the_leaves_of_a_batch() {
    let (dama, options) = (Dama::default(), EngineOptions::new::<Dama>(SearchPreset::AlphaZero));
    for (thread_count, largest) in [(1, 8), (3, 3), (20, 1)] {
        let sizes = Arc::new(Mutex::new(vec![]));
        let make_evaluator = |_| Box::new(Batches(Arc::clone(&sizes))) as Box<dyn Evaluator<Dama> + Send>;
        let search = options.new_search(&dama, &dama.initial_position(), 1).unwrap();
        let limits = Limits { thread_count, ..options.limits(Some(500), None) };
        let search = think(&mut SearchPool::new(), search, &make_evaluator, &limits, &mut |_| true).unwrap();
        assert_eq!((search.simulation_count(), search.awaited_count()), (500, 0));
        let sizes = sizes.lock().unwrap();
        assert!(sizes.iter().all(|size| *size <= largest) && sizes.contains(&largest), "{sizes:?}");
    }
}

#[test]
fn a_thread_that_panics_ends_the_search_and_is_replaced() {
    struct Panics;
    impl Evaluator<Dama> for Panics {
        fn evaluate(&mut self, _: &mut dyn LeafSource<Dama>, _: &[LeafId]) -> Result<(), EvaluationError> {
            panic!("the test wants it")
        }
    }
    let (dama, options) = (Dama::default(), EngineOptions::new::<Dama>(SearchPreset::AlphaZero));
    let mut pool = SearchPool::new();
    let mut run = |make_evaluator: &MakeEvaluator<'_, Dama>| {
        let search = options.new_search(&dama, &dama.initial_position(), 1).unwrap();
        let limits = Limits { thread_count: 2, ..options.limits(Some(100_000), None) };
        let deadline = Some(Instant::now() + Duration::from_millis(200));
        think(&mut pool, search, make_evaluator, &Limits { deadline, ..limits }, &mut |_| true).map(drop)
    };
    let uniform = evaluator_of(SearchPreset::AlphaZero);
    let second_panics =
        |number| if number == 0 { uniform(0) } else { Box::new(Panics) as Box<dyn Evaluator<Dama> + Send> };
    assert_eq!(run(&second_panics), Err(EvaluationError::ThreadFailed));
    assert_eq!(run(&uniform), Ok(()));
}
