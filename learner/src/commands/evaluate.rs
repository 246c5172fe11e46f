//! `learner evaluate`: how well a network predicts human games.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Context;
use learner::numbers::{percent, text_of_counts};
use learner::prediction::{PredictionMetrics, measure};
use learner::start_network;
use net::DeviceChoice;
use networks::NetworkSource;
use runtime::exit::UsageError;
use runtime::flags::number_in;
use runtime::{exit, logging};
use samples::human_games::{GameTypes, HumanSampleSets, ReadSettings, SetSettings, encoding_of, make_sets, read_games};
use samples::split::Split;
use serde::Serialize;
use shared::bounds::THREADS;
use shared::catalog::{GameSpec, NetworkGame};
use shared::game::hive::{GameType, Hive};
use shared::setting::check_range;
use tokio_util::sync::CancellationToken;

use super::dropped_games::print_dropped;

/// Threads that make batches for the network.
const BATCH_THREADS: usize = 1;

/// Which network, and which games.
#[derive(Debug, Clone, clap::Args)]
pub struct EvaluateArgs {
    /// Network or checkpoint, the folder of a training, or ready (the one that this program carries); the file says what it
    /// plays.
    #[arg(long, value_name = "FILE|ready")]
    network: PathBuf,
    /// Games to predict: files, folders with all below them, zip archives.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    games: Vec<PathBuf>,
    /// Only the games that a pretraining with this seed and share holds out.
    #[arg(long)]
    held_out: bool,
    /// Seed of the split (pretrain.seed).
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Share that is held out (pretrain.held_out_share), above 0 and below 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    held_out_share: f64,
    /// Only games of this type. The default is the network's own type and all with fewer expansions.
    #[arg(long, value_name = "TYPE")]
    game_type: Option<GameType>,
    /// auto, cpu or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,
    /// Threads on the CPU, 0 to 1024; 0: all cores.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number_in(THREADS))]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Report {
    network: String,
    games: u64,
    game_types: BTreeMap<String, u64>,
    left_out_games: u64,
    positions: u64,
    top1: f64,
    top3: f64,
    top5: f64,
    policy_loss: f64,
    value_error: f64,
    sign_share: f64,
}

/// Prints how well a network predicts games.
///
/// # Errors
/// If the network or the games cannot be read, or there is no game to measure with.
pub fn evaluate(args: &EvaluateArgs) -> anyhow::Result<()> {
    let is_in_range = check_range("--held-out-share", args.held_out_share, Split::HELD_OUT_SHARES);
    is_in_range.map_err(|error| UsageError(error.to_string()))?;
    net::cuda::preload(args.device)?;
    let file =
        start_network::open(&NetworkSource::from(args.network.as_path()), &Hive::default().spec(Hive::USUAL_VIEW))?;
    let game = file.spec()?.game;
    let game = args.game_type.map_or(game.clone(), |game_type| game.with_game_type(game_type));
    let encoding = encoding_of(&game).map_err(|error| UsageError(error.to_string()))?;
    let device = net::open_device(args.device)?;
    net::set_threads(args.threads);
    let network = file.load(device)?;
    let read = read_games(&args.games, ReadSettings { threads: args.threads, ..ReadSettings::default() })?;
    print_dropped(&read.dropped);
    let held_out_share = if args.held_out { args.held_out_share } else { 1.0 };
    let split = Split { seed: args.seed, held_out_share };
    let game_types = if args.game_type.is_some() { GameTypes::Own } else { GameTypes::All };
    let sets = make_sets(&encoding, &read.games, SetSettings { split, decided_only: false, game_types });
    anyhow::ensure!(sets.samples.held_out_games > 0, nothing_to_measure(args, &game, &sets));
    let spinner = logging::spinner();
    spinner.set_message(format!("{} positions", sets.samples.held_out.position_count()));
    let metrics = measure(&network, &encoding, &sets.samples.held_out, BATCH_THREADS, &CancellationToken::new())?;
    spinner.finish_and_clear();
    let metrics = metrics.context("stopped")?;
    print(args, &sets, read.dropped.len() as u64, &metrics)
}

/// Says why there is no game to measure with.
fn nothing_to_measure(args: &EvaluateArgs, game: &GameSpec, sets: &HumanSampleSets) -> String {
    match sets.samples.training_games {
        0 => format!("games: none of {} to measure with", game.type_name()),
        count => format!(
            "games: none of {count} of {} is held out by --seed {} and --held-out-share {}: give more games",
            game.type_name(),
            args.seed,
            args.held_out_share
        ),
    }
}

fn print(
    args: &EvaluateArgs,
    sets: &HumanSampleSets,
    dropped_count: u64,
    metrics: &PredictionMetrics,
) -> anyhow::Result<()> {
    let [top1, top3, top5] = metrics.top_shares();
    let left_out = sets.left_out;
    let report = Report {
        network: args.network.display().to_string(),
        games: sets.samples.held_out_games,
        game_types: sets.held_out_types.clone(),
        left_out_games: dropped_count + left_out.other_type_games + left_out.undecided_games,
        positions: metrics.position_count,
        top1,
        top3,
        top5,
        policy_loss: metrics.policy_loss(),
        value_error: metrics.value_error(),
        sign_share: metrics.sign_share(),
    };
    let text = if args.json { serde_json::to_string(&report)? + "\n" } else { table(&report) };
    exit::print(&text).context("write to stdout")
}

fn table(report: &Report) -> String {
    let rows = [
        ("network", report.network.clone()),
        ("games", format!("{} ({} left out)", report.games, report.left_out_games)),
        ("types", text_of_counts(&report.game_types)),
        ("positions", report.positions.to_string()),
        ("move found first", percent(report.top1)),
        ("among three", percent(report.top3)),
        ("among five", percent(report.top5)),
        ("policy loss", format!("{:.4}", report.policy_loss)),
        ("value error", format!("{:.4}", report.value_error)),
        ("right sign", format!("{} of positions of decided games", percent(report.sign_share))),
    ];
    rows.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name:<18}{value}");
        text
    })
}
