//! `alveare match` and `alveare ladder`: who is stronger. The matches themselves are crate `arena`.

mod game;
mod ladder;
mod options;
mod terms;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use arena::ladder::{LadderError, LadderStore, StoredMatch};
use arena::matches::{GamesFile, MatchError, MatchGame, MatchResult, MatchRunner, plan, player_name};
use networks::NetworkSource;
use runtime::counted::counted;
use runtime::exit::UsageError;
use runtime::{logging, shutdown};
use tracing::{info, warn};

use crate::start::failure;
use options::PlayOptions;

pub use ladder::{LadderOptions, run as run_ladder};
pub use options::ChosenGame;
pub use terms::GameTerms;
#[cfg(feature = "network")]
pub use terms::NetworkTerms;

/// Plays a match between any two players, in pairs of games from one random opening with colours swapped.
#[derive(Debug, clap::Args)]
#[command(after_help = PLAYERS_AND_EXAMPLES)]
pub struct MatchOptions {
    /// The first player.
    #[arg(value_name = "A")]
    first: String,
    /// The second player.
    #[arg(value_name = "B")]
    second: String,
    /// A run in whose ladder the result is kept, for `alveare ladder`, and whose game is played; any other folder has a
    /// ladder too.
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    #[command(flatten)]
    play: PlayOptions,
}

const PLAYERS_AND_EXAMPLES: &str = "\
Players:
  ready                             the network that this program carries
  RUN_DIR                           the best network of a run; the folder of `learner pretrain` or `learner train` too
  FILE.safetensors                  any network
  NETWORK@N, NETWORK@N,C            one of these three with N simulations a move, and exploration C
  NETWORK@N,KEY=VALUE,...           the same with other constants of its search: exploration, policy_temperature,
                                    first_play_urgency_reduction, root (puct or gumbel), gumbel_value_scale; or
                                    precision, the numbers in which the network answers (--precision)
  policy:NETWORK                    its move of highest prior, without a search
  level:N                           the network that this program carries at strength N, 1 to 10
  mcts:N, vanilla:N                 search without a network: UCB1 with random rollouts
  grandmaster:N                     the same with a heuristic
  uniform:N                         the search of self-play with equal priors and even values
  random                            any legal move
  uhp:COMMAND                       any program that speaks UHP, of Hive; also uhp@depth=N:COMMAND, uhp@time=1s:COMMAND
  hub:COMMAND                       any program that speaks the hub protocol, of draughts; also hub@depth=N:COMMAND,
                                    hub@nodes=N:COMMAND, hub@time=1s:COMMAND
Searches take an opening book, and of draughts endgame tables: ready@100,book=FILE, mcts:400,tables=DIR,book=FILE.

Examples:
  alveare match random mcts:100 --games 20
  alveare match run ready
  alveare match level:3 level:2 --game dama
  alveare match run/networks/network-000007.safetensors run/networks/network-000001.safetensors --simulations 100
  alveare match best.safetensors 'uhp:nokamute uhp' --depth 2 --games 20 --out games.uhp
  alveare match best.safetensors mcts:400 --game dama --simulations 100 --out games.pdn
  alveare match best.safetensors 'hub:scan hub' --time 1s
  alveare match best.safetensors@100,1.25 best.safetensors@100,2.5 --game dama";

/// Plays the match and prints its report.
///
/// # Errors
/// A text that is not a player, a player or run of another game or an impossible option ([`UsageError`]); a player that
/// cannot be started or fails; a match that was stopped before its last game.
pub fn run(options: &MatchOptions, out: &mut impl Write) -> anyhow::Result<()> {
    let (texts, run_dir) = ([options.first.as_str(), &options.second], options.run_dir.as_deref());
    play(texts, &options.play.game(texts, run_dir, &BTreeSet::new())?, &options.play, run_dir, out)
}

/// Plays a match, prints its report, and keeps the result in the ladder of a run if one is named.
///
/// # Errors
/// An impossible option ([`UsageError`]); a player that cannot be started or fails; a match that was stopped before its last
/// game.
fn play(
    texts: [&str; 2],
    game: &ChosenGame,
    options: &PlayOptions,
    run_dir: Option<&Path>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    match game {
        ChosenGame::Hive(hive) => play_game(hive, texts, options, run_dir, out),
        ChosenGame::Dama(dama) => play_game(dama, texts, options, run_dir, out),
    }
}

fn play_game<G: MatchGame>(
    game: &G,
    texts: [&str; 2],
    options: &PlayOptions,
    run_dir: Option<&Path>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let players = options.players(texts, G::EXPLORATION)?;
    #[cfg(feature = "network")]
    if players.iter().any(|player| player.network().is_some()) {
        // Before threads and the first torch call: the program starts anew.
        net::cuda::preload(options.networks.device)?;
    }
    let name = |player| player_name(game, player).map_err(usage);
    let names = [name(&players[0])?, name(&players[1])?];
    let log = logging::LogSettings { filter: options.log.clone(), ..logging::LogSettings::default() };
    logging::init(&log).map_err(|error| UsageError(format!("--log: {error}")))?;
    let (_tokio, stop) = shutdown::listen().context("listen for signals")?;
    // Opened before the first game: what cannot be written is reported now.
    let ladder = run_dir.map(LadderStore::open).transpose().map_err(ladder_usage)?;
    let networks = players.iter().filter_map(|player| player.network().and_then(NetworkSource::file));
    let mut needed: Vec<PathBuf> = networks.map(Path::to_owned).collect();
    needed.extend(players.iter().filter_map(|player| player.book().map(Path::to_owned)));
    needed.extend(run_dir.map(LadderStore::file));
    let create = |file| GamesFile::create(file, &G::GAMES_FILE, &needed);
    let mut games_file = options.out.as_deref().map(create).transpose().map_err(usage)?;
    let games = plan(game, options.games as usize, options.terms.opening_plies, options.terms.seed)?;
    let settings = options.match_settings(&players);
    info!(a = names[0], b = names[1], games = games.len(), at_once = settings.games_at_once, "match begins");
    let runner = MatchRunner::open(game.clone(), &players, &names, &settings, &stop).map_err(usage)?;
    let finished =
        runner.play(&games, |done| games_file.as_mut().map_or(Ok(()), |file| file.write_next(game, &names, done)))?;
    if let Some(file) = &mut games_file {
        // Of a match that was stopped, the games after a gap.
        file.write_all(game, &names, &finished)?;
    }
    let result = MatchResult::new(&finished);
    out.write_all(result.report(&names).as_bytes()).context("write to stdout")?;
    let all = counted(games.len(), "game", "games");
    ensure!(finished.len() == games.len(), "stopped after {} of {all}", finished.len());
    ladder.map_or(Ok(()), |ladder| record(ladder, game, names, &result, options))
}

fn usage(error: MatchError) -> anyhow::Error {
    let is_usage = error.is_usage();
    failure(error, is_usage)
}

/// The same of a ladder.
fn ladder_usage(error: LadderError) -> anyhow::Error {
    let is_usage = error.is_usage();
    failure(error, is_usage)
}

fn record<G: MatchGame>(
    mut ladder: LadderStore,
    game: &G,
    players: [String; 2],
    result: &MatchResult,
    options: &PlayOptions,
) -> anyhow::Result<()> {
    if players[0] == players[1] {
        warn!(player = players[0], "a player against itself says nothing: the match is not kept");
        return Ok(());
    }
    Ok(ladder.record(&StoredMatch { players, score: result.score() }, &options.key(game.type_name()))?)
}
