//! Network files: what was written is read, and anything else is refused by name.
#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{batch, input, shape, spec};
use half::f16;
use net::{
    Architecture, Device, InferenceNetwork, NetError, Network, NetworkFile, NetworkOutput, NetworkSettings,
    NetworkShape, NetworkSpec, PolicyHead, Precision, Trainer, TrainingSettings, Trunk,
};
use safetensors::tensor::{Dtype, TensorView};
use shared::catalog::GameSpec;
use shared::encoding::dama::PolicyCoding;
use shared::game::dama::DamaRules;
use shared::game::hive::{GameType, HiveRules};

/// A network for no real game.
fn network(seed: u64) -> Network {
    Network::random(&made_up(), Device::CPU, seed).unwrap()
}

fn made_up() -> NetworkSpec {
    spec(shape(PolicyHead::Spatial, 5))
}

fn load(path: &Path) -> Result<Network, NetError> {
    Network::load(path, &made_up(), Device::CPU)
}

const SMALL: NetworkSettings = NetworkSettings {
    architecture: Architecture::Residual,
    blocks: 1,
    filters: 4,
    trunk: Trunk::Frame,
    policy_head: PolicyHead::Spatial,
    value_hidden: 4,
    global_pooling_every: 0,
    outlook_heads: false,
};

fn hive(game_type: GameType, frame: u8) -> NetworkSpec {
    let rules = HiveRules { game_type, ..HiveRules::default() };
    NetworkSpec::new(&GameSpec::Hive { rules, frame }, SMALL).unwrap()
}

fn dama(policy: PolicyCoding) -> NetworkSpec {
    NetworkSpec::new(&GameSpec::Dama { rules: DamaRules::default(), policy }, SMALL).unwrap()
}

fn bytes_of(spec: &NetworkSpec) -> Vec<u8> {
    Network::random(spec, Device::CPU, 1).unwrap().to_bytes().unwrap()
}

fn refusal(path: &Path) -> String {
    load(path).err().expect("was accepted").to_string()
}

fn load_bytes(bytes: Vec<u8>) -> Result<Network, NetError> {
    NetworkFile::from_bytes("(bytes)", bytes)?.load_as(&made_up(), Device::CPU)
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
    assert!(Network::check_file(&path, network.spec()).is_ok());
    assert!(load_bytes(fs::read(&path).unwrap()).is_ok());
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
    let error = Network::load(&path, &spec(wanted), Device::CPU).err().unwrap();
    assert!(matches!(error, NetError::Mismatch { .. }));
    let error = error.to_string();
    assert!(
        error.starts_with(&format!("network {}: has 2 blocks of 8, spatial policy head", path.display())),
        "{error}"
    );
    assert!(error.contains("the run wants 6 blocks of 64, full policy head of 200"), "{error}");
    let impossible = NetworkShape { policy_size: 0, ..wanted };
    let impossible = Network::random(&spec(impossible), Device::CPU, 1);
    assert!(matches!(impossible, Err(NetError::Settings(error)) if error.key == "policy_size"));
}

#[test]
fn a_file_says_what_it_plays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.safetensors");
    let tictactoe = NetworkSpec::new(&GameSpec::TicTacToe {}, SMALL).unwrap();
    for spec in [hive(GameType::default(), 12), dama(PolicyCoding::Lossless), dama(PolicyCoding::From4), tictactoe] {
        fs::write(&path, bytes_of(&spec)).unwrap();
        assert_eq!(Network::spec_of(&path).unwrap(), spec);
        let file = NetworkFile::read(&path).unwrap();
        assert_eq!(file.spec().unwrap(), spec);
        assert_eq!(*file.load(Device::CPU).unwrap().spec(), spec);
    }
}

#[test]
fn a_network_of_another_game_is_refused_in_words_and_other_rules_are_not() {
    let check = |file: &NetworkSpec, wanted: &NetworkSpec| {
        let file = NetworkFile::from_bytes("x", bytes_of(file)).unwrap();
        file.load_as(wanted, Device::CPU).map(|network| assert_eq!(network.spec(), wanted))
    };
    let (lossless, mlp) = (dama(PolicyCoding::Lossless), hive(GameType::MLP, 16));
    let error = |file: &NetworkSpec, wanted: &NetworkSpec| check(file, wanted).unwrap_err().to_string();
    let expected = "network x: plays Italian draughts (lossless), this wants Hive Base+MLP (frame 16)";
    assert_eq!(error(&lossless, &mlp), expected);
    let expected = "network x: plays Italian draughts (from4), this wants Italian draughts (lossless)";
    assert_eq!(error(&dama(PolicyCoding::From4), &lossless), expected);
    let expected = "network x: plays Hive Base (frame 12), this wants Hive Base+MLP (frame 16)";
    assert_eq!(error(&hive(GameType::default(), 12), &mlp), expected);
    check(&hive(GameType::default(), 16), &mlp).unwrap();
    check(&mlp, &hive(GameType::default(), 16)).unwrap();
}

/// A network for tic-tac-toe as the program wrote it before files named their game.
const FORMAT_1: &[u8] = include_bytes!("fixtures/format-1-tictactoe.safetensors");

