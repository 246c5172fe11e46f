//! How a match is played, as the command line tells it.

use std::path::PathBuf;
use std::time::Duration;

use runtime::exit::UsageError;
use shared::game::hive::GameType;
use shared::search::SearchSettings;

use super::engine::EngineBounds;
use super::game::{ChosenGame, GameName};
use super::hall::HallSettings;
use super::network::ServeSettings;
use super::player::{Defaults, EngineLimit, Player, read_exploration};
use crate::ladder::MatchKey;

/// Games at once if no player is an outside engine: their leaves share batches.
const GAMES_AT_ONCE: usize = 32;

/// How a match is played.
#[derive(Debug, Clone, clap::Args)]
pub struct PlayOptions {
    /// How many games; an even number makes whole pairs.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) games: u32,
    /// Simulations a move of networks that do not say it themselves.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    simulations: u32,
    /// Exploration constant of the searches of networks that do not say it themselves.
    #[arg(long, value_name = "C", default_value_t = SearchSettings::default().exploration, value_parser = read_exploration)]
    exploration: f32,
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
    /// The game.
    #[arg(long, value_enum, default_value = "hive")]
    game: GameName,
    /// UHP game type, of Hive; Base+MLP if nothing is said.
    #[arg(long = "type", value_name = "TYPE")]
    game_type: Option<GameType>,
    /// Random plies that both games of a pair start with.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(super) opening_plies: u32,
    /// Plies after which a game is a draw.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=5000))]
    ply_limit: u32,
    /// Seed of openings and of whatever players draw at random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Games played at once; by default 32, with outside engines one for each core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    games_at_once: Option<u32>,
    /// File for the games, UHP GameStrings one a line, or PDN; FILE.tsv beside it tells who played and how each ended.
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// The program `learner`, which computes networks; by default the one beside this program.
    #[arg(long, value_name = "PATH")]
    learner_program: Option<PathBuf>,
    /// Where networks are computed: auto, cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = read_device)]
    device: String,
    /// Threads that compute one network on the CPU.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=1024))]
    network_threads: u16,
    /// What is logged, such as evaluator=debug for what engines write to stderr.
    #[arg(long, value_name = "FILTER", default_value = "info")]
    pub(super) log: String,
}

impl PlayOptions {
    /// Returns the game by the rules of the match.
    ///
    /// # Errors
    /// [`UsageError`] for an option that belongs to another game.
    pub fn game(&self) -> Result<ChosenGame, UsageError> {
        if self.opening_plies >= self.ply_limit {
            let Self { opening_plies, ply_limit, .. } = self;
            return Err(UsageError(format!("--opening-plies {opening_plies}: not below --ply-limit {ply_limit}")));
        }
        ChosenGame::new(self.game, self.game_type, self.ply_limit)
    }

    /// Reads the two players.
    ///
    /// # Errors
    /// [`UsageError`] in words.
    pub(super) fn players(&self, texts: [&str; 2]) -> Result<[Player; 2], UsageError> {
        let limit = self.depth.map(EngineLimit::Depth).or(self.time.map(EngineLimit::Time));
        let defaults = Defaults { simulation_count: self.simulations, exploration: self.exploration, limit };
        let player = |text| Player::parse(text, &defaults).map_err(|error| UsageError(error.to_string()));
        Ok([player(texts[0])?, player(texts[1])?])
    }

    /// Returns what makes another match of `game` the same again.
    pub(super) fn key(&self, game: &ChosenGame) -> MatchKey {
        MatchKey {
            game_type: game.type_name(),
            opening_plies: self.opening_plies,
            ply_limit: self.ply_limit,
            seed: self.seed,
        }
    }

    /// Returns how the games of these players are played.
    pub(super) fn hall_settings(&self, players: &[Player; 2]) -> HallSettings {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let at_once = if players.iter().any(Player::is_engine) { cores } else { GAMES_AT_ONCE };
        let at_once = self.games_at_once.map_or(at_once, |count| count as usize);
        HallSettings {
            games_at_once: at_once.min(self.games as usize),
            bounds: EngineBounds { answer_wait_max: self.answer_wait_max, time_margin: self.time_margin },
            serve: ServeSettings {
                program: self.learner_program.clone().unwrap_or_else(ServeSettings::neighbour),
                device: self.device.clone(),
                threads: self.network_threads.into(),
            },
        }
    }
}

/// Checks the name of a device; whether there is one, the learner says.
fn read_device(text: &str) -> Result<String, String> {
    let number = text.strip_prefix("cuda:").map(|number| number.parse::<u8>().is_ok());
    let is_device = number.unwrap_or(["auto", "cpu", "cuda"].contains(&text));
    if is_device { Ok(text.to_owned()) } else { Err("write auto, cpu, cuda or cuda:N".to_owned()) }
}
