//! A network that has grown answers as before, and learns on with all it has.
#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod common;

use common::{KINDS, batch, input, spec};
use net::{
    Architecture, Device, InferenceNetwork, Network, NetworkOutput, NetworkSettings, NetworkShape, Precision, Trainer,
    TrainingSettings,
};

fn trained(shape: &NetworkShape, steps: u64) -> Network {
    let mut trainer =
        Trainer::new(Network::random(&spec(*shape), Device::CPU, 7).unwrap(), TrainingSettings::default()).unwrap();
    for step in 0..steps {
        trainer.step(&batch(shape, 16, step), 0.05).unwrap();
    }
    trainer.network().copy_to(Device::CPU).unwrap()
}

fn answers(network: &Network, shape: &NetworkShape) -> NetworkOutput {
    let mut output = NetworkOutput::default();
    let mut inference = InferenceNetwork::new(network, Device::CPU, Precision::Float32, &[]).unwrap();
    inference.evaluate(&input(shape, 9, 5), &mut output).unwrap();
    output
}

fn larger(shape: &NetworkShape) -> NetworkShape {
    let settings = NetworkSettings {
        blocks: 3,
        filters: 11,
        value_hidden: 19,
        global_pooling_every: 2,
        outlook_heads: true,
        ..shape.settings
    };
    NetworkShape { settings, ending_count: 3, ..*shape }
}

#[test]
fn a_grown_network_answers_as_before_and_learns_with_its_new_weights() {
    let residual = KINDS.iter().filter(|kind| kind.architecture == Architecture::Residual);
    for small in residual.map(|kind| kind.shape(6)) {
        let (network, large) = (trained(&small, 25), larger(&small));
        assert!(small.grows_into(&large) && small.grows_into(&small) && !large.grows_into(&small));
        let grown = network.grown_to(&spec(large), 3).unwrap();
        let (before, after) = (answers(&network, &small), answers(&grown, &large));
        assert!(before.values.iter().any(|value| value.abs() > 0.05), "an answer that says nothing");
        let pairs = before.priors.iter().zip(&after.priors).chain(before.values.iter().zip(&after.values));
        for (before, after) in pairs {
            assert!((before - after).abs() < 1e-5, "{before} became {after}");
        }
        let mut trainer = Trainer::new(grown, TrainingSettings::default()).unwrap();
        let start = trainer.network().to_bytes().unwrap();
        let first = trainer.step(&batch(&large, 16, 3), 0.05).unwrap();
        let last = (0..40).map(|_| trainer.step(&batch(&large, 16, 3), 0.05).unwrap()).last().unwrap();
        assert!(last.total < first.total && trainer.network().to_bytes().unwrap() != start);
        let again = trained(&small, 25).grown_to(&spec(large), 3).unwrap();
        assert_eq!(again.to_bytes().unwrap(), start, "the same seed, the same weights");
    }
}

#[test]
fn what_would_lose_something_is_refused_by_name() {
    let hexagon = KINDS[3].shape(5);
    let network = trained(&hexagon, 0);
    let refused = |shape: NetworkShape| network.grown_to(&spec(shape), 1).err().unwrap().to_string();
    let settings = |settings| NetworkShape { settings, ..hexagon };
    assert!(refused(settings(NetworkSettings { filters: 7, ..hexagon.settings })).contains("of 7 on active cells"));
    assert!(!hexagon.grows_into(&KINDS[5].shape(5)), "another policy head");
    assert!(!hexagon.grows_into(&KINDS[2].shape(5)), "another board");
    let pooled = KINDS[8].shape(5);
    let rarer = NetworkSettings { global_pooling_every: 3, ..pooled.settings };
    assert!(!pooled.grows_into(&NetworkShape { settings: rarer, ..pooled }), "a block would pool no more");
    let plain = KINDS[6..].iter().find(|kind| kind.architecture == Architecture::DamaCnn).unwrap().shape(5);
    assert!(!plain.grows_into(&plain));
}
