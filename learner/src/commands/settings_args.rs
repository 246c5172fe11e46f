//! The flags that say where the settings of a command come from.

use learner::config::{LearnerConfig, LearnerSettings};
use learner::presets;
use net::DeviceChoice;
use runtime::layers::{ConfigArgs, ConfigError, Loaded, SettingsPreset, Sources};

/// Where the settings come from.
#[derive(Debug, Clone, clap::Args)]
pub struct SettingsArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Settings that the program carries with it; keys of --config and --set go above them.
    #[arg(long, value_name = "NAME", value_parser = presets::parser())]
    preset: Option<SettingsPreset>,
}

/// The same for a command that evaluates.
#[derive(Debug, Clone, clap::Args)]
pub struct InferenceSettingsArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// auto, cpu or cuda:N. The default is that of the settings (inference.device).
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceChoice>,
}

impl SettingsArgs {
    /// Reads the settings; keys set by other flags of the command go above all others.
    ///
    /// # Errors
    /// [`ConfigError`] with the place and the key of what is wrong.
    pub fn load(
        &self,
        flags: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(LearnerSettings, Loaded<LearnerConfig>), ConfigError> {
        let mut config = self.config.clone();
        config.overrides.extend(flags);
        LearnerSettings::load(&Sources { preset: self.preset, ..Sources::new("learner", &config) })
    }

    /// Returns whether the settings are only to be printed.
    pub const fn print_config(&self) -> bool {
        self.config.print_config
    }
}

impl InferenceSettingsArgs {
    /// Reads the settings, with the device that the flag names.
    ///
    /// # Errors
    /// As [`SettingsArgs::load`].
    pub fn load(&self) -> Result<(LearnerSettings, Loaded<LearnerConfig>), ConfigError> {
        let keys = |device: DeviceChoice| {
            let one = ("inference.device".to_owned(), format!("\"{device}\""));
            [one, ("inference.devices".to_owned(), "[]".to_owned())]
        };
        self.settings.load(self.device.into_iter().flat_map(keys))
    }
}
