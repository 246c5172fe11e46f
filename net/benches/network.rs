//! Positions a second of answering and of training, for the small networks that a processor can carry.
//!
//! `cargo bench -p net`; `--bench network -- --test` runs each once. Threads: `ALVEARE_BENCH_THREADS` (default 1).

mod support;

use divan::Bencher;
use divan::counter::ItemsCount;
use net::{
    Architecture, Device, InferenceNetwork, Network, NetworkOutput, NetworkSettings, NetworkShape, NetworkSpec,
    PolicyHead, Precision, Trainer, TrainingPrecision, TrainingSettings, Trunk,
};
use shared::catalog::GameSpec;
use shared::encoding::{MoveCells, NetworkInput};
use shared::game::hive::HiveRules;
use support::{batch, dama_cnn, dama_input, dama_network};

/// Trunk, blocks, filters, numbers, positions in a batch.
type Case = (Trunk, u32, u32, Precision, usize);

use Precision::{Bfloat16, Float32};
use Trunk::{Cells, Frame};

const ANSWERS: [Case; 12] = [
    (Frame, 4, 32, Float32, 16),
    (Frame, 4, 32, Float32, 64),
    (Frame, 4, 32, Float32, 128),
    (Cells, 4, 32, Float32, 16),
    (Cells, 4, 32, Float32, 64),
    (Cells, 4, 32, Float32, 128),
    (Cells, 6, 64, Float32, 16),
    (Cells, 6, 64, Float32, 64),
    (Cells, 6, 64, Float32, 128),
    (Cells, 6, 64, Bfloat16, 16),
    (Cells, 6, 64, Bfloat16, 64),
    (Cells, 6, 64, Bfloat16, 128),
];
const STEPS: [Case; 5] = [
    (Frame, 4, 32, Float32, 256),
    (Cells, 4, 32, Float32, 256),
    (Frame, 6, 64, Float32, 256),
    (Cells, 6, 64, Float32, 256),
    (Cells, 6, 64, Bfloat16, 256),
];
const DAMA_ANSWERS: [(Dama, usize); 10] = [
    (Dama::Plain, 16),
    (Dama::Plain, 64),
    (Dama::Residual(Frame, 4, 32), 16),
    (Dama::Residual(Frame, 4, 32), 64),
    (Dama::Residual(Cells, 4, 32), 16),
    (Dama::Residual(Cells, 4, 32), 64),
    (Dama::Residual(Frame, 4, 64), 16),
    (Dama::Residual(Frame, 4, 64), 64),
    (Dama::Residual(Cells, 4, 64), 16),
    (Dama::Residual(Cells, 4, 64), 64),
];
const DAMA_STEPS: [(Dama, usize); 5] = [
    (Dama::Plain, 256),
    (Dama::Residual(Frame, 4, 32), 256),
    (Dama::Residual(Cells, 4, 32), 256),
    (Dama::Residual(Frame, 4, 64), 256),
    (Dama::Residual(Cells, 4, 64), 256),
];

fn main() {
    let threads = std::env::var("ALVEARE_BENCH_THREADS").ok().and_then(|count| count.parse().ok()).unwrap_or(1);
    net::set_threads(threads);
    divan::main();
}

/// Hive in a frame of 16.
fn hive(trunk: Trunk, blocks: u32, filters: u32) -> NetworkSpec {
    let settings = NetworkSettings {
        architecture: Architecture::Residual,
        blocks,
        filters,
        trunk,
        policy_head: PolicyHead::Spatial,
        value_hidden: 256,
        global_pooling_every: 0,
        outlook_heads: false,
    };
    let game = GameSpec::Hive { rules: HiveRules::default(), frame: 16 };
    NetworkSpec::new(&game, settings).expect("such a network can be")
}

/// A network for draughts.
#[derive(Debug, Clone, Copy)]
enum Dama {
    /// The first description's.
    Plain,
    /// Trunk, blocks and filters of a residual one.
    Residual(Trunk, u32, u32),
}

