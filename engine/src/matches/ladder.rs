//! `alveare ladder`: all players of a run that have met, and how strong each is.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use arena::ladder::{LadderError, LadderStore, table};

use super::options::PlayOptions;
use super::{ladder_usage, play};

/// The arguments that the table has; all others are for the match of --add.
const OF_THE_TABLE: [&str; 4] = ["run_dir", "add", "game", "game_type"];

/// Shows how strong all players are that have met in matches of a run.
///
/// Matches get there by `alveare match A B --run-dir RUN` or by `--add A B` here.
#[derive(Debug, clap::Args)]
#[command(mut_args = for_a_match)]
pub struct LadderOptions {
    /// The run whose ladder it is, and whose game is played; of a folder without a run it is the game of its matches, if
    /// there is one only.
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Plays a match between these two players first, written as for `alveare match`.
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    add: Vec<String>,
    #[command(flatten)]
    play: PlayOptions,
}

/// Has an argument of a match refused where none is played.
fn for_a_match(argument: clap::Arg) -> clap::Arg {
    if OF_THE_TABLE.contains(&argument.get_id().as_str()) { argument } else { argument.requires("add") }
}

/// Prints the table, after a match if one is wanted.
///
/// # Errors
/// A run of another game, players that cannot be read or played, a store of matches that cannot be read or written, an output that is closed.
pub fn run(options: &LadderOptions, out: &mut impl Write) -> anyhow::Result<()> {
    let LadderOptions { run_dir, add, play: how } = options;
    let game = match &add[..] {
        [first, second] => {
            let kept = match kept(run_dir) {
                // The first match makes the ladder.
                Err(LadderError::NoRun(_)) => BTreeSet::new(),
                kept => kept.map_err(ladder_usage)?,
            };
            let game = how.game([first, second], Some(run_dir), &kept)?;
            play([first, second], &game, how, Some(run_dir), out)?;
            game
        }
        _ => how.ladder_game(run_dir, &kept(run_dir).map_err(ladder_usage)?)?,
    };
    let game_type = game.type_name();
    let store = LadderStore::open_to_read(run_dir).map_err(ladder_usage)?;
    let matches = store.map_or(Ok(vec![]), |store| store.matches(&game_type))?;
    out.write_all(table(&matches, &game_type, run_dir).as_bytes()).context("write to stdout")
}

/// Returns the kinds of game of which there are matches in the ladder of a folder.
fn kept(run_dir: &Path) -> Result<BTreeSet<String>, LadderError> {
    LadderStore::open_to_read(run_dir)?.map_or(Ok(BTreeSet::new()), |store| store.game_types())
}
