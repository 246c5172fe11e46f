//! Training: it learns, it goes on bit for bit, and nonsense leaves it as it was.
#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod common;

use std::collections::BTreeMap;

use common::{KINDS, Kind, batch, shape, spec};
use net::{
    Device, InferenceNetwork, NetError, Network, NetworkOutput, PolicyHead, Precision, Trainer, TrainingSettings,
};
use rand::SeedableRng;
use shared::encoding::{MoveCells, NetworkInput, TrainingBatch};

const OUTLOOK_WEIGHT: f64 = 0.3;

fn trainer(kind: Kind, size: usize) -> Trainer {
    let network = Network::random(&spec(kind.shape(size)), Device::CPU, 1).unwrap();
    Trainer::new(network, TrainingSettings { outlook_loss_weight: OUTLOOK_WEIGHT, ..Default::default() }).unwrap()
}

#[test]
fn steps_lower_the_loss() {
    for kind in KINDS {
        let mut trainer = trainer(kind, 5);
        let batch = batch(&kind.shape(5), 32, 3);
        let first = trainer.step(&batch, 0.02).unwrap();
        let losses: Vec<_> = (0..200).map(|_| trainer.step(&batch, 0.05).unwrap()).collect();
        let last = losses[199];
        assert!(last.policy_loss < first.policy_loss && last.value_loss < 0.5 * first.value_loss, "{first:?} {last:?}");
        let outlook_loss = OUTLOOK_WEIGHT * last.outlook_loss;
        assert!((last.total - last.policy_loss - last.value_loss - outlook_loss).abs() < 1e-5, "{last:?}");
        let is_predicted = last.outlook_loss < 0.5 * first.outlook_loss;
        assert!(if kind.looks_around { is_predicted } else { last.outlook_loss == 0.0 }, "{first:?} {last:?}");
        assert!(last.policy_accuracy > first.policy_accuracy, "{first:?} {last:?}");
        assert_eq!(trainer.training_step(), 201);
    }
}

/// Both precisions see nearly the same loss and gradient, and a step in 16 bits learns as well.
#[test]
fn reduced_precision_learns_the_same() {
    for kind in KINDS {
        let batch = batch(&kind.shape(5), 32, 3);
        let learn = |precision| {
            let network = Network::random(&spec(kind.shape(5)), Device::CPU, 1).unwrap();
            let mut trainer = Trainer::new(network, TrainingSettings { precision, ..Default::default() }).unwrap();
            let first = trainer.step(&batch, 0.02).unwrap();
            let last = (0..100).map(|_| trainer.step(&batch, 0.05).unwrap()).last().unwrap();
            assert!(last.total < first.total, "{kind:?}, {precision:?}: {first:?} {last:?}");
            (first, last)
        };
        let (wide, narrow) = (learn(Precision::Float32), learn(Precision::Bfloat16));
        assert_ne!(wide.0.total, narrow.0.total, "{kind:?}: the same to the last bit, so nothing was reduced");
        assert!((wide.0.total / narrow.0.total - 1.0).abs() < 0.02, "{kind:?}: {wide:?} {narrow:?}");
        assert!((wide.0.gradient_norm / narrow.0.gradient_norm - 1.0).abs() < 0.1, "{kind:?}: {wide:?} {narrow:?}");
        assert!((wide.1.total / narrow.1.total - 1.0).abs() < 0.2, "{kind:?}: {wide:?} {narrow:?}");
    }
}

