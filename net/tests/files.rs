//! Files of weights: what was written is read, and anything else is refused by name.
#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::shape;
use net::{Device, NetError, Network, NetworkSettings, NetworkShape, PolicyHead, Trainer, TrainingSettings};

fn network(seed: u64) -> Network {
    Network::random(&shape(PolicyHead::Spatial, 5), Device::CPU, seed).unwrap()
}

fn load(path: &Path) -> Result<Network, NetError> {
    Network::load(path, &shape(PolicyHead::Spatial, 5), Device::CPU)
}

fn refusal(path: &Path) -> String {
    load(path).err().expect("was accepted").to_string()
}

#[test]
fn what_was_saved_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.safetensors");
    let network = network(1);
    let digest = network.save(&path).unwrap();
    assert_eq!(digest.len(), 64);
    assert_eq!(network.save(&path).unwrap(), digest, "equal weights, equal bytes");
    let loaded = load(&path).unwrap();
    assert!(loaded.to_bytes().unwrap() == network.to_bytes().unwrap());
    assert_eq!(Network::shape_of(&path).unwrap(), *network.shape());
    assert!(Network::from_bytes(&fs::read(&path).unwrap(), network.shape(), Device::CPU).is_ok());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    assert!(network.to_bytes().unwrap() != self::network(2).to_bytes().unwrap(), "another seed, other weights");
}

#[test]
fn another_shape_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.safetensors");
    network(1).save(&path).unwrap();
    let mut wanted = shape(PolicyHead::Full, 5);
    wanted.settings = NetworkSettings { blocks: 6, filters: 64, ..wanted.settings };
    let error = Network::load(&path, &wanted, Device::CPU).err().unwrap();
    assert!(matches!(error, NetError::Mismatch { .. }));
    let error = error.to_string();
    assert!(
        error.starts_with(&format!("network {}: has 2 blocks of 8, spatial policy head", path.display())),
        "{error}"
    );
    assert!(error.contains("the run wants 6 blocks of 64, full policy head of 200"), "{error}");
    let impossible = NetworkShape { policy_size: 0, ..wanted };
    assert!(matches!(Network::random(&impossible, Device::CPU, 1), Err(NetError::Settings { key: "policy_size", .. })));
}

#[test]
fn every_damaged_file_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.safetensors");
    let good = network(1).to_bytes().unwrap();
    for length in [0, 5, 8, 100, good.len() / 2, good.len() - 1] {
        fs::write(&path, &good[..length]).unwrap();
        assert!(refusal(&path).starts_with(&format!("network {}: ", path.display())), "cut to {length}");
    }
    for length in [0, 5, 8, 100] {
        fs::write(&path, &good[..length]).unwrap();
        assert!(matches!(Network::shape_of(&path), Err(NetError::Corrupt { .. })), "cut to {length}");
    }
    fs::write(&path, "# A text, longer than a header's length").unwrap();
    assert!(Network::shape_of(&path).unwrap_err().to_string().ends_with("it is no .safetensors file"));
    // One bit anywhere, header or numbers.
    for place in (0..good.len()).step_by(good.len() / 400) {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        let loaded = Network::from_bytes(&bad, &shape(PolicyHead::Spatial, 5), Device::CPU);
        assert!(loaded.is_err() || loaded.unwrap().to_bytes().unwrap() == good, "bit flipped in byte {place}");
    }
    fs::write(&path, [&good[..], b"more"].concat()).unwrap();
    assert!(refusal(&path).contains("not a whole safetensors file"));
    let foreign = safetensors::serialize(Vec::<(String, safetensors::tensor::TensorView<'_>)>::new(), None).unwrap();
    fs::write(&path, foreign).unwrap();
    assert!(refusal(&path).contains("has no metadata named alveare"), "{}", refusal(&path));
    fs::remove_file(&path).unwrap();
    assert!(refusal(&path).contains("cannot read it"));
}

#[test]
fn a_failed_save_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(network(1).save(&folder.path().join("none/net.safetensors")), Err(NetError::Io { .. })));
    // A folder stands where the file should go: the last step, the rename, fails.
    let path = folder.path().join("net.safetensors");
    fs::create_dir_all(path.join("full")).unwrap();
    assert!(matches!(network(1).save(&path), Err(NetError::Io { action: "rename it", .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_checkpoint_is_a_network_but_not_the_other_way() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, plain) = (folder.path().join("checkpoint"), folder.path().join("plain"));
    let trainer = Trainer::new(network(1), TrainingSettings::default()).unwrap();
    trainer.save_checkpoint(&checkpoint, &BTreeMap::new()).unwrap();
    network(1).save(&plain).unwrap();
    assert!(load(&checkpoint).unwrap().to_bytes().unwrap() == network(1).to_bytes().unwrap());
    let resume = |path: &Path| {
        Trainer::load_checkpoint(path, &shape(PolicyHead::Spatial, 5), Device::CPU, TrainingSettings::default())
    };
    assert!(resume(&checkpoint).is_ok());
    let error = resume(&plain).err().unwrap().to_string();
    assert!(error.ends_with("a network without velocity, not a checkpoint"), "{error}");
}
