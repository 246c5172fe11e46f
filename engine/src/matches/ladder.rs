//! `alveare ladder`: all players of a run that have met, and how strong each is.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use arena::ladder::{LadderStore, table};

use super::options::PlayOptions;
use super::{ladder_usage, play};

/// Shows how strong all players are that have met in matches of a run.
///
/// Matches get there by `alveare match A B --run-dir RUN` or by `--add A B` here.
#[derive(Debug, clap::Args)]
pub struct LadderOptions {
    /// The run whose ladder it is, and whose game is played; of a folder without a run the game of its matches is shown, if
    /// there is one only.
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Plays a match between these two players first, written as for `alveare match`.
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    add: Vec<String>,
    #[command(flatten)]
    play: PlayOptions,
}

/// Prints the table, after a match if one is wanted.
///
/// # Errors
/// A run of another game, players that cannot be read or played, a store of matches that cannot be read or written, an output that is closed.
pub fn run(options: &LadderOptions, out: &mut impl Write) -> anyhow::Result<()> {
    let added = match &options.add[..] {
        [first, second] => Some(play([first, second], &options.play, Some(&options.run_dir), out)?),
        _ => None,
    };
    let store = LadderStore::open_to_read(&options.run_dir).map_err(ladder_usage)?;
    let game = match added {
        Some(game) => game,
        None => {
            let kept = store.as_ref().map(LadderStore::game_types).transpose()?;
            options.play.ladder_game(&options.run_dir, kept.unwrap_or_default())?
        }
    };
    let game_type = game.type_name();
    let matches = store.map_or(Ok(vec![]), |store| store.matches(&game_type))?;
    out.write_all(table(&matches, &game_type).as_bytes()).context("write to stdout")
}
