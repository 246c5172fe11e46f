//! Who plays: read from the command line, and called the same in every match.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use sha2::{Digest, Sha256};
use shared::search::{Preset, SearchSettings};

/// The searches without a network, by all their names. `vanilla` has always been `mcts` in tables.
const PRESETS: [(&str, Preset); 3] =
    [("mcts", Preset::Vanilla), ("vanilla", Preset::Vanilla), ("grandmaster", Preset::Grandmaster)];
/// Most simulations a move.
const SIMULATIONS_MAX: u32 = 10_000_000;
/// Largest exploration constant.
const EXPLORATION_MAX: f32 = 1000.0;

/// One of the two players of a match.
#[derive(Debug, Clone, PartialEq)]
pub enum Player {
    /// Plays any legal move.
    Random,
    /// The search of self-play, without a network: equal priors, value 0.
    Uniform {
        /// Simulations a move.
        simulation_count: u32,
    },
    /// A search that needs no network: UCB1 with random rollouts, or with the rules of thumb of the game.
    Preset {
        /// Which one.
        preset: Preset,
        /// Simulations a move.
        simulation_count: u32,
    },
    /// A network, searched without noise and for the most visited move.
    Network {
        /// Its weights.
        file: PathBuf,
        /// Simulations a move.
        simulation_count: u32,
        /// Exploration constant of PUCT.
        exploration: f32,
    },
    /// The move that a network holds for likeliest, without a search.
    Policy {
        /// Its weights.
        file: PathBuf,
    },
    /// A program that speaks UHP.
    Engine {
        /// What the shell runs.
        command: String,
        /// How long it thinks.
        limit: EngineLimit,
    },
}

/// How long an engine thinks about a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineLimit {
    /// `bestmove depth N`.
    Depth(u32),
    /// `bestmove time HH:MM:SS`.
    Time(Duration),
}

/// What counts for a player that does not say it itself.
#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// Simulations a move of a network.
    pub simulation_count: u32,
    /// Exploration constant of a network's search.
    pub exploration: f32,
    /// How long engines think.
    pub limit: Option<EngineLimit>,
}

/// Why a text names no player.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlayerError {
    /// It is none of the known kinds, and no file.
    #[error(
        "player {0:?}: write random, uniform:N, mcts:N, grandmaster:N, FILE.safetensors, policy:FILE.safetensors or \
         uhp:COMMAND; there is no such file"
    )]
    Unknown(String),
    /// A number of simulations is none.
    #[error("player {player:?}: {count:?} is not a number of simulations from {least} to {SIMULATIONS_MAX}")]
    Simulations {
        /// The player.
        player: String,
        /// What was read.
        count: String,
        /// The fewest that make a move.
        least: u32,
    },
    /// An exploration constant is none.
    #[error("player {player:?}: {reason}")]
    Exploration {
        /// The player.
        player: String,
        /// What is wrong.
        reason: String,
    },
    /// An engine without a limit would think for ever.
    #[error("player {0:?}: tell how long it thinks: --depth N, --time 1s, or uhp@depth=N:... or uhp@time=1s:...")]
    NoLimit(String),
    /// What stands between `uhp@` and the colon is no limit.
    #[error("player {player:?}: {limit:?} is not depth=N or time=1s")]
    Limit {
        /// The player.
        player: String,
        /// What was read.
        limit: String,
    },
    /// Nothing stands behind the colon.
    #[error("player {0:?}: there is no command")]
    NoCommand(String),
}

impl Player {
    /// Reads a player.
    ///
    /// # Errors
    /// [`PlayerError`] in words.
    pub fn parse(text: &str, defaults: &Defaults) -> Result<Self, PlayerError> {
        if text == "random" {
            return Ok(Self::Random);
        }
        if let Some(count) = text.strip_prefix("uniform:") {
            return Ok(Self::Uniform { simulation_count: simulations(text, count, 2)? });
        }
        for (name, preset) in PRESETS {
            if let Some(count) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(':')) {
                return Ok(Self::Preset { preset, simulation_count: simulations(text, count, 1)? });
            }
        }
        if let Some(file) = text.strip_prefix("policy:") {
            return Ok(Self::Policy { file: file_of(text, file)? });
        }
        if let Some(rest) = text.strip_prefix("uhp:") {
            let limit = defaults.limit.ok_or_else(|| PlayerError::NoLimit(text.into()))?;
            return Ok(Self::Engine { command: command(text, rest)?, limit });
        }
        if let Some((limit, rest)) = text.strip_prefix("uhp@").and_then(|rest| rest.split_once(':')) {
            let error = || PlayerError::Limit { player: text.into(), limit: limit.into() };
            let limit = EngineLimit::parse(limit).ok_or_else(error)?;
            return Ok(Self::Engine { command: command(text, rest)?, limit });
        }
        let (file, search) = match text.rsplit_once('@') {
            Some((file, search)) if !Path::new(text).is_file() => (file, Some(search)),
            _ => (text, None),
        };
        let (count, exploration) = search.map_or((None, None), |search| {
            search.split_once(',').map_or((Some(search), None), |(count, exploration)| (Some(count), Some(exploration)))
        });
        Ok(Self::Network {
            simulation_count: count.map_or(Ok(defaults.simulation_count), |count| simulations(text, count, 2))?,
            exploration: exploration
                .map_or(Ok(defaults.exploration), read_exploration)
                .map_err(|reason| PlayerError::Exploration { player: text.into(), reason })?,
            file: file_of(text, file)?,
        })
    }

    /// Returns what this player is called in tables. Weights are known by their bytes, wherever the file lies.
    ///
    /// # Errors
    /// If the file of a network cannot be read.
    pub fn name(&self) -> anyhow::Result<String> {
        Ok(match self {
            Self::Random => "random".to_owned(),
            Self::Uniform { simulation_count } => format!("uniform:{simulation_count}"),
            Self::Preset { preset: Preset::Vanilla, simulation_count } => format!("mcts:{simulation_count}"),
            Self::Preset { preset, simulation_count } => format!("{preset}:{simulation_count}"),
            Self::Network { file, simulation_count, exploration } => {
                let is_usual = *exploration == SearchSettings::default().exploration;
                let exploration = if is_usual { String::new() } else { format!(",{exploration}") };
                format!("{}@{simulation_count}{exploration}", network_name(file)?)
            }
            Self::Policy { file } => format!("policy:{}", network_name(file)?),
            Self::Engine { command, limit } => format!("uhp@{}:{command}", limit.text()),
        })
    }

    /// Returns the weights that this player needs.
    pub fn network_file(&self) -> Option<&Path> {
        match self {
            Self::Network { file, .. } | Self::Policy { file } => Some(file),
            _ => None,
        }
    }

    /// Returns whether this player is a program of its own that wants a core.
    pub const fn is_engine(&self) -> bool {
        matches!(self, Self::Engine { .. })
    }
}

