//! Simulations a second: on midgame positions of Hive with a network that answers at once (uniform priors, value 0), and
//! of the presets on draughts, alone and with several threads on one tree.

mod support;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use serde::Deserialize;
use shared::game::dama::Dama;
use shared::game::hive::{GameType, Hive, HiveRules, Position};
use shared::game::{Game, Value};
use shared::search::{ParallelSearch, Search, SearchPreset, SearchSettings, run_search};
use support::{hive_game, replay, search_in_parallel};

/// Plies played before the searched positions.
const MIDGAME_PLY: usize = 24;

fn main() {
    divan::main();
}

#[derive(Deserialize)]
struct GameRow {
    gametype: String,
    game: String,
}

fn hive() -> Hive {
    Hive::new(HiveRules { game_type: GameType::MLP, ..HiveRules::default() })
}

/// Positions after 24 plies of the golden games with all expansions.
fn midgames() -> Vec<Position> {
    let text = testdata::read("hive/games.jsonl");
    let rows = text.lines().map(|line| serde_json::from_str::<GameRow>(line).expect("a game"));
    let positions = rows.filter(|row| row.gametype == "Base+MLP").filter_map(|row| {
        let (_, texts) = hive_game(&row.game);
        let is_long = texts.len() > 2 * MIDGAME_PLY;
        is_long.then(|| replay(&hive(), &texts[..MIDGAME_PLY]).expect("a legal game"))
    });
    positions.take(8).collect()
}

/// Searches each position with this many simulations from an empty tree.
#[divan::bench(args = [100, 800, 3200], sample_count = 20)]
fn midgame(bencher: Bencher, simulation_count: u32) {
    let positions = midgames();
    assert_eq!(positions.len(), 8, "positions to search");
    let settings = SearchSettings { simulation_count, ..SearchSettings::default() };
    let simulations = positions.len() * simulation_count as usize;
    bencher.counter(ItemsCount::new(simulations)).bench_local(|| {
        for position in &positions {
            let search = Search::new(hive(), position.clone(), settings.clone(), 1);
            let mut search = search.expect("a game that goes on");
            run_search(&mut search, uniform);
            assert_eq!(search.simulation_count(), simulation_count);
            black_box(search.root_value());
        }
    });
}

/// The same simulations as `midgame`, by one thread of a parallel search.
#[divan::bench(args = [800, 3200], sample_count = 20)]
fn parallel_midgame(bencher: Bencher, simulation_count: u32) {
    let positions = midgames();
    bencher.counter(ItemsCount::new(positions.len() * simulation_count as usize)).bench_local(|| {
        for position in &positions {
            let search = search_in_parallel(hive(), position.clone(), SearchPreset::AlphaZero, simulation_count, 1);
            black_box(search.root_value());
        }
    });
}

/// Searches the start of a game of draughts.
#[divan::bench(args = SearchPreset::ALL, sample_count = 10)]
fn dama(bencher: Bencher, preset: SearchPreset) {
    bencher.counter(ItemsCount::new(DAMA_SIMULATIONS)).bench_local(|| black_box(dama_search(preset, 1).root_value()));
}

/// The same by four threads.
#[divan::bench(args = SearchPreset::ALL, sample_count = 10)]
fn dama_four_threads(bencher: Bencher, preset: SearchPreset) {
    bencher.counter(ItemsCount::new(DAMA_SIMULATIONS)).bench_local(|| black_box(dama_search(preset, 4).root_value()));
}

const DAMA_SIMULATIONS: u32 = 50_000;

fn dama_search(preset: SearchPreset, thread_count: u32) -> ParallelSearch<Dama> {
    let dama = Dama::default();
    search_in_parallel(dama, dama.initial_position(), preset, DAMA_SIMULATIONS, thread_count)
}

/// Plays ten plies (fewer if the game ends) with 800 simulations each from each position; trees are kept from ply to
/// ply, and their memory used again.
#[divan::bench(sample_count = 10)]
fn ten_plies(bencher: Bencher) {
    let positions = midgames();
    let settings = SearchSettings::default();
    let play_all = || positions.iter().map(|position| play_ten_plies(position, &settings)).sum::<u32>();
    let simulations = play_all();
    bencher.counter(ItemsCount::new(simulations)).bench_local(|| {
        assert_eq!(play_all(), simulations, "the same seed gives the same games");
    });
}

/// Returns the simulations that were run.
fn play_ten_plies(position: &Position, settings: &SearchSettings) -> u32 {
    let mut simulations = 0;
    let search = Search::new(hive(), position.clone(), settings.clone(), 1);
    let mut search = search.expect("a game that goes on");
    for _ in 0..10 {
        let kept = search.simulation_count();
        run_search(&mut search, uniform);
        simulations += search.simulation_count() - kept;
        let mv = search.choose_move();
        search.play(mv);
        if hive().outcome(search.position()).is_some() {
            break;
        }
    }
    simulations
}

fn uniform(_: &Position, moves: &[<Hive as Game>::Move], priors: &mut [f32]) -> Value {
    priors.fill(1.0 / moves.len() as f32);
    Value::DRAW
}
