//! `learner bench`: what a device makes of a preset's network.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use learner::bench::{BenchPlan, bench, usual_batches};
use learner::config::InferenceConfig;
use networks::NetworkSource;
use runtime::exit::UsageError;
use runtime::flags::number_in;
use runtime::{exit, logging};

use super::settings_args::InferenceSettingsArgs;

/// What to measure, on which device.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  \
    learner bench --preset hive-4090                              what the GPU makes of the preset\n  \
    learner bench --preset hive-cpu --device cpu --batches 16,128\n  \
    learner bench --preset hive-4090 --set network.trunk=frame    the same with another network\n\n\
    Each batch goes through four stages, one after the other, and the device is waited for after each:\n  \
    encode     packed positions become planes, on one thread of the CPU\n  \
    upload     cells and moves are laid out and brought to the device\n  \
    forward    the network\n  \
    read back  logits and values come back, and the softmax over the legal moves\n\
    A run overlaps them only with inference.batches_at_once above 1.\n\n\
    \"matmul\" is a large matrix multiplication on this device, in the same numbers: the most that can be reached. A large\n\
    batch far below it, with most of its time in \"forward\", is bound by the network's shape; with most of it elsewhere, by\n\
    the CPU. `learner plan --gpu-rate EVALUATIONS_PER_SECOND` says what such a device makes of a run.")]
pub struct BenchArgs {
    #[command(flatten)]
    settings: InferenceSettingsArgs,
    /// Network to measure with: a file, the folder of a training, or ready. The default is a random one of the settings,
    /// which costs the same.
    #[arg(long, value_name = "FILE|ready")]
    network: Option<PathBuf>,
    /// Leaves evaluated together, 1 to 65,536, one measurement each. The default is inference.batch_sizes, or 8, 16, 32
    /// and so on up to inference.batch_leaves_max.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', value_parser = number_in(InferenceConfig::BATCH_LEAVES))]
    batches: Vec<u32>,
    /// Seconds of each measurement, 0 to 3600: at least one batch after a first that is not counted.
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    seconds: f64,
    /// Seed of the random games that the positions come from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Evaluations alone.
    #[arg(long)]
    no_training: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Measures, and prints what was measured.
///
/// # Errors
/// Invalid settings, a device that is not there, a network that does not fit.
pub fn bench_command(args: &BenchArgs) -> anyhow::Result<()> {
    let (settings, _) = args.settings.load()?;
    if !(0.0..=3600.0).contains(&args.seconds) {
        return Err(UsageError(format!("--seconds {}: not in 0..=3600", args.seconds)).into());
    }
    let device = settings.inference.devices()[0];
    net::cuda::preload(device)?;
    let network = args.network.as_deref().map(NetworkSource::from);
    let batches = if args.batches.is_empty() {
        usual_batches(&settings)
    } else {
        args.batches.iter().map(|batch| *batch as usize).collect()
    };
    let spinner = logging::spinner();
    let plan = BenchPlan {
        config: &settings,
        device,
        network: network.as_ref(),
        batches: &batches,
        time: Duration::from_secs_f64(args.seconds),
        seed: args.seed,
        with_training: !args.no_training,
    };
    let report = bench(&plan, &|what| spinner.set_message(what))?;
    spinner.finish_and_clear();
    let text = if args.json { serde_json::to_string(&report)? + "\n" } else { report.to_string() };
    exit::print(&text).context("write to stdout")
}