impl Dama {
    fn spec(self) -> NetworkSpec {
        let Self::Residual(trunk, blocks, filters) = self else { return dama_cnn() };
        let settings = NetworkSettings {
            architecture: Architecture::Residual,
            blocks,
            filters,
            trunk,
            policy_head: PolicyHead::Spatial,
            value_hidden: 64,
            global_pooling_every: 0,
            outlook_heads: false,
        };
        dama_network(settings)
    }
}

/// Positions with 60 moves and 40 active cells each, as in the middle of a game; the numbers follow a fixed pattern.
fn input(shape: &NetworkShape, count: usize) -> NetworkInput {
    let mut input = NetworkInput::default();
    input.planes.uniform_planes = &[19, 20, 22, 23];
    for position in 0..count {
        // Five rows of eight; two numbers in each, and four planes of one number.
        input.active_cells.extend((0..40_u16).map(|index| (5 + index / 8) * 16 + 4 + index % 8));
        input.active_ends.push(input.active_cells.len() as u32);
        for cell in &input.active_cells[input.active_range(position)] {
            for plane in [usize::from(*cell) * 7 + position, usize::from(*cell) * 7 + position + 5] {
                input.planes.put(plane % 19 * shape.cell_count() + usize::from(*cell), 1.0);
            }
        }
        input.planes.end(&[0.5, 0.25, 0.2, 0.5]);
        for index in 0..60_u16 {
            input.policy_indices.push(index * 90);
            let active = |index: u16| input.active_cells[usize::from(index % 40)];
            let (source, target) = (active(index * 7 + 3), active(index * 4 + position as u16));
            input.cells.push(if index % 3 == 0 {
                MoveCells::Placement { kind: (index % 8) as u8, target }
            } else {
                MoveCells::Movement { source, target }
            });
        }
        input.move_ends.push(input.policy_indices.len() as u32);
    }
    input
}

#[divan::bench(args = ANSWERS, max_time = 2)]
fn answer(bencher: Bencher, (trunk, blocks, filters, precision, count): Case) {
    let spec = hive(trunk, blocks, filters);
    bench_answers(bencher, &spec, precision, &input(&spec.shape, count));
}

#[divan::bench(args = DAMA_ANSWERS, max_time = 2)]
fn answer_dama(bencher: Bencher, (network, count): (Dama, usize)) {
    bench_answers(bencher, &network.spec(), Precision::for_device(Device::CPU), &dama_input(count));
}

fn bench_answers(bencher: Bencher, spec: &NetworkSpec, precision: Precision, input: &NetworkInput) {
    let network = Network::random(spec, Device::CPU, 1).expect("a small network fits");
    let mut inference = InferenceNetwork::new(&network, Device::CPU, precision, &[]).expect("folds");
    let (count, mut output) = (input.len(), NetworkOutput::default());
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        inference.evaluate(input, &mut output).expect("the input is sound");
        assert_eq!((output.values.len(), output.uniform_prior_count), (count, 0));
    });
}

#[divan::bench(args = STEPS, max_time = 4, sample_size = 1)]
fn train(bencher: Bencher, (trunk, blocks, filters, precision, count): Case) {
    let spec = hive(trunk, blocks, filters);
    bench_steps(bencher, &spec, precision, input(&spec.shape, count));
}

#[divan::bench(args = DAMA_STEPS, max_time = 4, sample_size = 1)]
fn train_dama(bencher: Bencher, (network, count): (Dama, usize)) {
    bench_steps(bencher, &network.spec(), TrainingPrecision::Auto.on(Device::CPU), dama_input(count));
}

fn bench_steps(bencher: Bencher, spec: &NetworkSpec, precision: Precision, input: NetworkInput) {
    let network = Network::random(spec, Device::CPU, 1).expect("a small network fits");
    let settings = TrainingSettings { precision, ..TrainingSettings::default() };
    let mut trainer = Trainer::new(network, settings).expect("the settings are sound");
    let count = input.len();
    let batch = batch(input);
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        let losses = trainer.step(&batch, 0.001).expect("the batch is sound");
        assert!(losses.total > 0.0);
    });
}
