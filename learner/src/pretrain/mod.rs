//! Learning from people's games, before any self-play: `learner pretrain`.
//!
//! The result is a plain network file that a run starts from. Method and figures: `docs/training.md`.

mod batches;
mod folder;
mod measure;
mod progress;
mod schedule;
mod screen;
mod session;
mod settings;

use std::path::PathBuf;

use anyhow::Context;
use runtime::config::{ConfigArgs, Preset, Sources, to_toml};
use runtime::exit::UsageError;
use runtime::{exit, logging, shutdown};
use tracing::{info, warn};

use crate::config::{LearnerConfig, PRESETS};
use crate::people::{ReadGames, ReadSettings, SetSettings, Split, encoding_of, make_sets, read_games};
use folder::Folder;
pub use measure::measure;
pub use screen::percent;
use session::Session;
pub use settings::{PretrainConfig, ScheduleKind};

/// Games left out that are named in the log; all of them stand in the report.
const NAMED_COUNT_MAX: usize = 5;

/// What to learn from, how, and where to put it.
#[derive(Debug, Clone, clap::Args)]
pub struct PretrainArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Settings to train with, by name: hive-cpu, hive-4090, hive-original; keys of --config and --set go above them.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Games to learn from: files, folders with all below them, zip archives; BoardSpace's .sgf, or UHP game strings
    /// one a line.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    games: Vec<PathBuf>,
    /// The same, for a folder of .sgf files.
    #[arg(long, value_name = "DIR")]
    sgf_dir: Vec<PathBuf>,
    /// Times that every game is learned from, at most (pretrain.epochs).
    #[arg(long, value_name = "N")]
    epochs: Option<u32>,
    /// Folder of the checkpoint, the history and the result, pretrained.safetensors.
    #[arg(long, value_name = "DIR", default_value = "pretrained")]
    checkpoint_dir: PathBuf,
    /// Threads that read the games; 0: all cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    read_threads: usize,
    /// human or json (log.format).
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
}

/// Learns from people's games until done or told to stop.
///
/// # Errors
/// What is wrong with settings, games or files, in words.
pub fn pretrain(args: &PretrainArgs) -> anyhow::Result<()> {
    let loaded = runtime::config::load::<LearnerConfig>(&sources(args)?)?;
    loaded.raw.check().map_err(|error| loaded.error(error))?;
    let config = loaded.raw.clone();
    if args.config.print_config {
        return exit::print(&to_toml(&config)).context("write to stdout");
    }
    let paths: Vec<PathBuf> = args.games.iter().chain(&args.sgf_dir).cloned().collect();
    if paths.is_empty() {
        return Err(UsageError("name the games to learn from: --games PATH... or --sgf-dir DIR".into()).into());
    }
    // Before threads, files and the first torch call: on a machine with a GPU the program starts anew.
    net::cuda::preload(config.pretrain.device)?;
    logging::init(&config.log).map_err(|error| loaded.error(error))?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let stop = tokio.block_on(async { shutdown::on_signals() }).context("listen for signals")?;
    let encoding = encoding_of(&config.game)?;
    let folder = Folder::open(&args.checkpoint_dir)?;
    let read = read_games(&paths, ReadSettings { threads: args.read_threads, ..ReadSettings::default() })?;
    tell_dropped(&read, &folder)?;
    let split = Split { seed: config.pretrain.seed, held_out_share: config.pretrain.held_out_share };
    let sets = make_sets(&encoding, &read.games, SetSettings { split, decided_only: false });
    let counts = sets.counts;
    info!(
        training_games = counts.training_games,
        training_positions = sets.training.position_count(),
        held_out_games = counts.held_out_games,
        held_out_positions = sets.held_out.position_count(),
        other_type_games = counts.other_type_games,
        undecided_games = counts.undecided_games,
        forbidden_plies = counts.left_out_plies,
        "people's games"
    );
    drop(read);
    let ended = Session::open(&config, &encoding, &sets, &folder, stop)?.run();
    tokio.shutdown_background();
    ended.map(|_| ())
}

fn sources(args: &PretrainArgs) -> anyhow::Result<Sources> {
    let mut config = args.config.clone();
    config.overrides.extend(args.epochs.map(|epochs| ("pretrain.epochs".to_owned(), epochs.to_string())));
    config.overrides.extend(args.log_format.as_ref().map(|format| ("log.format".to_owned(), format!("{format:?}"))));
    let preset = args.preset.as_deref().map(preset).transpose()?;
    Ok(Sources { preset, ..Sources::new("learner", &config) })
}

/// Returns a preset by its name.
///
/// # Errors
/// [`UsageError`] with the names there are.
pub fn preset(name: &str) -> Result<Preset, UsageError> {
    let found = PRESETS.iter().find(|preset| preset.name == name);
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    found.copied().ok_or_else(|| UsageError(format!("--preset {name}: there are {}", names.join(", "))))
}

/// Says which games were left out: the first in the log, all of them in a file.
fn tell_dropped(read: &ReadGames, folder: &Folder) -> anyhow::Result<()> {
    let list: String = read.dropped.iter().map(|dropped| format!("{dropped}\n")).collect();
    let report = folder.write_left_out(&list)?;
    for dropped in read.dropped.iter().take(NAMED_COUNT_MAX) {
        warn!(game = %dropped, "left out");
    }
    info!(
        texts = read.text_count,
        games = read.games.len(),
        left_out = read.dropped.len(),
        report = %report.display(),
        "games read"
    );
    Ok(())
}
