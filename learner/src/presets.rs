//! The settings that the program carries with it.

use runtime::config::Preset;
use runtime::exit::UsageError;

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

/// Returns a preset by its name.
///
/// # Errors
/// [`UsageError`] with the names there are.
pub fn preset(name: &str) -> Result<Preset, UsageError> {
    let found = PRESETS.iter().find(|preset| preset.name == name);
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    found.copied().ok_or_else(|| UsageError(format!("--preset {name}: there are {}", names.join(", "))))
}
