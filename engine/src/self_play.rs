//! `alveare selfplay`: games of a fixed network against itself, without a run, as a data set. The games are crate `arena`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use arena::players::{NetworkPlayerError, SharedNetwork, read_exploration};
use arena::self_play::{SelfPlayError, SelfPlaySettings, play_games};
use net::NetworkFile;
use networks::NetworkSource;
use runtime::counted::counted;
use runtime::exit::UsageError;
use runtime::flags::number_in;
use runtime::replaced_file::FileKind;
use runtime::{logging, shutdown};
use samples::dataset::{DataSetGame, DataSetWriteError, DataSetWriter, begins_as_data_set};
use shared::catalog::{GameSpec, NetworkGame};
use shared::game::dama::Dama;
use shared::game::hive::Hive;
use shared::record::ReplayedGame;
use shared::search::SearchSettings;
use tracing::info;

use crate::matches::NetworkTerms;
use crate::named_files::ensure_there;
use crate::player::open_tables;
use crate::start::{GameName, failure};

const EXAMPLES: &str = "\
Examples:
  alveare selfplay --network best.safetensors --games 1000 --simulations 400 --out games.samples
      A data set that `learner train --data games.samples` learns from.
  alveare selfplay --network ready --game dama --games 200 --simulations 100 --out more.samples --seed 2
      Other games, by the network that this program carries for draughts.";

/// Plays games of a network against itself and writes them as a data set, without a learner and a run.
///
/// Game and rules are those that the network was made for. The file gets its name once it is complete; after Ctrl-C it holds
/// the games that were finished. With --games-at-once 1 the same seed gives the same file; otherwise batches, and with them the
/// last digits of what the network says, depend on what goes on at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct SelfPlayOptions {
    /// The network: a file, a run directory (its best network), the folder of a pretraining or training, or ready.
    #[arg(long, value_name = "FILE|DIR|ready")]
    network: NetworkSource,
    /// The game. The default is that of the network's file; of the network `ready` it is Hive.
    #[arg(long, value_enum)]
    game: Option<GameName>,
    /// How many games, 1 to 10,000,000.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    games: u32,
    /// Simulations a move.
    #[arg(long, value_name = "S", default_value_t = 400, value_parser = number_in(SearchSettings::SIMULATION_COUNTS))]
    simulations: u32,
    /// The data set to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Exploration constant of the search; by default 1.25, for draughts 1.
    #[arg(long, value_name = "C", value_parser = read_exploration)]
    exploration: Option<f32>,
    /// Plies of both sides at temperature 1; those after it are played at --temperature-after.
    #[arg(long, value_name = "N", default_value_t = 30)]
    temperature_plies: u32,
    /// Temperature of the later plies, 0 to 100; 0: the most visited move.
    #[arg(long, value_name = "T", default_value_t = 0.1)]
    temperature_after: f32,
    /// Folder of endgame tables by which the games are searched (draughts).
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Seed of all that is random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Games played at once: their leaves share batches.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    games_at_once: u32,
    #[command(flatten)]
    networks: NetworkTerms,
    /// What is logged.
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log: String,
}

const DATA_SET: FileKind = FileKind { name: "a data set", is_start: begins_as_data_set };

