//! What `cargo xtask bench` compares with the search as first described, one `measured KEY VALUE` a line: draughts from
//! the start of a game, best of several runs.

mod support;

use std::time::Instant;

use shared::game::Game;
use shared::game::dama::Dama;
use shared::search::{PARALLEL_EDGE_BYTES, PARALLEL_NODE_BYTES, ParallelSearch, SearchPreset, simulate};
use support::search_in_parallel;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_test = arguments.iter().any(|argument| argument == "--test");
    // Cargo hands a filter on to every benchmark.
    let is_wanted = arguments.iter().filter(|argument| !argument.starts_with("--")).all(|it| "baselines".contains(it));
    if is_wanted {
        measure(if is_test {
            Effort { run_count: 1, simulations: 1000 }
        } else {
            Effort { run_count: 7, simulations: 200_000 }
        });
    }
}

#[derive(Clone, Copy)]
struct Effort {
    run_count: u32,
    simulations: u32,
}

fn measure(effort: Effort) {
    let (vanilla, search) = rate(SearchPreset::Vanilla, 1, effort);
    let (nodes, _) = search.count_nodes_and_edges();
    tell("vanilla_simulations_per_s", vanilla);
    tell("nodes_per_s", vanilla * nodes as f64 / f64::from(search.simulation_count()));
    tell("vanilla_four_threads_ratio", rate(SearchPreset::Vanilla, 4, effort).0 / vanilla);
    let (instant, search) = rate(SearchPreset::AlphaZero, 1, effort);
    let (nodes, edges) = search.count_nodes_and_edges();
    tell("node_bytes", PARALLEL_NODE_BYTES as f64 + PARALLEL_EDGE_BYTES as f64 * edges as f64 / nodes as f64);
    tell("instant_simulations_per_s", instant);
    tell("instant_four_threads_ratio", rate(SearchPreset::AlphaZero, 4, effort).0 / instant);
    tell("grandmaster_simulations_per_s", rate(SearchPreset::Grandmaster, 1, effort).0);
    for preset in SearchPreset::ALL.into_iter().filter(|preset| preset.shares_evaluations()) {
        let (share, rate) = found_share(preset, effort.simulations);
        tell(&format!("{preset}_found_share"), share);
        tell(&format!("{preset}_sharing_simulations_per_s"), rate);
    }
}

/// Returns the share of leaves whose evaluation is found in a table of 4 MiB, and the simulations a second with it.
fn found_share(preset: SearchPreset, simulations: u32) -> (f64, f64) {
    let dama = Dama::default();
    let search = ParallelSearch::new(dama, dama.initial_position(), preset.rule(), preset.settings(simulations), 1);
    let mut search = search.expect("a game that goes on");
    search.share_evaluations(4 << 20);
    let started = Instant::now();
    let (mut thread, mut evaluator) = (search.thread(0), preset.evaluator::<Dama>(1));
    while simulate(&mut thread, &mut *evaluator).expect("an evaluation") {}
    drop(thread);
    let (lookup_count, hit_count) = search.shared_evaluation_counts();
    let rate = f64::from(simulations) / started.elapsed().as_secs_f64();
    (hit_count as f64 / lookup_count.max(1) as f64, rate)
}

/// Returns the simulations a second of the fastest run, and the tree of the last.
fn rate(preset: SearchPreset, thread_count: u32, effort: Effort) -> (f64, ParallelSearch<Dama>) {
    let dama = Dama::default();
    let run = || {
        let started = Instant::now();
        let search = search_in_parallel(dama, dama.initial_position(), preset, effort.simulations, thread_count);
        (f64::from(effort.simulations) / started.elapsed().as_secs_f64(), search)
    };
    (1..effort.run_count).fold(run(), |best, _| {
        let (rate, search) = run();
        (best.0.max(rate), search)
    })
}

fn tell(key: &str, value: f64) {
    println!("measured {key} {value:.2}");
}
