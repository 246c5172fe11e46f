//! The flags that `learner pretrain` and `learner train` share, and how these commands start.

use std::path::PathBuf;

use anyhow::Context;
use learner::config::LearnerSettings;
use learner::training_source::TrainingSource;
use networks::NetworkSource;
use runtime::exit::UsageError;
use runtime::layers::to_toml;
use runtime::{exit, logging, shutdown};
use tokio_util::sync::CancellationToken;

use super::settings_args::SettingsArgs;

/// How to learn.
#[derive(Debug, Clone, clap::Args)]
pub struct SupervisedArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Times that every game is learned from, at most (pretrain.epochs, offline.epochs). May be changed when a training
    /// is resumed: a cosine then ends with the new last epoch.
    #[arg(long, value_name = "N")]
    epochs: Option<u32>,
    /// Network to start from, of the shape that the settings give or smaller, which then grows: a file, the folder of a
    /// training, or ready (the one that this program carries); none: random weights.
    #[arg(long, value_name = "FILE|ready")]
    network: Option<PathBuf>,
    /// human or json (log.format).
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
}

/// A command that has started.
pub struct StartedTraining {
    pub config: LearnerSettings,
    /// Cancelled when the program is told to stop.
    pub stop: CancellationToken,
    tokio: tokio::runtime::Runtime,
}

impl SupervisedArgs {
    /// Reads the settings, and starts log and signals; `None` if only the settings were asked for, and are printed.
    ///
    /// # Errors
    /// Invalid settings; [`UsageError`] without samples to learn from, if `has_samples` says so of the settings.
    pub fn start(
        &self,
        source: TrainingSource,
        has_samples: impl FnOnce(&LearnerSettings) -> bool,
    ) -> anyhow::Result<Option<StartedTraining>> {
        let (config, loaded) = self.settings.load(self.flags(source))?;
        if self.settings.print_config() {
            exit::print(&to_toml(&loaded.raw)).context("write to stdout")?;
            return Ok(None);
        }
        if !has_samples(&config) {
            return Err(UsageError(missing_samples(source).to_owned()).into());
        }
        // Before threads, files and the first torch call: on a machine with a GPU the program starts anew.
        let device = source.settings(&config).device;
        net::cuda::preload(device)?;
        logging::init(&config.log).map_err(|error| loaded.error("log.filter", error))?;
        // Reading games takes minutes: a device that is missing is reported before.
        net::open_device(device).with_context(|| format!("{}.device", source.section()))?;
        let (tokio, stop) = shutdown::listen().context("listen for signals")?;
        Ok(Some(StartedTraining { config, stop, tokio }))
    }

    /// Returns the network to start from, if one is named.
    pub fn start_network(&self) -> Option<NetworkSource> {
        self.network.as_deref().map(NetworkSource::from)
    }

    /// The flags as keys of the settings.
    fn flags(&self, source: TrainingSource) -> impl Iterator<Item = (String, String)> {
        let epochs = self.epochs.map(|epochs| (format!("{}.epochs", source.section()), epochs.to_string()));
        let log_format = self.log_format.as_ref().map(|format| ("log.format".to_owned(), format!("{format:?}")));
        epochs.into_iter().chain(log_format)
    }
}

const fn missing_samples(source: TrainingSource) -> &'static str {
    match source {
        TrainingSource::HumanGames => {
            "name the games to learn from: --games PATH..., --sgf-dir DIR, or replay.human_games"
        }
        TrainingSource::DataSets => "name the data sets or runs to learn from: --data FILE...",
    }
}

impl StartedTraining {
    /// Stops listening for signals.
    pub fn end(self) {
        self.tokio.shutdown_background();
    }
}
