//! The flags of a match.

use std::path::PathBuf;
use std::time::Duration;

use arena::ladder::MatchKey;
use arena::matches::{MatchGame, MatchSettings};
use arena::players::{EngineBounds, EngineLimit, PlayerDefaults, PlayerSpec, read_exploration};
use runtime::exit::UsageError;
use runtime::flags::{number_in, time_in};
use shared::catalog::GameSpec;
use shared::game::dama::{Dama, DamaRules};
use shared::game::hive::{GameType, Hive, HiveRules};
use shared::search::SearchSettings;

use super::terms::GameTerms;
#[cfg(feature = "network")]
use super::terms::NetworkTerms;
use crate::start::GameName;

/// Simulations a move of networks if nothing says another number.
const SIMULATION_COUNT: u32 = 400;
/// Who takes simulations and exploration from flags.
const NETWORK: &str = "a network that does not say it itself (NETWORK@N,C), and neither player is one";
/// Who takes a limit from a flag.
const ENGINE: &str = "a uhp: or hub: program that does not say it itself (@depth=N), and neither player is one";

/// How a match is played.
#[derive(Debug, Clone, clap::Args)]
pub struct PlayOptions {
    /// How many games; an even number makes whole pairs.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) games: u32,
    /// Simulations a move of networks that do not say it themselves; by default 400.
    #[arg(long, value_name = "N", value_parser = number_in(SearchSettings::SIMULATION_COUNTS))]
    simulations: Option<u32>,
    /// Exploration constant of the searches of networks that do not say it themselves; by default 1.25, for draughts 1.
    #[arg(long, value_name = "C", value_parser = read_exploration)]
    exploration: Option<f32>,
    /// Depth at which outside engines think.
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Time that outside engines have for a move, such as 1s or 500ms; 1ms to 1day.
    #[arg(long, value_name = "TIME", value_parser = time_in(EngineLimit::TIMES))]
    time: Option<Duration>,
    /// Longest wait for an answer of an engine without a time limit, 1ms to 1day; after that it loses the game.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time_in(EngineBounds::ANSWER_WAITS))]
    answer_wait_max: Duration,
    /// How much later than its time an engine's move may come, 0s to 1h.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time_in(EngineBounds::TIME_MARGINS))]
    time_margin: Duration,
    /// The game. The default is that of the run of --run-dir, else that of a player (a network's file, `uhp:` Hive, `hub:`
    /// draughts), else Hive.
    #[arg(long, value_enum)]
    pub(super) game: Option<GameName>,
    /// UHP game type, of Hive. The default is that of the run of --run-dir, else Base+MLP.
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) game_type: Option<GameType>,
    #[command(flatten)]
    pub(super) terms: GameTerms,
    /// File for the games, UHP GameStrings one a line, or PDN; FILE.tsv beside it says who played and how each ended.
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[cfg(feature = "network")]
    #[command(flatten)]
    pub(super) networks: NetworkTerms,
    /// What is logged, such as arena=debug for what engines write to stderr.
    #[arg(long, value_name = "FILTER", default_value = "info")]
    pub(super) log: String,
}

/// The game of a match, by its rules.
#[derive(Debug, Clone, Copy)]
pub enum ChosenGame {
    /// Hive.
    Hive(Hive),
    /// Italian draughts.
    Dama(Dama),
}

impl ChosenGame {
    /// Returns the game that a run plays, with another ply limit; `None` if there are no matches of it.
    pub const fn of(spec: &GameSpec, ply_limit: u32) -> Option<Self> {
        match *spec {
            GameSpec::Hive { rules, .. } => Some(Self::Hive(Hive::new(HiveRules { ply_limit, ..rules }))),
            GameSpec::Dama { .. } => Some(Self::Dama(Dama::new(DamaRules { ply_limit }))),
            GameSpec::TicTacToe {} => None,
        }
    }

    /// Returns the name under which results of this kind of game are kept.
    pub fn type_name(&self) -> String {
        match self {
            Self::Hive(hive) => MatchGame::type_name(hive),
            Self::Dama(dama) => MatchGame::type_name(dama),
        }
    }
}

impl PlayOptions {
    /// Reads the two players of a game in which networks search with `usual_exploration`.
    ///
    /// # Errors
    /// [`UsageError`] for a text that is not a player, and a flag that no player takes.
    pub(super) fn players(&self, texts: [&str; 2], usual_exploration: f32) -> Result<[PlayerSpec; 2], UsageError> {
        let defaults = PlayerDefaults {
            simulation_count: self.simulations.unwrap_or(SIMULATION_COUNT),
            exploration: self.exploration.unwrap_or(usual_exploration),
            limit: self.depth.map(EngineLimit::Depth).or(self.time.map(EngineLimit::Time)),
        };
        let players = read(texts, &defaults)?;
        // Values that no flag can have: a player that takes one of them is another player than by the flag.
        let (count, exploration, limit) = (0, -1.0, Some(EngineLimit::Nodes(1)));
        for (flag, is_given, other, who) in [
            (
                "--simulations",
                self.simulations.is_some(),
                PlayerDefaults { simulation_count: count, ..defaults },
                NETWORK,
            ),
            ("--exploration", self.exploration.is_some(), PlayerDefaults { exploration, ..defaults }, NETWORK),
            ("--depth", self.depth.is_some(), PlayerDefaults { limit, ..defaults }, ENGINE),
            ("--time", self.time.is_some(), PlayerDefaults { limit, ..defaults }, ENGINE),
        ] {
            if is_given && read(texts, &other)? == players {
                return Err(UsageError(format!("{flag} is for {who}: leave it away")));
            }
        }
        Ok(players)
    }

    /// Returns what makes another match of this type of game the same again.
    pub(super) fn key(&self, game_type: String) -> MatchKey {
        let GameTerms { opening_plies, ply_limit, seed, .. } = self.terms;
        MatchKey { game_type, opening_plies, ply_limit, seed }
    }

    /// Returns how the games of these players are played.
    pub(super) fn match_settings(&self, players: &[PlayerSpec; 2]) -> MatchSettings {
        MatchSettings {
            games_at_once: self.terms.games_at_once(players).min(self.games as usize),
            engine_bounds: EngineBounds { answer_wait_max: self.answer_wait_max, time_margin: self.time_margin },
            #[cfg(feature = "network")]
            networks: self.networks.settings(),
        }
    }
}

fn read(texts: [&str; 2], defaults: &PlayerDefaults) -> Result<[PlayerSpec; 2], UsageError> {
    let player = |text| PlayerSpec::parse(text, defaults).map_err(|error| UsageError(error.to_string()));
    Ok([player(texts[0])?, player(texts[1])?])
}
