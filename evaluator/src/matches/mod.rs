//! `evaluator match`: two players, paired openings, a score with its interval, and all games as text.
//!
//! `player` tells who plays, `plan` which games there are, `hall` plays many of them at once, `play` one; `mover`,
//! `searcher` and `engine` are the kinds of players, `network` and `process` the programs behind them; `result` and
//! `games_file` tell what came of it.

mod engine;
mod games_file;
mod hall;
mod mover;
mod network;
mod plan;
mod play;
mod player;
mod process;
mod result;
mod searcher;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use runtime::exit::{self, UsageError};
use runtime::{logging, shutdown};
use shared::game::hive::{GameType, Hive, HiveRules};
use tracing::{info, warn};

use engine::EngineBounds;
use games_file::GamesFile;
use hall::{Hall, HallSettings};
use network::ServeSettings;
use player::{Defaults, EngineLimit, Player};
use result::MatchResult;

/// Games at once if no player is an outside engine: their leaves share batches.
const GAMES_AT_ONCE: usize = 32;

/// Lets two players meet, in pairs of games from one random opening with colours swapped.
///
/// A player is `random`; `uniform:N` (search without a network); `mcts:N` (UCB1 with random rollouts);
/// `FILE.safetensors` or `FILE.safetensors@N` (a network, N simulations a move); `policy:FILE.safetensors` (its likeliest
/// move, without a search); `uhp:COMMAND`, `uhp@depth=N:COMMAND` or `uhp@time=1s:COMMAND` (any program that speaks UHP).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct MatchOptions {
    /// The first player.
    #[arg(value_name = "A")]
    first: String,
    /// The second player.
    #[arg(value_name = "B")]
    second: String,
    /// How many games; an even number makes whole pairs.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    games: u32,
    /// Simulations a move of networks that do not say it themselves.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    simulations: u32,
    /// Depth at which outside engines think.
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Time that outside engines have for a move, such as 1s or 500ms.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// Longest wait for an engine's answer that has no time of its own; then it loses the game.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = humantime::parse_duration)]
    answer_wait_max: Duration,
    /// How much later than its time an engine's move may come.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = humantime::parse_duration)]
    time_margin: Duration,
    /// UHP game type.
    #[arg(long = "type", value_name = "TYPE", default_value = "Base+MLP")]
    game_type: GameType,
    /// Random plies that both games of a pair start with.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=100))]
    opening_plies: u32,
    /// Plies after which a game is a draw.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=5000))]
    ply_limit: u32,
    /// Seed of openings and of whatever players draw at random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Games played at once; by default 32, with outside engines one for each core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    games_at_once: Option<u32>,
    /// File for the games, UHP GameStrings one a line; FILE.tsv beside it tells who played and how each ended.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The program `learner`, which computes networks; by default the one beside this program.
    #[arg(long, value_name = "PATH")]
    learner_program: Option<PathBuf>,
    /// Where networks are computed: auto, cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// Threads that compute one network on the CPU.
    #[arg(long, value_name = "N", default_value_t = 1)]
    network_threads: usize,
    /// What is logged, such as evaluator=debug for what engines write to stderr.
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log: String,
}

const EXAMPLES: &str = "\
Examples:
  evaluator match random mcts:100 --games 20
  evaluator match run/networks/network-000007.safetensors run/networks/network-000001.safetensors --simulations 100
  evaluator match best.safetensors 'uhp:nokamute uhp' --depth 2 --games 20 --out games.uhp";

/// Plays the match, and prints what came of it.
///
/// # Errors
/// Players that are none ([`UsageError`]); programs that cannot be started; a network that stops answering.
pub fn run(options: &MatchOptions) -> anyhow::Result<()> {
    let players = players(options)?;
    let names = [players[0].name()?, players[1].name()?];
    logging::init(&logging::LogSettings { filter: options.log.clone(), ..logging::LogSettings::default() })
        .map_err(|error| UsageError(format!("--log: {error}")))?;
    let out = options.out.as_deref().map(GamesFile::create).transpose()?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let stop = tokio.block_on(async { shutdown::on_signals() }).context("listen for signals")?;
    let hive = hive(options);
    let games = plan::plan(&hive, options.games as usize, options.opening_plies, options.seed)?;
    let settings = hall_settings(options, &players);
    info!(a = names[0], b = names[1], games = games.len(), at_once = settings.games_at_once, "match begins");
    let hall = Hall::open(hive, &players, settings, tokio.handle(), &stop)?;
    let finished = hall.play(&games)?;
    if finished.len() < games.len() {
        warn!(finished = finished.len(), planned = games.len(), "stopped before the last game");
    }
    if let Some(out) = out {
        out.write(&hive, &names, &finished)?;
    }
    exit::print(&MatchResult::new(&finished).report(&names)).context("write to stdout")?;
    anyhow::ensure!(finished.len() == games.len(), "stopped after {} of {} games", finished.len(), games.len());
    Ok(())
}

fn players(options: &MatchOptions) -> anyhow::Result<[Player; 2]> {
    let limit = options.depth.map(EngineLimit::Depth).or(options.time.map(EngineLimit::Time));
    let defaults = Defaults { simulation_count: options.simulations, limit };
    let player = |text| Player::parse(text, &defaults).map_err(|error| UsageError(error.to_string()));
    Ok([player(&options.first)?, player(&options.second)?])
}

fn hive(options: &MatchOptions) -> Hive {
    Hive::new(HiveRules { game_type: options.game_type, ply_limit: options.ply_limit, ..HiveRules::default() })
}

fn hall_settings(options: &MatchOptions, players: &[Player; 2]) -> HallSettings {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let at_once = if players.iter().any(Player::is_engine) { cores } else { GAMES_AT_ONCE };
    let at_once = options.games_at_once.map_or(at_once, |count| count as usize);
    HallSettings {
        games_at_once: at_once.min(options.games as usize),
        bounds: EngineBounds { answer_wait_max: options.answer_wait_max, time_margin: options.time_margin },
        serve: ServeSettings {
            program: options.learner_program.clone().unwrap_or_else(ServeSettings::neighbour),
            device: options.device.clone(),
            threads: options.network_threads,
        },
    }
}
