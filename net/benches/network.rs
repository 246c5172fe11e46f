//! Positions a second of answering and of training, for the small networks that a processor can carry.
//!
//! `cargo bench -p net`; `--bench network -- --test` runs each once. Threads: `ALVEARE_BENCH_THREADS` (default 1).

use divan::Bencher;
use divan::counter::ItemsCount;
use net::{
    Device, InferenceNetwork, Network, NetworkOutput, NetworkSettings, NetworkShape, PolicyHead, Precision, Trainer,
    TrainingSettings,
};
use shared::encoding::{MoveCells, NetworkInput, PlaneShape, TrainingBatch};

/// Blocks, filters, positions in a batch.
type Case = (u32, u32, usize);

const ANSWERS: [Case; 9] = [
    (4, 32, 16),
    (4, 32, 64),
    (4, 32, 128),
    (4, 48, 16),
    (4, 48, 64),
    (4, 48, 128),
    (6, 64, 16),
    (6, 64, 64),
    (6, 64, 128),
];
const STEPS: [Case; 6] = [(4, 32, 256), (4, 32, 512), (4, 48, 256), (4, 48, 512), (6, 64, 256), (6, 64, 512)];

fn main() {
    let threads = std::env::var("ALVEARE_BENCH_THREADS").ok().and_then(|count| count.parse().ok()).unwrap_or(1);
    net::set_threads(threads);
    divan::main();
}

/// Hive in a frame of 16.
fn shape(blocks: u32, filters: u32) -> NetworkShape {
    NetworkShape {
        planes: PlaneShape { planes: 24, rows: 16, columns: 16 },
        policy_size: 5488,
        placement_kinds: 8,
        settings: NetworkSettings { blocks, filters, policy_head: PolicyHead::Spatial, value_hidden: 256 },
    }
}

/// Positions with 60 moves each; the numbers follow a fixed pattern.
fn input(shape: &NetworkShape, count: usize) -> NetworkInput {
    let mut input = NetworkInput::default();
    for position in 0..count {
        input.planes.extend((0..shape.planes.len()).map(|index| f32::from(u8::from((index * 7 + position) % 11 == 0))));
        for index in 0..60_u16 {
            input.policy_indices.push(index * 90);
            let target = (index * 4 + position as u16) % 256;
            input.cells.push(if index % 3 == 0 {
                MoveCells::Placement { kind: (index % 8) as u8, target }
            } else {
                MoveCells::Movement { source: 255 - target, target }
            });
        }
        input.move_ends.push(input.policy_indices.len() as u32);
    }
    input
}

#[divan::bench(args = ANSWERS, max_time = 2)]
fn answer(bencher: Bencher, (blocks, filters, count): Case) {
    let shape = shape(blocks, filters);
    let network = Network::random(&shape, Device::CPU, 1).expect("a small network fits");
    let mut inference = InferenceNetwork::new(&network, Device::CPU, Precision::Float32, &[]).expect("folds");
    let (input, mut output) = (input(&shape, count), NetworkOutput::default());
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        inference.evaluate(&input, &mut output).expect("the input is sound");
        assert_eq!((output.values.len(), output.uniform_prior_count), (count, 0));
    });
}

#[divan::bench(args = STEPS, max_time = 4, sample_size = 1)]
fn train(bencher: Bencher, (blocks, filters, count): Case) {
    let shape = shape(blocks, filters);
    let network = Network::random(&shape, Device::CPU, 1).expect("a small network fits");
    let mut trainer = Trainer::new(network, TrainingSettings::default()).expect("the settings are sound");
    let input = input(&shape, count);
    let batch = TrainingBatch {
        policy_targets: vec![1.0 / 60.0; input.policy_indices.len()],
        value_targets: vec![0.5; count],
        input,
    };
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        let losses = trainer.step(&batch, 0.001).expect("the batch is sound");
        assert!(losses.total > 0.0);
    });
}