#[test]
fn a_file_of_format_1_is_read_as_the_game_of_its_reader_or_the_only_one_of_its_shape() {
    let file = NetworkFile::from_bytes("old", FORMAT_1).unwrap();
    let spec = file.spec().unwrap();
    assert_eq!(spec.game, GameSpec::TicTacToe {});
    let network = file.load(Device::CPU).unwrap();
    // Written again it says what it plays; its numbers are the same.
    let again = NetworkFile::from_bytes("new", network.to_bytes().unwrap()).unwrap();
    assert_eq!(again.spec().unwrap(), spec);
    assert!(again.load(Device::CPU).unwrap().to_bytes().unwrap() == again.bytes());
    assert!(tensors(again.bytes()) == tensors(FORMAT_1));
    let mlp = hive(GameType::MLP, 16);
    assert!(matches!(file.load_as(&mlp, Device::CPU), Err(NetError::Mismatch { .. })));
    // With the other games the reader's rules count, and else the usual ones.
    for (written, usual) in [
        (hive(GameType::default(), 12), hive(GameType::MLP, 12)),
        (dama(PolicyCoding::From4), dama(PolicyCoding::From4)),
    ] {
        let old = NetworkFile::from_bytes("old", without_game(&bytes_of(&written))).unwrap();
        assert_eq!(old.spec().unwrap(), usual);
        assert_eq!(*old.load_as(&written, Device::CPU).unwrap().spec(), written);
    }
    let old = NetworkFile::from_bytes("old", without_game(&network_bytes(1))).unwrap();
    let error = old.spec().unwrap_err().to_string();
    assert!(error.starts_with("network old: names no game (format 1), and no game has its shape: 2 blocks"), "{error}");
    assert!(old.load_as(&made_up(), Device::CPU).is_ok());
}

fn network_bytes(seed: u64) -> Vec<u8> {
    network(seed).to_bytes().unwrap()
}

/// The tensors of a file: names, and dtype, shape and bytes of each.
fn tensors(bytes: &[u8]) -> BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)> {
    let tensors = safetensors::SafeTensors::deserialize(bytes).unwrap();
    let parts = |view: TensorView<'_>| (view.dtype(), view.shape().to_vec(), view.data().to_vec());
    tensors.iter().map(|(name, view)| (name.to_owned(), parts(view))).collect()
}

/// Changes the metadata of a file.
fn with_metadata(bytes: &[u8], change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let (_, metadata) = safetensors::SafeTensors::read_metadata(bytes).unwrap();
    let mut metadata = metadata.metadata().clone().unwrap();
    let mut entry = serde_json::from_str(&metadata["alveare"]).unwrap();
    change(&mut entry);
    metadata.insert("alveare".to_owned(), entry.to_string());
    let tensors = safetensors::SafeTensors::deserialize(bytes).unwrap();
    safetensors::serialize(tensors.iter(), Some(metadata)).unwrap()
}

/// Makes a file of format 1 of one of format 2.
fn without_game(bytes: &[u8]) -> Vec<u8> {
    with_metadata(bytes, |entry| {
        entry["format"] = 1.into();
        entry.as_object_mut().unwrap().remove("game");
    })
}

#[test]
fn metadata_that_contradict_themselves_are_refused() {
    let good = bytes_of(&hive(GameType::MLP, 12));
    let refusal = |change: fn(&mut serde_json::Value)| {
        let file = NetworkFile::from_bytes("x", with_metadata(&good, change));
        file.and_then(|file| file.spec()).unwrap_err().to_string()
    };
    let later = refusal(|entry| {
        *entry = serde_json::json!({ "format": 3, "what": "a later program writes" });
    });
    assert_eq!(later, "network x: format version 3, this program reads 1 and 2");
    let no_game = refusal(|entry| entry["format"] = 1.into());
    assert_eq!(no_game, "network x: metadata: format 2 names a game, format 1 none");
    let frame = refusal(|entry| entry["game"]["frame"] = 16.into());
    assert!(
        frame.starts_with("network x: was made for another encoding of Hive Base+MLP (frame 16): 1 blocks"),
        "{frame}"
    );
    let impossible = refusal(|entry| entry["game"]["frame"] = 99.into());
    assert_eq!(impossible, "network x: game.frame: 99 is not in 8..=32");
    let unknown = refusal(|entry| entry["game"]["name"] = "chess".into());
    assert!(unknown.starts_with("network x: metadata: ") && unknown.contains("chess"), "{unknown}");
}

/// The same file with other numbers in one tensor, and the checksum of them.
fn with_tensor(bytes: &[u8], name: &str, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut all = tensors(bytes);
    change(&mut all.get_mut(name).unwrap().2);
    let mut hash = sha2::Sha256::default();
    for (name, (_, _, numbers)) in &all {
        sha2::Digest::update(&mut hash, name);
        sha2::Digest::update(&mut hash, numbers);
    }
    let sha256: String = sha2::Digest::finalize(hash).iter().map(|byte| format!("{byte:02x}")).collect();
    let (_, metadata) = safetensors::SafeTensors::read_metadata(bytes).unwrap();
    let views = all
        .iter()
        .map(|(name, (dtype, dims, numbers))| (name.clone(), TensorView::new(*dtype, dims.clone(), numbers).unwrap()));
    let changed = safetensors::serialize(views, metadata.metadata().clone()).unwrap();
    with_metadata(&changed, |entry| entry["sha256"] = sha256.into())
}

