//! The average of weights: played, never trained from, and the same after a restart.
#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{KINDS, batch, shape, spec};
use net::{Device, InferenceNetwork, Network, NetworkOutput, PolicyHead, Precision, Trainer, TrainingSettings};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::encoding::TrainingBatch;

fn settings(weight_average_decay: Option<f64>) -> TrainingSettings {
    TrainingSettings { weight_average_decay, ..TrainingSettings::default() }
}

fn trainer(shape: net::NetworkShape, decay: Option<f64>) -> Trainer {
    Trainer::new(Network::random(&spec(shape), Device::CPU, 1).unwrap(), settings(decay)).unwrap()
}

fn learn(trainer: &mut Trainer, steps: std::ops::Range<u64>) {
    let shape = *trainer.network().shape();
    for step in steps {
        trainer.step(&batch(&shape, 12, step), 0.05).unwrap();
    }
}

fn resumed(path: &Path, shape: net::NetworkShape, decay: Option<f64>) -> Trainer {
    Trainer::load_checkpoint(path, &spec(shape), Device::CPU, settings(decay)).unwrap().0
}

#[test]
fn training_goes_on_from_the_weights_and_not_from_their_average() {
    for kind in KINDS {
        let (mut plain, mut averaged) = (trainer(kind.shape(5), None), trainer(kind.shape(5), Some(0.9)));
        learn(&mut plain, 0..10);
        learn(&mut averaged, 0..10);
        let bytes = |network: &Network| network.to_bytes().unwrap();
        assert!(bytes(plain.network()) == bytes(averaged.network()), "{kind:?}: the average changed the training");
        assert!(bytes(&plain.candidate().unwrap()) == bytes(plain.network()), "{kind:?}: no average, so the network");
        assert!(bytes(&averaged.candidate().unwrap()) != bytes(averaged.network()), "{kind:?}: nothing was averaged");
    }
}

#[test]
fn an_average_goes_on_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    for kind in KINDS {
        let mut whole = trainer(kind.shape(5), Some(0.9));
        learn(&mut whole, 0..30);
        let mut half = trainer(kind.shape(5), Some(0.9));
        // Within the steps that count alike: how many there were must come back too.
        learn(&mut half, 0..5);
        half.save_checkpoint(&path, &BTreeMap::new()).unwrap();
        let mut resumed = resumed(&path, kind.shape(5), Some(0.9));
        learn(&mut resumed, 5..30);
        let bytes = |trainer: &Trainer| trainer.checkpoint_bytes(&BTreeMap::new()).unwrap();
        assert!(bytes(&whole) == bytes(&resumed), "{kind:?}: differs after a restart");
    }
}

#[test]
fn an_average_may_be_asked_for_and_given_up_between_two_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let shape = shape(PolicyHead::Spatial, 5);
    let mut plain = trainer(shape, None);
    learn(&mut plain, 0..4);
    plain.save_checkpoint(&path, &BTreeMap::new()).unwrap();
    let mut asked = resumed(&path, shape, Some(0.9));
    let bytes = |network: &Network| network.to_bytes().unwrap();
    assert!(bytes(&asked.candidate().unwrap()) == bytes(plain.network()), "it begins with the checkpoint's weights");
    learn(&mut asked, 4..6);
    asked.save_checkpoint(&path, &BTreeMap::new()).unwrap();
    let given_up = resumed(&path, shape, None);
    assert!(bytes(&given_up.candidate().unwrap()) == bytes(asked.network()), "the weights themselves");
    // A checkpoint can be read wherever a network can: as the weights that training goes on from.
    let network = Network::load(&path, &spec(shape), Device::CPU).unwrap();
    assert!(bytes(&network) == bytes(asked.network()));
}

#[test]
fn settings_that_average_nothing_or_forever_are_refused() {
    for decay in [0.0, 1.0, -0.5, f64::NAN] {
        assert_eq!(settings(Some(decay)).check().unwrap_err().key, "weight_average_decay", "{decay}");
    }
}

/// Outcomes at random around a value that each position really has: the average of the weights is nearer to it.
#[test]
fn an_average_is_nearer_to_what_is_behind_noisy_outcomes() {
    let shape = shape(PolicyHead::Spatial, 5);
    let positions = batch(&shape, 64, 1);
    let mut random = Pcg64::seed_from_u64(2);
    let real: Vec<f32> = (0..64).map(|_| random.random_range(-0.8..0.8)).collect();
    let mut trainer = trainer(shape, Some(0.97));
    let (mut raw_error, mut average_error) = (0.0, 0.0);
    for step in 0..300 {
        let outcome = |value: &f32| if random.random_range(-1.0..1.0) < *value { 1.0 } else { -1.0 };
        let value_targets = real.iter().map(outcome).collect();
        trainer.step(&TrainingBatch { value_targets, ..positions.clone() }, 0.03).unwrap();
        if step >= 200 && step % 10 == 0 {
            raw_error += error(trainer.network(), &positions, &real);
            average_error += error(&trainer.candidate().unwrap(), &positions, &real);
        }
    }
    assert!(average_error < raw_error, "average: {average_error}, weights as they are: {raw_error}");
}

fn error(network: &Network, positions: &TrainingBatch, real: &[f32]) -> f32 {
    let mut output = NetworkOutput::default();
    let mut inference = InferenceNetwork::new(network, Device::CPU, Precision::Float32, &[]).unwrap();
    inference.evaluate(&positions.input, &mut output).unwrap();
    output.values.iter().zip(real).map(|(value, real)| (value - real).powi(2)).sum::<f32>() / real.len() as f32
}