impl EngineLimit {
    fn parse(text: &str) -> Option<Self> {
        match text.split_once('=')? {
            ("depth", depth) => depth.parse().ok().filter(|depth| *depth > 0).map(Self::Depth),
            ("time", time) => humantime::parse_duration(time).ok().filter(|time| !time.is_zero()).map(Self::Time),
            _ => None,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Depth(depth) => format!("depth={depth}"),
            Self::Time(time) => format!("time={}", humantime::format_duration(time)),
        }
    }
}

fn simulations(player: &str, count: &str, least: u32) -> Result<u32, PlayerError> {
    let error = || PlayerError::Simulations { player: player.into(), count: count.into(), least };
    count.parse().ok().filter(|count| (least..=SIMULATIONS_MAX).contains(count)).ok_or_else(error)
}

/// Reads an exploration constant, or says in words why it is none.
pub(super) fn read_exploration(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number| (0.0..=EXPLORATION_MAX).contains(number));
    number.ok_or_else(|| format!("{text:?} is not an exploration constant from 0 to {EXPLORATION_MAX}"))
}

fn file_of(player: &str, file: &str) -> Result<PathBuf, PlayerError> {
    let file = PathBuf::from(file);
    if file.is_file() { Ok(file) } else { Err(PlayerError::Unknown(player.into())) }
}

fn command(player: &str, command: &str) -> Result<String, PlayerError> {
    let command = command.trim();
    if command.is_empty() { Err(PlayerError::NoCommand(player.into())) } else { Ok(command.to_owned()) }
}

/// Returns the file's name and the first eight digits of its SHA-256: `pretrained-0a1b2c3d`.
fn network_name(file: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(file).with_context(|| format!("read network {}", file.display()))?;
    let digest = Sha256::digest(&bytes);
    let short: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(format!("{}-{short}", stem.replace(char::is_whitespace, "_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULTS: Defaults = Defaults { simulation_count: 400, exploration: 2.5, limit: None };

    fn parse(text: &str) -> Result<Player, PlayerError> {
        Player::parse(text, &DEFAULTS)
    }

    #[test]
    fn players_are_read_and_named() {
        for text in [
            "random",
            "uniform:800",
            "mcts:400",
            "grandmaster:400",
            "uhp@depth=2:nokamute uhp",
            "uhp@time=1s 500ms:a:b",
        ] {
            assert_eq!(parse(text).unwrap().name().unwrap(), text);
        }
        assert_eq!(parse("vanilla:7").unwrap().name().unwrap(), "mcts:7", "one player has one name");
        let limit = Some(EngineLimit::Time(Duration::from_secs(1)));
        let player = Player::parse("uhp: alveare uhp", &Defaults { limit, ..DEFAULTS }).unwrap();
        assert_eq!(player.name().unwrap(), "uhp@time=1s:alveare uhp");
    }

    #[test]
    fn a_network_is_known_by_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("best.safetensors");
        std::fs::write(&file, "weights").unwrap();
        let path = file.display();
        assert_eq!(parse(&path.to_string()).unwrap().name().unwrap(), "best-9a129038@400");
        assert_eq!(parse(&format!("{path}@100")).unwrap().name().unwrap(), "best-9a129038@100");
        let explorer = format!("{path}@100,1.25");
        assert_eq!(parse(&explorer).unwrap().name().unwrap(), "best-9a129038@100,1.25", "another player");
        assert_eq!(parse(&format!("{path}@100,2.5")), parse(&format!("{path}@100")), "the usual one");
        let error = parse(&format!("{path}@100,-1")).unwrap_err().to_string();
        assert!(error.ends_with("\"-1\" is not an exploration constant from 0 to 1000"), "{error}");
        assert_eq!(parse(&format!("policy:{path}")).unwrap().name().unwrap(), "policy:best-9a129038");
    }

    #[test]
    fn what_is_no_player_is_told() {
        let error = |text| parse(text).unwrap_err().to_string();
        assert!(error("nobody").starts_with("player \"nobody\": write random, uniform:N"), "{}", error("nobody"));
        assert_eq!(error("uniform:1"), "player \"uniform:1\": \"1\" is not a number of simulations from 2 to 10000000");
        assert_eq!(error("mcts:"), "player \"mcts:\": \"\" is not a number of simulations from 1 to 10000000");
        assert_eq!(error("uhp@depth=2: "), "player \"uhp@depth=2: \": there is no command");
        assert_eq!(error("uhp@depth=0:a"), "player \"uhp@depth=0:a\": \"depth=0\" is not depth=N or time=1s");
        assert!(error("uhp:a").contains("tell how long it thinks"));
    }
}