#[test]
fn numbers_that_no_network_has_are_refused_by_tensor() {
    let good = network_bytes(1);
    let last = |value: f32| {
        move |numbers: &mut [u8]| {
            let end = numbers.len();
            numbers[end - 4..].copy_from_slice(&value.to_le_bytes());
        }
    };
    let load = |name, value| load_bytes(with_tensor(&good, name, last(value)));
    let refusal = |name, value| load(name, value).err().unwrap().to_string();
    let bad = "network (bytes): tensor block.1.first.weight holds a number that is not finite";
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(refusal("block.1.first.weight", value), bad);
    }
    let bad = "network (bytes): tensor first.norm.running_var holds a variance below 0";
    assert_eq!(refusal("first.norm.running_var", -1.0), bad);
    assert!(load("first.norm.running_mean", -1.0).is_ok());
    assert!(load("first.norm.running_var", 0.0).is_ok());
}

/// A network that has learned something: random weights alone are all of one size.
fn trained(shape: &NetworkShape) -> Network {
    let mut trainer =
        Trainer::new(Network::random(&spec(*shape), Device::CPU, 3).unwrap(), TrainingSettings::default());
    let trainer = trainer.as_mut().unwrap();
    for step in 0..20 {
        trainer.step(&batch(shape, 16, step % 4), 0.02).unwrap();
    }
    trainer.network().copy_to(Device::CPU).unwrap()
}

#[test]
fn a_file_for_publication_is_half_as_large_and_answers_alike() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, half) = (folder.path().join("whole"), folder.path().join("half"));
    for policy_head in [PolicyHead::Full, PolicyHead::Spatial] {
        let shape = shape(policy_head, 5);
        let network = trained(&shape);
        network.save(&whole).unwrap();
        network.save_half(&half).unwrap();
        let halved = Network::load(&half, network.spec(), Device::CPU).unwrap();
        let (before, after) = (tensors(&fs::read(&whole).unwrap()), tensors(&fs::read(&half).unwrap()));
        for (name, (dtype, dims, numbers)) in &after {
            let is_vector = dims.len() == 1;
            assert_eq!(*dtype, if is_vector { Dtype::F32 } else { Dtype::F16 }, "{name}");
            assert!(!is_vector || *numbers == before[name].2, "{name}");
        }
        halved.save_half(&whole).unwrap();
        assert!(fs::read(&whole).unwrap() == fs::read(&half).unwrap(), "nothing is lost a second time");
        // Rounding to half precision moves an answer less than bfloat16, in which processors compute it, does.
        let error = answer_error(&network, &halved, Precision::Float32);
        let usual = answer_error(&network, &network, Precision::Bfloat16);
        assert!(error < 0.003 && error < usual, "{policy_head:?}: {error} of an answer, bfloat16 {usual}");
    }
}

/// Returns the largest difference of a prior or value between `one` in 32 bits and `other` in `precision`.
fn answer_error(one: &Network, other: &Network, precision: Precision) -> f32 {
    let answers = |network: &Network, precision| {
        let mut output = NetworkOutput::default();
        let mut network = InferenceNetwork::new(network, Device::CPU, precision, &[]).unwrap();
        network.evaluate(&input(one.shape(), 64, 9), &mut output).unwrap();
        output
    };
    let (one, other) = (answers(one, Precision::Float32), answers(other, precision));
    let pairs = one.priors.iter().zip(&other.priors).chain(one.values.iter().zip(&other.values));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn a_weight_too_large_for_half_precision_keeps_its_tensor_whole() {
    let large = f32::from(f16::MAX) * 2.0;
    let name = "policy.maps.weight";
    let bytes = with_tensor(&network_bytes(1), name, |numbers| numbers[..4].copy_from_slice(&large.to_le_bytes()));
    let network = load_bytes(bytes.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half");
    network.save_half(&path).unwrap();
    let half = tensors(&fs::read(&path).unwrap());
    assert!(half[name] == tensors(&bytes)[name]);
    assert_eq!(half["first.weight"].0, Dtype::F16);
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
        assert!(matches!(Network::spec_of(&path), Err(NetError::Corrupt { .. })), "cut to {length}");
    }
    fs::write(&path, "# A text, longer than a header's length").unwrap();
    assert!(Network::spec_of(&path).unwrap_err().to_string().ends_with("it is not a .safetensors file"));
    // One bit anywhere, header or numbers.
    for place in (0..good.len()).step_by(good.len() / 400) {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        let loaded = load_bytes(bad);
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
    let resume = |path: &Path| Trainer::load_checkpoint(path, &made_up(), Device::CPU, TrainingSettings::default());
    assert!(resume(&checkpoint).is_ok());
    let error = resume(&plain).err().unwrap().to_string();
    assert!(error.ends_with("a network without velocity, not a checkpoint"), "{error}");
}