/// 100 steps at a stretch equal 50, save, load in a new trainer, 50: every byte of the checkpoint.
fn check_resume(threads: usize, precision: Precision) {
    // A thread of its own: OpenMP keeps the number of threads by thread.
    let run = move || {
        net::set_threads(threads);
        let folder = tempfile::tempdir().unwrap();
        for kind in KINDS {
            let shape = kind.shape(7);
            let learn = |trainer: &mut Trainer, steps: std::ops::Range<u64>| {
                for step in steps {
                    trainer.step(&batch(&shape, 24, step), net::cosine_learning_rate(step, 100, 0.05, 0.001)).unwrap();
                }
            };
            let extra = BTreeMap::from([("random".to_owned(), "17".to_owned())]);
            let settings = TrainingSettings { precision, ..TrainingSettings::default() };
            let fresh = || Trainer::new(Network::random(&spec(shape), Device::CPU, 1).unwrap(), settings).unwrap();
            let mut whole = fresh();
            learn(&mut whole, 0..100);

            let mut half = fresh();
            learn(&mut half, 0..50);
            let path = folder.path().join("checkpoint.safetensors");
            half.save_checkpoint(&path, &extra).unwrap();
            drop(half);
            let (mut resumed, found) = Trainer::load_checkpoint(&path, &spec(shape), Device::CPU, settings).unwrap();
            assert_eq!((resumed.training_step(), &found), (50, &extra));
            learn(&mut resumed, 50..100);
            assert!(
                whole.checkpoint_bytes(&extra).unwrap() == resumed.checkpoint_bytes(&extra).unwrap(),
                "{kind:?}, {threads} threads, {precision:?}: differs after a restart"
            );
        }
    };
    std::thread::spawn(run).join().unwrap();
}

#[test]
fn resumed_training_is_the_same_bit_for_bit() {
    check_resume(1, Precision::Float32);
}

#[test]
fn resumed_training_is_the_same_on_several_threads() {
    check_resume(2, Precision::Float32);
}

#[test]
fn resumed_training_is_the_same_in_reduced_precision() {
    check_resume(1, Precision::Bfloat16);
}

#[test]
fn a_loss_that_is_not_finite_changes_nothing() {
    for kind in KINDS {
        let shape = kind.shape(5);
        let mut trainer = trainer(kind, 5);
        trainer.step(&batch(&shape, 8, 1), 0.01).unwrap();
        let before = trainer.checkpoint_bytes(&BTreeMap::new()).unwrap();

        let mut bad = batch(&shape, 8, 2);
        let second = bad.input.planes.range(1);
        bad.input.planes.numbers[second].fill(f32::NAN);
        let error = trainer.step(&bad, 0.01).unwrap_err();
        assert!(matches!(error, NetError::NotFinite { training_step: 1, .. }), "{error}");
        let mut bad = batch(&shape, 8, 2);
        bad.value_targets[3] = f32::INFINITY;
        assert!(matches!(trainer.step(&bad, 0.01).unwrap_err(), NetError::NotFinite { .. }));
        let mut bad = batch(&shape, 8, 2);
        bad.policy_targets[3] = f32::NAN;
        assert!(matches!(trainer.step(&bad, 0.01).unwrap_err(), NetError::NotFinite { .. }));
        assert!(trainer.step(&batch(&shape, 8, 2), f64::NAN).is_err());

        assert!(trainer.checkpoint_bytes(&BTreeMap::new()).unwrap() == before, "{kind:?}: something changed");
        trainer.step(&batch(&shape, 8, 2), 0.01).unwrap();
    }
}

