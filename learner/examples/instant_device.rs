//! A learner whose device answers at once: what workers, links, queues, store and gate carry when no network is in the way.
//!
//!     cargo run --release -p learner --example instant_device -- --config config/hive-cpu.toml --set run.dir='"run"'
//!
//! Settings are those of `learner`, training included; leaves get uniform priors, so nothing sensible is learned.

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use inference::InstantBackend;
use learner::config::LearnerSettings;
use learner::run::run_with;
use runtime::layers::{ConfigArgs, Sources};
use runtime::{exit, logging, shutdown};
use tracing::info;

/// A learner whose device answers at once, for measurements.
#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    config: ConfigArgs,
}

fn main() -> ExitCode {
    let cli: Cli = exit::parse();
    exit::run("instant_device", || serve(&cli))
}

fn serve(cli: &Cli) -> anyhow::Result<()> {
    let (settings, loaded) = LearnerSettings::load(&Sources::new("learner", &cli.config))?;
    logging::init(&settings.log).map_err(|error| loaded.error("log.filter", error))?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start tokio")?;
    let stop = tokio.block_on(async { shutdown::on_signals() }).context("listen for signals")?;
    let address = settings.server.listen;
    let listener = tokio.block_on(tokio::net::TcpListener::bind(address)).with_context(|| format!("open {address}"))?;
    info!(%address, "listening");
    let result = run_with(settings, listener, &tokio, stop, |_, _, _| Ok(InstantBackend));
    tokio.shutdown_background();
    Ok(result?)
}
