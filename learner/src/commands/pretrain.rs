//! `learner pretrain`: learns from human games, before any self-play.

use std::path::PathBuf;

use learner::config::LearnerSettings;
use learner::numbers::text_of_counts;
use learner::supervised::{SupervisedTraining, TrainingFolder, TrainingPlan};
use learner::training_source::TrainingSource;
use runtime::exit::UsageError;
use runtime::flags::number_in;
use samples::human_games::{ReadGames, ReadSettings, SetSettings, check_paths, encoding_of, make_sets, read_games};
use samples::split::Split;
use tracing::{info, warn};

use super::supervised_args::{StartedTraining, SupervisedArgs};

/// Dropped games that are named in the log; the report lists all of them.
const NAMED_COUNT_MAX: usize = 5;

/// What to learn from, how, and where to put it.
#[derive(Debug, Clone, clap::Args)]
pub struct PretrainArgs {
    #[command(flatten)]
    how: SupervisedArgs,
    /// Games to learn from: files, folders with all below them, zip archives; BoardSpace's .sgf, .pgn, UHP game strings
    /// one a line, or tables (.csv, .parquet) with a column uhp_string. The default is replay.human_games.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    games: Vec<PathBuf>,
    /// The same, for a folder of .sgf files.
    #[arg(long, value_name = "DIR")]
    sgf_dir: Vec<PathBuf>,
    /// Folder of the checkpoint, the history and the result, pretrained.safetensors.
    #[arg(long, value_name = "DIR", default_value = "pretrained")]
    checkpoint_dir: PathBuf,
    /// Threads that read the games; 0: all cores.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number_in(ReadSettings::THREADS))]
    read_threads: usize,
}

/// Learns from human games until done or told to stop.
///
/// # Errors
/// Invalid settings, games that cannot be read, files that cannot be written, a loss that is not finite.
pub fn pretrain(args: &PretrainArgs) -> anyhow::Result<()> {
    let named: Vec<PathBuf> = args.games.iter().chain(&args.sgf_dir).cloned().collect();
    let has_games = |config: &LearnerSettings| !named.is_empty() || !config.replay.human_games.is_empty();
    let Some(started) = args.how.start(TrainingSource::HumanGames, has_games)? else { return Ok(()) };
    let StartedTraining { config, stop, .. } = &started;
    let paths = if named.is_empty() { config.replay.human_games.clone() } else { named };
    let encoding = encoding_of(&config.game).map_err(|error| UsageError(error.to_string()))?;
    // Before the folder is created: a wrong path leaves none behind.
    check_paths(&paths)?;
    let folder = TrainingFolder::open(&args.checkpoint_dir, TrainingSource::HumanGames)?;
    let read = read_games(&paths, ReadSettings { threads: args.read_threads, ..ReadSettings::default() })?;
    report_dropped(&read, &folder)?;
    let split = Split { seed: config.pretrain.seed, held_out_share: config.pretrain.held_out_share };
    let game_types = config.pretrain.game_types;
    let sets = make_sets(&encoding, &read.games, SetSettings { split, decided_only: false, game_types });
    drop(read);
    info!(
        training_games = sets.samples.training_games,
        training_positions = sets.samples.training.position_count(),
        held_out_games = sets.samples.held_out_games,
        held_out_positions = sets.samples.held_out.position_count(),
        training_types = text_of_counts(&sets.training_types),
        other_type_games = sets.left_out.other_type_games,
        undecided_games = sets.left_out.undecided_games,
        forbidden_plies = sets.left_out.plies,
        "human games"
    );
    let (encoding, sets, start) = (&encoding, &sets.samples, args.how.start_network());
    let source = TrainingSource::HumanGames;
    let plan = TrainingPlan { source, config, encoding, sets, start: start.as_ref(), folder: &folder };
    let ended = SupervisedTraining::open(plan, stop.clone())?.run();
    started.end();
    Ok(ended?)
}

/// Reports the dropped games: the first in the log, all of them in a file.
fn report_dropped(read: &ReadGames, folder: &TrainingFolder) -> anyhow::Result<()> {
    let list: String = read.dropped.iter().map(|dropped| format!("{dropped}\n")).collect();
    let report = folder.write_left_out(&list)?;
    for dropped in read.dropped.iter().take(NAMED_COUNT_MAX) {
        warn!(game = %dropped, "left out");
    }
    info!(
        texts = read.text_count,
        games = read.games.len(),
        left_out = read.dropped.len(),
        contradicted = read.contradicted_count,
        report = %report.display(),
        "games read"
    );
    Ok(())
}