#[test]
fn batches_that_contradict_themselves_are_refused() {
    let shape = shape(PolicyHead::Spatial, 5);
    let good = batch(&shape, 4, 1);
    let refused = |change: &dyn Fn(&mut TrainingBatch), expected: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        let error = trainer(KINDS[1], 5).step(&bad, 0.01).unwrap_err().to_string();
        assert!(error.starts_with("batch: ") && error.contains(expected), "{error}");
    };
    refused(&|batch| _ = batch.input.planes.numbers.pop(), "places of 4 positions");
    refused(&|batch| _ = batch.input.planes.ends.pop(), "planes of 3 positions, expected 4");
    refused(&|batch| batch.input.planes.ends[1] = 10_000, "places of 4 positions");
    refused(&|batch| batch.input.planes.places[0] = 100, "place 100 lies outside the planes");
    refused(&|batch| batch.input.planes.uniform_planes = &[3], "0 numbers of uniform planes, expected 4");
    refused(&|batch| batch.input.planes.uniform_planes = &[4], "plane 4, there are 4");
    refused(&|batch| _ = batch.input.cells.pop(), "cells for");
    refused(&|batch| batch.input.move_ends[1] = 10_000, "do not divide");
    refused(&|batch| *batch.input.move_ends.last_mut().unwrap() -= 1, "do not divide");
    refused(&|batch| batch.input.policy_indices[0] = 200, "policy index 200, the network has 200");
    refused(&|batch| batch.input.cells[0] = MoveCells::Placement { kind: 3, target: 0 }, "outside the planes");
    refused(&|batch| batch.input.cells[0] = MoveCells::Movement { source: 25, target: 0 }, "outside the planes");
    refused(&|batch| _ = batch.policy_targets.pop(), "policy targets for");
    refused(&|batch| _ = batch.value_targets.pop(), "3 value targets for 4 positions");
    refused(&|batch| *batch = TrainingBatch::default(), "no position to learn from");
    refused(&|batch| batch.input.move_ends[0] = 0, "position 0 has no move to learn");
}

/// Learns one chosen move in each of six positions with both heads, from the same indices and cells, and finds each.
#[test]
fn both_heads_give_a_move_the_same_meaning() {
    for kind in KINDS {
        let shape = kind.shape(5);
        let mut random = rand_pcg::Pcg64::seed_from_u64(9);
        let mut batch = TrainingBatch::default();
        let mut chosen = Vec::new();
        for position in 0..6_u16 {
            common::push(&mut batch.input, &shape, 0, &mut random);
            let others = batch.input.active_range(usize::from(position)).start;
            batch.input.active_cells.truncate(others);
            batch.input.active_cells.extend(0..25);
            *batch.input.active_ends.last_mut().unwrap() = batch.input.active_cells.len() as u32;
            // Distinct cells for distinct moves, as in a game: three placements, three movements.
            batch.input.policy_indices.extend((0..6).map(|mv| mv * 30 + position));
            batch.input.cells.extend((0..6).map(|mv| match mv {
                0..3 => MoveCells::Placement { kind: mv as u8, target: 4 * mv + position },
                _ => MoveCells::Movement { source: mv, target: 10 + position },
            }));
            batch.input.move_ends[usize::from(position)] = batch.input.policy_indices.len() as u32;
            batch.policy_targets.extend((0..6).map(|mv| f32::from(u8::from(mv == position))));
            batch.value_targets.push(if position % 2 == 0 { 0.8 } else { -0.8 });
            batch.outlook.endings.extend((0..shape.ending_count).map(|_| 0.0));
            batch.outlook.known.push(0.0);
            chosen.push(usize::from(position));
        }
        let mut trainer = trainer(kind, 5);
        for _ in 0..150 {
            trainer.step(&batch, 0.03).unwrap();
        }
        let output = evaluate(trainer.network(), &batch.input);
        for (position, &mv) in chosen.iter().enumerate() {
            let priors = &output.priors[batch.input.move_range(position)];
            assert!(priors[mv] > 0.6, "{kind:?}, position {position}, move {mv}: {priors:?}");
            let wanted = batch.value_targets[position];
            assert!((output.values[position] - wanted).abs() < 0.4, "{kind:?}: {:?}", output.values);
        }
    }
}

fn evaluate(network: &Network, input: &NetworkInput) -> NetworkOutput {
    let mut output = NetworkOutput::default();
    let mut inference = InferenceNetwork::new(network, Device::CPU, Precision::Float32, &[]).unwrap();
    inference.evaluate(input, &mut output).unwrap();
    output
}

#[test]
fn a_long_gradient_is_shortened() {
    let shape = shape(PolicyHead::Spatial, 5);
    let settings = TrainingSettings {
        gradient_clip_norm: Some(0.01),
        momentum: 0.0,
        weight_decay: 0.0,
        ..TrainingSettings::default()
    };
    let network = Network::random(&spec(shape), Device::CPU, 1).unwrap();
    let mut trainer = Trainer::new(network, settings).unwrap();
    let before = weights(&trainer);
    let losses = trainer.step(&batch(&shape, 8, 1), 1.0).unwrap();
    assert!(losses.gradient_norm > 0.1, "{losses:?}");
    let moved = moved(&before, &weights(&trainer), "");
    assert!((moved - 0.01).abs() < 1e-4, "moved by {moved}");
}

