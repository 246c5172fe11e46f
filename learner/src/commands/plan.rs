//! `learner plan`: what a run will come to, before anything is rented.

use std::time::Duration;

use anyhow::Context;
use learner::plan::{Assumptions, Hardware, PlanReport};
use net::DeviceChoice;
use runtime::exit;
use runtime::exit::UsageError;
use runtime::flags::number_in;
use shared::bounds::GAMES_PER_THREAD;

use super::settings_args::SettingsArgs;

/// Samples a second of a device that trains, as a share of the evaluations a second, where no rate is given.
const TRAINING_SHARE: f64 = 0.25;

/// What would be rented, for which settings.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  \
    learner plan --preset hive-4090 --gpu-rate 20000 --actors 8 --round-trip 20ms --price 0.4\n  \
    learner plan --preset hive-4090 --set network.blocks=10 --gpu-rate 60000 --actors 1000 --bandwidth 1Gbit\n\n\
    --gpu-rate is what `learner bench --device cuda:0 --preset NAME` prints as evaluations/s for the largest batch.\n\
    The formulas, what is taken for granted, and how far they were from what was measured: docs/performance.md.")]
pub struct PlanArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Evaluations a second of one device.
    #[arg(long, value_name = "N", value_parser = above_zero)]
    gpu_rate: f64,
    /// Devices that evaluate, 1 to 1024.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    devices: u32,
    /// Samples a second that training learns from. The default is a quarter of --gpu-rate.
    #[arg(long, value_name = "N", value_parser = above_zero)]
    training_rate: Option<f64>,
    /// Actor processes, 1 to 10,000,000.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    actors: u32,
    /// Cores of each actor.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = above_zero)]
    actor_cores: f64,
    /// Games that each core plays at once, 1 to 4096 (games_per_thread of the actor).
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = number_in(1..=*GAMES_PER_THREAD.end()))]
    games_per_core: usize,
    /// Time from an actor to the learner and back, as measured by ping.
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = humantime::parse_duration)]
    round_trip: Duration,
    /// The learner's connection, each way: kbit, Mbit or Gbit a second.
    #[arg(long, value_name = "RATE", default_value = "1Gbit", value_parser = bits_per_second)]
    bandwidth: f64,
    /// Cores that the learner has for leaves, the training not counted.
    #[arg(long, value_name = "N", default_value_t = 2.0, value_parser = above_zero)]
    learner_cores: f64,
    /// What all machines together cost an hour, in any currency.
    #[arg(long, value_name = "PRICE", default_value_t = 0.0)]
    price: f64,
    /// Plies a game. The default is what was measured of the game.
    #[arg(long, value_name = "N", value_parser = above_zero)]
    plies: Option<f64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the plan.
///
/// # Errors
/// Invalid settings.
pub fn plan(args: &PlanArgs) -> anyhow::Result<()> {
    if !(args.price >= 0.0 && args.price.is_finite()) {
        return Err(UsageError(format!("--price {}: is below 0 or no number", args.price)).into());
    }
    let (settings, _) = args.settings.load([])?;
    let mut assumptions = Assumptions::of(&settings);
    assumptions.plies = args.plies.unwrap_or(assumptions.plies);
    let (inference, training) = (settings.inference.devices(), settings.training.device);
    let hardware = Hardware {
        gpu_rate: args.gpu_rate,
        device_count: args.devices,
        training_rate: args.training_rate.unwrap_or(args.gpu_rate * TRAINING_SHARE),
        // On the processor each has threads of its own.
        is_training_shared: inference.contains(&training) && training != DeviceChoice::Cpu,
        actor_count: args.actors,
        actor_cores: args.actor_cores,
        games_per_core: args.games_per_core as u32,
        round_trip: args.round_trip,
        bandwidth: args.bandwidth,
        learner_cores: args.learner_cores,
        price_per_hour: args.price,
    };
    let report = PlanReport::new(&settings, hardware, assumptions)?;
    let text = if args.json { serde_json::to_string(&report)? + "\n" } else { report.to_string() };
    exit::print(&text).context("write to stdout")
}

/// Why a number of the command line cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum RateError {
    #[error("not a number")]
    NotANumber,
    #[error("not above 0")]
    NotAboveZero,
    #[error("write a number above 0 and kbit, Mbit or Gbit, as in 20Mbit")]
    NoBitRate,
}

fn above_zero(text: &str) -> Result<f64, RateError> {
    let number: f64 = text.parse().map_err(|_| RateError::NotANumber)?;
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err(RateError::NotAboveZero) }
}

fn bits_per_second(text: &str) -> Result<f64, RateError> {
    let units = [("kbit", 1e3), ("Mbit", 1e6), ("Gbit", 1e9)];
    let read = units.iter().find_map(|(unit, factor)| Some(above_zero(text.strip_suffix(unit)?.trim()).ok()? * factor));
    read.ok_or(RateError::NoBitRate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_units() {
        assert_eq!(bits_per_second("20Mbit"), Ok(20e6));
        assert_eq!(bits_per_second("1.5 Gbit"), Ok(1.5e9));
        for wrong in ["20", "Mbit", "-1Mbit", "20MB", "nanMbit"] {
            assert!(bits_per_second(wrong).is_err(), "{wrong}");
        }
    }
}
