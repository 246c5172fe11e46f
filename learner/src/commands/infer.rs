//! `learner infer`: answers leaves for a learner elsewhere.

use anyhow::Context;
use learner::infer::{InferencePlan, serve};
use net::DeviceChoice;
use runtime::{logging, shutdown};
use tracing::info;

use super::InquireTarget;
use super::settings_args::InferenceSettingsArgs;

/// For which learner, and with what.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  \
    learner infer --preset hive-4090 --learner https://learner.example:50051 --token-file inference-token\n  \
    learner infer --preset hive-cpu --device cpu --set inference.batches_at_once=1      one more core\n  \
    learner infer --preset hive-4090 --set 'inference.devices=[\"cuda:0\",\"cuda:1\"]'      both GPUs of a machine\n\n\
    It connects to the learner, so that it needs no open port, fetches the networks that play, and answers a part of the\n\
    leaves. Evaluations a second add up. When it stops or breaks, the learner evaluates what it owed, and nothing is lost.\n\
    Of the settings [inference] and [log] count.")]
pub struct InferArgs {
    #[command(flatten)]
    target: InquireTarget,
    #[command(flatten)]
    settings: InferenceSettingsArgs,
    /// Name in the learner's log: up to 128 visible characters.
    #[arg(long, value_name = "NAME", default_value = "inference")]
    name: String,
}

/// Answers until it is told to stop.
///
/// # Errors
/// Invalid settings, a device that is not there, or a learner that refuses it.
pub fn infer(args: &InferArgs) -> anyhow::Result<()> {
    let (settings, loaded) = args.settings.load()?;
    let (target, token) = (args.target.target()?, args.target.token()?);
    let config = settings.inference.clone();
    net::cuda::preload(DeviceChoice::most_of(&config.devices()))?;
    logging::init(&settings.log).map_err(|error| loaded.error("log.filter", error))?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start tokio")?;
    let stop = tokio.block_on(async { shutdown::on_signals() }).context("listen for signals")?;
    let devices: Vec<String> = config.devices().iter().map(ToString::to_string).collect();
    info!(learner = %target, devices = devices.join(" "), "inference server starts");
    let plan = InferencePlan { target, token, name: args.name.clone(), config };
    let served = tokio.block_on(serve(&plan, &stop));
    tokio.shutdown_background();
    Ok(served?)
}