#[test]
fn a_training_that_restarts_has_the_weights_and_nothing_of_what_it_learned() {
    let kind = KINDS[0];
    let best = Network::random(&spec(kind.shape(5)), Device::CPU, 9).unwrap();
    let settings = TrainingSettings { weight_average_decay: Some(0.9), ..TrainingSettings::default() };
    let mut fresh = Trainer::new(best.copy_to(Device::CPU).unwrap(), settings).unwrap();
    let network = Network::random(&spec(kind.shape(5)), Device::CPU, 1).unwrap();
    let mut restarted = Trainer::new(network, settings).unwrap();
    for seed in 0..3 {
        restarted.step(&batch(&kind.shape(5), 8, seed), 0.1).unwrap();
    }
    restarted.restart_from(&best).unwrap();
    assert_eq!(restarted.training_step(), 3, "steps are counted on");
    for seed in 3..6 {
        for trainer in [&mut fresh, &mut restarted] {
            trainer.step(&batch(&kind.shape(5), 8, seed), 0.1).unwrap();
        }
    }
    let bytes =
        |trainer: &Trainer| [trainer.network().to_bytes().unwrap(), trainer.candidate().unwrap().to_bytes().unwrap()];
    assert!(bytes(&fresh) == bytes(&restarted), "neither velocity nor average are left");
    let other = Network::random(&spec(kind.shape(6)), Device::CPU, 1).unwrap();
    assert!(matches!(restarted.restart_from(&other), Err(NetError::Mismatch { .. })));
}

#[test]
fn each_head_has_a_learning_rate_of_its_own() {
    for kind in KINDS {
        let shape = kind.shape(5);
        let step = |policy_rate_scale, value_rate_scale| {
            let settings = TrainingSettings { policy_rate_scale, value_rate_scale, ..TrainingSettings::default() };
            let network = Network::random(&spec(shape), Device::CPU, 1).unwrap();
            let mut trainer = Trainer::new(network, settings).unwrap();
            let before = weights(&trainer);
            trainer.step(&batch(&shape, 8, 1), 0.1).unwrap();
            let after = weights(&trainer);
            ["first.", "policy.", "value."].map(|prefix| moved(&before, &after, prefix))
        };
        let [first, policy, value] = step(1.0, 1.0);
        assert!([first, policy, value].iter().all(|moved| *moved > 0.0), "{kind:?}");
        let close = |found: [f32; 3], wanted: [f32; 3]| {
            let is_close = found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-4 * (1.0 + b));
            assert!(is_close, "{kind:?}: {found:?}, expected {wanted:?}");
        };
        close(step(0.5, 0.0), [first, 0.5 * policy, 0.0]);
        close(step(1.0, 3.0), [first, policy, 3.0 * value]);
    }
}

/// The trainable weights by name.
fn weights(trainer: &Trainer) -> BTreeMap<String, Vec<f32>> {
    let bytes = trainer.checkpoint_bytes(&BTreeMap::new()).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let is_weight = |name: &&str| !name.starts_with("momentum.") && !name.contains("running");
    let numbers = |name: &str| {
        let tensor = file.tensor(name).unwrap();
        tensor.data().as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
    };
    file.names().into_iter().filter(is_weight).map(|name| (name.to_owned(), numbers(name))).collect()
}

/// How far the weights moved whose names begin with `prefix`.
fn moved(before: &BTreeMap<String, Vec<f32>>, after: &BTreeMap<String, Vec<f32>>, prefix: &str) -> f32 {
    let pairs = before
        .iter()
        .filter(|(name, _)| name.starts_with(prefix))
        .flat_map(|(name, weights)| weights.iter().zip(&after[name]));
    pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
}
