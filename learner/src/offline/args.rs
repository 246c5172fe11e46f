//! The flags that both commands have, and how a command starts.

use anyhow::Context;
use runtime::exit::UsageError;
use runtime::layers::{ConfigArgs, SettingsPreset, Sources, to_toml};
use runtime::{exit, logging, shutdown};
use tokio_util::sync::CancellationToken;

use super::kind::Kind;
use crate::config::LearnerSettings;
use crate::presets;

/// How to learn.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct OfflineArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Settings that the program carries with it; keys of --config and --set go above them.
    #[arg(long, value_name = "NAME", value_parser = presets::parser())]
    preset: Option<SettingsPreset>,
    /// Times that every game is learned from, at most (pretrain.epochs, offline.epochs).
    #[arg(long, value_name = "N")]
    epochs: Option<u32>,
    /// human or json (log.format).
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
}

/// A command that has started.
pub(super) struct Started {
    pub config: LearnerSettings,
    /// Tells that it is to stop.
    pub stop: CancellationToken,
    tokio: tokio::runtime::Runtime,
}

impl OfflineArgs {
    /// Reads the settings, and starts log and signals; `None` if only the settings were asked for, and are printed.
    ///
    /// # Errors
    /// What is wrong with the settings; that there is nothing to learn from, if `has_source` is false.
    pub fn start(&self, kind: Kind, has_source: bool) -> anyhow::Result<Option<Started>> {
        let (config, loaded) = LearnerSettings::load(&self.sources(kind)?)?;
        if self.config.print_config {
            exit::print(&to_toml(&loaded.raw)).context("write to stdout")?;
            return Ok(None);
        }
        if !has_source {
            return Err(UsageError(kind.missing_source().to_owned()).into());
        }
        // Before threads, files and the first torch call: on a machine with a GPU the program starts anew.
        net::cuda::preload(kind.config(&config).device)?;
        logging::init(&config.log).map_err(|error| loaded.error("log.filter", error))?;
        let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let stop = tokio.block_on(async { shutdown::on_signals() }).context("listen for signals")?;
        Ok(Some(Started { config, stop, tokio }))
    }

    fn sources(&self, kind: Kind) -> anyhow::Result<Sources> {
        let mut config = self.config.clone();
        let epochs = self.epochs.map(|epochs| (format!("{}.epochs", kind.section()), epochs.to_string()));
        let log_format = self.log_format.as_ref().map(|format| ("log.format".to_owned(), format!("{format:?}")));
        config.overrides.extend(epochs.into_iter().chain(log_format));
        Ok(Sources { preset: self.preset, ..Sources::new("learner", &config) })
    }
}

impl Started {
    /// Ends what listens for signals.
    pub fn end(self) {
        self.tokio.shutdown_background();
    }
}
