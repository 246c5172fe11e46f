//! The settings that the program carries with it.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use net::NetworkSpec;
use runtime::layers::{SettingsPreset, Sources};

use crate::config::{DEFAULT_PRESET, LearnerConfig};

/// The presets that the program carries with it.
const PRESETS: [SettingsPreset; 8] = [
    SettingsPreset { name: "hive-cpu", text: include_str!("../../config/hive-cpu.toml") },
    SettingsPreset { name: "hive-cpu-zero", text: include_str!("../../config/hive-cpu-zero.toml") },
    SettingsPreset { name: "hive-4090", text: include_str!("../../config/hive-4090.toml") },
    SettingsPreset { name: "hive-original", text: DEFAULT_PRESET },
    SettingsPreset { name: "dama-cpu", text: include_str!("../../config/dama-cpu.toml") },
    SettingsPreset { name: "dama-4090", text: include_str!("../../config/dama-4090.toml") },
    SettingsPreset { name: "dama-original", text: include_str!("../../config/dama-original.toml") },
    SettingsPreset { name: "tictactoe", text: include_str!("../../config/tictactoe.toml") },
];

/// No preset has this name.
#[derive(Debug, thiserror::Error)]
#[error("no preset has this name")]
struct UnknownPreset;

/// Returns what reads the name of a preset from the command line.
#[must_use]
pub fn parser() -> impl TypedValueParser<Value = SettingsPreset> {
    PossibleValuesParser::new(PRESETS.map(|preset| preset.name))
        .try_map(|name| PRESETS.into_iter().find(|preset| preset.name == name).ok_or(UnknownPreset))
}

/// Returns the first preset whose networks are like `network`; `None` if there is none.
#[must_use]
pub fn fitting(network: &NetworkSpec) -> Option<&'static str> {
    let fits = |spec: &NetworkSpec| spec.game.has_networks_of(&network.game) && spec.shape == network.shape;
    networks().find(|(_, spec)| fits(spec)).map(|(name, _)| name)
}

/// Returns each preset by its name, with what its networks are.
pub(crate) fn networks() -> impl Iterator<Item = (&'static str, NetworkSpec)> {
    PRESETS.iter().filter_map(|preset| {
        let sources = Sources { program: "learner", preset: Some(*preset), ..Sources::default() };
        let loaded = runtime::layers::load::<LearnerConfig>(&sources).ok()?;
        Some((preset.name, NetworkSpec::new(&loaded.raw.game, loaded.raw.network).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_of_the_default_preset_is_explained_where_it_first_stands() {
        let (mut explained, mut is_after_comment) = (BTreeSet::new(), false);
        for line in DEFAULT_PRESET.lines() {
            if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
                // One comment may be about two keys in a row.
                assert!(is_after_comment || explained.contains(key), "{key} has no comment");
                explained.insert(key);
            } else {
                is_after_comment = line.starts_with('#');
            }
        }
        assert!(explained.len() > 60, "{explained:?}");
    }
}
