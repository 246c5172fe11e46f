//! The settings that the program carries with it.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use runtime::config::Preset;

/// The built-in default: the first description, to the letter.
pub(crate) const DEFAULT_PRESET: &str = include_str!("../../config/hive-original.toml");

/// The presets that the program carries with it.
const PRESETS: [Preset; 5] = [
    Preset { name: "hive-cpu", text: include_str!("../../config/hive-cpu.toml") },
    Preset { name: "hive-4090", text: include_str!("../../config/hive-4090.toml") },
    Preset { name: "hive-original", text: DEFAULT_PRESET },
    Preset { name: "dama-cpu", text: include_str!("../../config/dama-cpu.toml") },
    Preset { name: "tictactoe", text: include_str!("../../config/tictactoe.toml") },
];

/// Returns what reads the name of a preset from the command line.
#[must_use]
pub fn parser() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(PRESETS.map(|preset| preset.name))
        .try_map(|name| PRESETS.into_iter().find(|preset| preset.name == name).ok_or("no preset has this name"))
}
