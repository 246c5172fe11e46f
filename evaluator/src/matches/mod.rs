//! `evaluator match`: two players, paired openings, a score with its interval, and all games as text.
//!
//! `game` tells what is played, `player` who plays, `plan` which games there are, `hall` plays many of them at once,
//! `play` one; `mover`, `searcher` and `engine` are the kinds of players, `network` and `process` the programs behind
//! them; `result` and `games_file` tell what came of it.

mod engine;
mod game;
mod games_file;
mod hall;
mod mover;
mod network;
mod options;
mod plan;
mod play;
mod player;
mod process;
mod result;
mod searcher;

use std::path::{Path, PathBuf};

use anyhow::Context;
use runtime::exit::{self, UsageError};
use runtime::{logging, shutdown};
use tracing::{info, warn};

use crate::ladder::{LadderStore, StoredMatch};
use game::{ChosenGame, MatchGame};
use games_file::GamesFile;
use hall::Hall;
use player::Player;
use result::MatchResult;

pub use options::PlayOptions;

/// Lets two players meet, in pairs of games from one random opening with colours swapped.
///
/// A player is `random`; `uniform:N` (search without a network); `mcts:N`, also `vanilla:N` (UCB1 with random rollouts);
/// `grandmaster:N` (UCB1 with rules of thumb); `FILE.safetensors`, `FILE.safetensors@N` or `FILE.safetensors@N,C` (a
/// network, N simulations a move, exploration C); `policy:FILE.safetensors` (its likeliest move, without a search);
/// `uhp:COMMAND`, `uhp@depth=N:COMMAND` or `uhp@time=1s:COMMAND` (any program that speaks UHP).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct MatchOptions {
    /// The first player.
    #[arg(value_name = "A")]
    first: String,
    /// The second player.
    #[arg(value_name = "B")]
    second: String,
    /// A run in whose store the result is kept, for `evaluator ladder`.
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    #[command(flatten)]
    play: PlayOptions,
}

const EXAMPLES: &str = "\
Examples:
  evaluator match random mcts:100 --games 20
  evaluator match run/networks/network-000007.safetensors run/networks/network-000001.safetensors --simulations 100
  evaluator match best.safetensors 'uhp:nokamute uhp' --depth 2 --games 20 --out games.uhp
  evaluator match best.safetensors mcts:400 --game dama --simulations 100 --out games.pdn
  evaluator match best.safetensors@100,1.25 best.safetensors@100,2.5 --game dama";

/// Plays the match, and prints what came of it.
///
/// # Errors
/// As [`play`].
pub fn run(options: &MatchOptions) -> anyhow::Result<()> {
    play([&options.first, &options.second], &options.play, options.run_dir.as_deref())
}

/// Lets two players meet, prints what came of it, and keeps the result in the store of a run if there is one.
///
/// # Errors
/// Players that are none ([`UsageError`]); programs that cannot be started; a network that stops answering; a match
/// that was stopped before its last game.
pub fn play(texts: [&str; 2], options: &PlayOptions, run_dir: Option<&Path>) -> anyhow::Result<()> {
    match options.game()? {
        ChosenGame::Hive(hive) => play_game(&hive, texts, options, run_dir),
        ChosenGame::Dama(dama) => play_game(&dama, texts, options, run_dir),
    }
}

fn play_game<G: MatchGame>(
    game: &G,
    texts: [&str; 2],
    options: &PlayOptions,
    run_dir: Option<&Path>,
) -> anyhow::Result<()> {
    let players = options.players(texts)?;
    let names = [players[0].name()?, players[1].name()?];
    let log = logging::LogSettings { filter: options.log.clone(), ..logging::LogSettings::default() };
    logging::init(&log).map_err(|error| UsageError(format!("--log: {error}")))?;
    // Opened before the first game: what cannot be written is told now.
    let ladder = run_dir.map(LadderStore::open).transpose()?;
    let mut needed: Vec<PathBuf> = players.iter().filter_map(Player::network_file).map(Path::to_owned).collect();
    needed.extend(run_dir.map(LadderStore::file));
    let mut out = options.out.as_deref().map(|file| GamesFile::create(file, &needed)).transpose()?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let stop = tokio.block_on(async { shutdown::on_signals() }).context("listen for signals")?;
    let games = plan::plan(game, options.games as usize, options.opening_plies, options.seed)?;
    let settings = options.hall_settings(&players);
    info!(a = names[0], b = names[1], games = games.len(), at_once = settings.games_at_once, "match begins");
    let hall = Hall::open(game.clone(), &players, settings, tokio.handle(), &stop)?;
    let finished =
        hall.play(&games, |finished| out.as_mut().map_or(Ok(()), |out| out.write_next(game, &names, finished)))?;
    if let Some(out) = &mut out {
        // Of a match that was stopped, what came after a gap.
        out.write_all(game, &names, &finished)?;
    }
    let result = MatchResult::new(&finished);
    exit::print(&result.report(&names)).context("write to stdout")?;
    anyhow::ensure!(finished.len() == games.len(), "stopped after {} of {} games", finished.len(), games.len());
    ladder.map_or(Ok(()), |ladder| record(ladder, names, &result, options))
}

fn record(
    mut ladder: LadderStore,
    players: [String; 2],
    result: &MatchResult,
    options: &PlayOptions,
) -> anyhow::Result<()> {
    if players[0] == players[1] {
        warn!(player = players[0], "a player against itself tells nothing: the match is not kept");
        return Ok(());
    }
    ladder.record(&StoredMatch { players, score: result.score() }, &options.key(&options.game()?))
}
