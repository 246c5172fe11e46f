//! Decoders of the crates that link libtorch: network files and settings.

use learner::config::{LearnerConfig, LearnerSettings};
use net::{Device, NetworkFile};
use toml::{Table, Value};

/// A network file: its header, and its tensors on the processor.
pub fn network_file(bytes: &[u8]) {
    let Ok(file) = NetworkFile::from_bytes("fuzz", bytes.to_vec()) else { return };
    let Ok(spec) = file.spec() else { return };
    let Ok(network) = file.load(Device::CPU) else { return };
    assert_eq!(network.spec(), &spec, "what the network plays");
}

/// Settings of a learner, as a file over the defaults.
pub fn learner_settings(bytes: &[u8]) {
    let Ok(Ok(changes)) = std::str::from_utf8(bytes).map(toml::from_str::<Table>) else { return };
    let Ok(Value::Table(mut all)) = Value::try_from(LearnerConfig::default()) else { return };
    change(&mut all, changes);
    let Ok(config) = Value::Table(all).try_into::<LearnerConfig>() else { return };
    if let Err(error) = LearnerSettings::try_from(config) {
        assert!(!error.to_string().contains('\n'), "one line: {error}");
    }
}

fn change(all: &mut Table, changes: Table) {
    for (key, value) in changes {
        match (all.get_mut(&key), value) {
            (Some(Value::Table(all)), Value::Table(changes)) => change(all, changes),
            (_, value) => drop(all.insert(key, value)),
        }
    }
}
