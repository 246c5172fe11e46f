//! `learner pretrain`: learning from people's games, before any self-play.

use std::path::PathBuf;

use tracing::{info, warn};

use super::args::{OfflineArgs, Started};
use super::folder::Folder;
use super::kind::Kind;
use super::session::{Plan, Session};
use crate::people::{ReadGames, ReadSettings, SetSettings, check_paths, encoding_of, make_sets, read_games};
use crate::split::Split;

/// Games left out that are named in the log; all of them stand in the report.
const NAMED_COUNT_MAX: usize = 5;

/// What to learn from, how, and where to put it.
#[derive(Debug, Clone, clap::Args)]
pub struct PretrainArgs {
    #[command(flatten)]
    how: OfflineArgs,
    /// Games to learn from: files, folders with all below them, zip archives; BoardSpace's .sgf, or UHP game strings
    /// one a line.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    games: Vec<PathBuf>,
    /// The same, for a folder of .sgf files.
    #[arg(long, value_name = "DIR")]
    sgf_dir: Vec<PathBuf>,
    /// Folder of the checkpoint, the history and the result, pretrained.safetensors.
    #[arg(long, value_name = "DIR", default_value = "pretrained")]
    checkpoint_dir: PathBuf,
    /// Threads that read the games; 0: all cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    read_threads: usize,
}

/// Learns from people's games until done or told to stop.
///
/// # Errors
/// What is wrong with settings, games or files, in words.
pub fn pretrain(args: &PretrainArgs) -> anyhow::Result<()> {
    let paths: Vec<PathBuf> = args.games.iter().chain(&args.sgf_dir).cloned().collect();
    let Some(started) = args.how.start(Kind::People, !paths.is_empty())? else { return Ok(()) };
    let Started { config, stop, .. } = &started;
    let encoding = encoding_of(&config.game)?;
    // Before the folder is made: a wrong path leaves none behind.
    check_paths(&paths)?;
    let folder = Folder::open(&args.checkpoint_dir, Kind::People)?;
    let read = read_games(&paths, ReadSettings { threads: args.read_threads, ..ReadSettings::default() })?;
    tell_dropped(&read, &folder)?;
    let split = Split { seed: config.pretrain.seed, held_out_share: config.pretrain.held_out_share };
    let sets = make_sets(&encoding, &read.games, SetSettings { split, decided_only: false });
    drop(read);
    info!(
        training_games = sets.samples.training_games,
        training_positions = sets.samples.training.position_count(),
        held_out_games = sets.samples.held_out_games,
        held_out_positions = sets.samples.held_out.position_count(),
        other_type_games = sets.left_out.other_type_games,
        undecided_games = sets.left_out.undecided_games,
        forbidden_plies = sets.left_out.plies,
        "people's games"
    );
    let (encoding, sets) = (&encoding, &sets.samples);
    let plan = Plan { kind: Kind::People, config, encoding, sets, start: None, folder: &folder };
    let ended = Session::open(plan, stop.clone())?.run();
    started.end();
    ended
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
