//! What `cargo xtask bench` compares with the network as first described, one `measured KEY VALUE` a line: `dama-cnn` on
//! one thread, with the precision that is fastest on this processor, best of several runs.

mod support;

use std::time::Instant;

use net::{Device, InferenceNetwork, Network, NetworkOutput, Precision, Trainer, TrainingPrecision, TrainingSettings};
use shared::encoding::{Encoding, NetworkInput};
use shared::game::{Game, Value};
use shared::search::{LeafSource, Request, Search, SearchSettings};
use support::{batch, dama_cnn, dama_encoding, dama_input};

/// Positions answered together.
const ANSWER_BATCH: usize = 16;
/// Positions of a step: as many as `config/dama-cpu.toml` has.
const STEP_BATCH: usize = 256;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_test = arguments.iter().any(|argument| argument == "--test");
    // Cargo hands a filter on to every benchmark.
    let is_wanted = arguments.iter().filter(|argument| !argument.starts_with("--")).all(|it| "baselines".contains(it));
    if is_wanted {
        net::set_threads(1);
        measure(if is_test {
            Effort { answers: 2, steps: 1, simulations: 8, plies: 4 }
        } else {
            Effort { answers: 300, steps: 12, simulations: 800, plies: u32::MAX }
        });
    }
}

/// How much is done to measure something.
#[derive(Clone, Copy)]
struct Effort {
    answers: u32,
    steps: u32,
    simulations: u32,
    plies: u32,
}

fn measure(effort: Effort) {
    let network = Network::random(&dama_cnn(), Device::CPU, 1).expect("a small network fits");
    let precision = Precision::for_device(Device::CPU);
    let mut answering = InferenceNetwork::new(&network, Device::CPU, precision, &[]).expect("folds");
    tell("inference_positions_per_s", answers_per_s(&mut answering, effort.answers));
    let (seconds, ply_count) = game_seconds(&mut answering, effort);
    tell("game_seconds", seconds);
    tell("game_plies", f64::from(ply_count));
    tell("training_samples_per_s", samples_per_s(network, effort.steps));
}

fn answers_per_s(network: &mut InferenceNetwork, count: u32) -> f64 {
    let (input, mut output) = (dama_input(ANSWER_BATCH), NetworkOutput::default());
    let fastest = fastest_of(count, || network.evaluate(&input, &mut output).expect("the input is sound"));
    assert_eq!((output.values.len(), output.uniform_prior_count), (ANSWER_BATCH, 0));
    ANSWER_BATCH as f64 / fastest
}

fn samples_per_s(network: Network, count: u32) -> f64 {
    let settings =
        TrainingSettings { precision: TrainingPrecision::Auto.on(Device::CPU), ..TrainingSettings::default() };
    let mut trainer = Trainer::new(network, settings).expect("the settings are sound");
    let batch = batch(dama_input(STEP_BATCH));
    let fastest = fastest_of(count, || assert!(trainer.step(&batch, 0.001).expect("the batch is sound").total > 0.0));
    STEP_BATCH as f64 / fastest
}

/// Returns the seconds of the fastest of `count` runs, after one that prepares memory.
fn fastest_of(count: u32, mut work: impl FnMut()) -> f64 {
    work();
    let runs = (0..count).map(|_| {
        let started = Instant::now();
        work();
        started.elapsed().as_secs_f64()
    });
    runs.fold(f64::INFINITY, f64::min)
}

/// Plays one game by itself, with as many leaves at once as a batch holds. Returns its seconds and plies.
fn game_seconds(network: &mut InferenceNetwork, effort: Effort) -> (f64, u32) {
    let encoding = dama_encoding();
    let game = *encoding.game();
    let settings = SearchSettings {
        simulation_count: effort.simulations,
        leaves_per_game: ANSWER_BATCH as u32,
        ..SearchSettings::default()
    };
    let mut search = Search::new(game, game.initial_position(), settings, 1).expect("a game that goes on");
    let (mut input, mut output) = (NetworkInput::default(), NetworkOutput::default());
    let (mut indices, mut leaves) = (Vec::new(), Vec::new());
    let started = Instant::now();
    let mut ply_count = 0;
    while ply_count < effort.plies && game.outcome(search.position()).is_none() {
        while !search.is_done() {
            input.clear();
            leaves.clear();
            while leaves.len() < ANSWER_BATCH {
                match search.select_leaf() {
                    Request::Evaluate(leaf) => {
                        let position = search.leaf_position(leaf);
                        indices.clear();
                        encoding.policy_indices(position, search.leaf_moves(leaf), &mut indices);
                        input.push(&encoding, position, &indices).expect("legal moves have indices");
                        leaves.push(leaf);
                    }
                    Request::Finished => {}
                    Request::Blocked => break,
                }
            }
            if leaves.is_empty() {
                continue;
            }
            network.evaluate(&input, &mut output).expect("the input is sound");
            for (index, leaf) in leaves.iter().enumerate() {
                search.expand(*leaf, &output.priors[input.move_range(index)], Value::new(output.values[index]));
            }
        }
        let mv = search.choose_move();
        search.play(mv);
        ply_count += 1;
    }
    (started.elapsed().as_secs_f64(), ply_count)
}

fn tell(key: &str, value: f64) {
    println!("measured {key} {value:.2}");
}