/// Why the games end before the last one.
#[derive(Debug, thiserror::Error)]
enum KeepError {
    #[error(transparent)]
    Play(#[from] SelfPlayError),
    #[error(transparent)]
    Write(#[from] DataSetWriteError),
}

/// Plays the games and writes the data set.
///
/// # Errors
/// A network that cannot be used, impossible settings ([`UsageError`]), a file that cannot be written; games that were
/// stopped before the last one.
pub fn run(options: &SelfPlayOptions, out: &mut impl Write) -> anyhow::Result<()> {
    // Before threads and the first torch call: the program starts anew.
    net::cuda::preload(options.networks.device)?;
    let log = logging::LogSettings { filter: options.log.clone(), ..logging::LogSettings::default() };
    logging::init(&log).map_err(|error| UsageError(format!("--log: {error}")))?;
    DATA_SET.check_replaced(&options.out).map_err(|error| UsageError(format!("--out: {error}")))?;
    options.network.file().map_or(Ok(()), ensure_there)?;
    let usual = match options.game.unwrap_or(GameName::Hive) {
        GameName::Hive => Hive::default().spec(Hive::USUAL_VIEW),
        GameName::Dama => Dama::default().spec(Dama::USUAL_VIEW),
    };
    let bytes = options.network.read(&usual).map_err(NetworkPlayerError::from)?;
    let spec = NetworkFile::from_bytes(options.network.to_string(), bytes)?.spec()?.game;
    let refusal = |what: String| UsageError(format!("network {}: plays {what}", options.network));
    if let (Some(named), Some(played)) = (options.game, GameName::of_spec(&spec))
        && named != played
    {
        bail!(refusal(format!("{played}, and --game {} is {named}: say --game {}", named.flag(), played.flag())));
    }
    match &spec {
        GameSpec::Hive { rules, .. } => play(&Hive::new(*rules), &spec, 0.15, options, out),
        GameSpec::Dama { rules, .. } => play(&Dama::new(*rules), &spec, 0.3, options, out),
        GameSpec::TicTacToe {} => {
            let [hive, dama] = [GameName::Hive, GameName::Dama];
            Err(refusal(format!("{spec}, and this program plays {hive} and {dama}: name another network")).into())
        }
    }
}

fn play<G: NetworkGame>(
    game: &G,
    spec: &GameSpec,
    dirichlet_alpha: f32,
    options: &SelfPlayOptions,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let search = SearchSettings {
        simulation_count: options.simulations,
        exploration: options.exploration.unwrap_or(G::EXPLORATION),
        dirichlet_alpha,
        temperature_plies: options.temperature_plies,
        temperature_after: options.temperature_after,
        ..SearchSettings::default()
    };
    search.check().map_err(|error| UsageError(error.to_string()))?;
    let oracle = options.tables.as_deref().map(open_tables::<G>).transpose()?.map(|tables| tables.oracle);
    let network = SharedNetwork::open(game, &options.network, options.networks.settings()).map_err(|error| {
        let is_usage = error.is_usage();
        failure(error, is_usage)
    })?;
    let mut file = DataSetWriter::create(&options.out, spec).context("--out")?;
    let (_tokio, stop) = shutdown::listen().context("listen for signals")?;
    let SelfPlayOptions { games, seed, .. } = *options;
    let games_at_once = options.games_at_once.min(games) as usize;
    let settings = SelfPlaySettings { game_count: games, search, oracle, seed, games_at_once };
    info!(network = %options.network, games, at_once = games_at_once, "self-play begins");
    let bar = logging::bar();
    bar.set_length(games.into());
    bar.set_prefix("self-play");
    play_games(&network, &settings, &stop, |game| {
        file.push(&data_set_game(game))?;
        let counts = file.counts();
        bar.set_position(counts.games);
        if bar.is_hidden() && counts.games.is_multiple_of(100) {
            info!(finished = counts.games, games, positions = counts.samples, "self-play");
        }
        Ok::<_, KeepError>(())
    })?;
    let finished = file.counts().games;
    ensure!(finished > 0, "stopped before the first game was finished");
    let counts = file.finish()?;
    let [played, positions] =
        [counted(counts.games, "game", "games"), counted(counts.samples, "position", "positions")];
    writeln!(out, "{}: {played}, {positions}", options.out.display()).context("write to stdout")?;
    let all = counted(games, "game", "games");
    ensure!(finished == u64::from(games), "stopped after {finished} of {all}");
    Ok(())
}

fn data_set_game(game: ReplayedGame) -> DataSetGame {
    let ReplayedGame { outcome, is_cut_off, ply_count, samples } = game;
    // Games are played to their end.
    let outcome = outcome.unwrap_or(shared::game::Outcome::Draw);
    DataSetGame { outcome, is_from_endgame: false, is_cut_off, ply_count, samples }
}
