//! Which player is meant: read from text, and called the same in every match.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use networks::{NetworkSource, READY};
use sha2::{Digest, Sha256};
use shared::search::{SearchPreset, SearchSettings};

use super::files::PlayerFiles;
use super::network_search::{NetworkSearch, read_simulations};
use super::spec_error::PlayerSpecError;
use crate::levels::StrengthLevel;

/// The searches without a network, by all their names. `vanilla` has always been `mcts` in tables.
const PRESETS: [(&str, SearchPreset); 3] =
    [("mcts", SearchPreset::Vanilla), ("vanilla", SearchPreset::Vanilla), ("grandmaster", SearchPreset::Grandmaster)];

/// One of the two players of a match.
#[derive(Debug, Clone, PartialEq)]
pub enum PlayerSpec {
    /// Plays any legal move.
    Random,
    /// The search of self-play without a network: equal priors, value 0.
    Uniform {
        /// Simulations a move, 2..=100,000,000.
        simulation_count: u32,
        /// Its endgame tables and its opening book.
        files: PlayerFiles,
    },
    /// A search that needs no network: UCB1 with random rollouts, or with the heuristic of the game.
    Preset {
        /// Which one.
        preset: SearchPreset,
        /// Simulations a move, 1..=100,000,000.
        simulation_count: u32,
        /// Its endgame tables and its opening book.
        files: PlayerFiles,
    },
    /// A network, searched without noise and for the most visited move.
    Network {
        /// Its weights.
        source: NetworkSource,
        /// How it searches.
        search: NetworkSearch,
        /// Its endgame tables and its opening book.
        files: PlayerFiles,
    },
    /// The move with the highest prior of a network, without a search.
    Policy {
        /// Its weights.
        source: NetworkSource,
    },
    /// The ready network at a named strength.
    Level(StrengthLevel),
    /// Another program.
    Engine(EngineSpec),
}

/// A program that plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSpec {
    /// What it speaks.
    pub protocol: Protocol,
    /// What the shell runs.
    pub command: String,
    /// How long it thinks.
    pub limit: EngineLimit,
}

/// What an engine speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The Universal Hive Protocol.
    Uhp,
    /// The hub protocol for draughts programs.
    Hub,
}

/// How long an engine thinks about a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineLimit {
    /// To this depth, at least 1; what that is, the engine decides.
    Depth(u32),
    /// This many nodes, at least 1. The hub protocol alone has it.
    Nodes(u32),
    /// This long, 1 ms to 1 day.
    Time(Duration),
}

impl EngineLimit {
    /// Possible values of [`Self::Time`].
    pub const TIMES: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(24 * 60 * 60);
}

/// What counts for a player whose text does not say it.
#[derive(Debug, Clone, Copy)]
pub struct PlayerDefaults {
    /// Simulations a move of a network.
    pub simulation_count: u32,
    /// Exploration constant of a network's search.
    pub exploration: f32,
    /// How long engines think.
    pub limit: Option<EngineLimit>,
}

impl PlayerSpec {
    /// Reads a player.
    ///
    /// # Errors
    /// [`PlayerSpecError`] saying what is wrong with the text.
    pub fn parse(text: &str, defaults: &PlayerDefaults) -> Result<Self, PlayerSpecError> {
        for protocol in [Protocol::Uhp, Protocol::Hub] {
            if let Some(rest) = text.strip_prefix(protocol.name())
                && rest.starts_with([':', '@'])
            {
                return Ok(Self::Engine(EngineSpec::parse(text, rest, protocol, defaults.limit)?));
            }
        }
        if Path::new(text).is_file() {
            return Self::parse_own(text, defaults);
        }
        let wrong = || PlayerSpecError::Files(text.into());
        let (player, files) = PlayerFiles::split(text).map_err(|_| wrong())?;
        let mut spec = Self::parse_own(player, defaults)?;
        if !files.is_empty() {
            *spec.files_mut().ok_or_else(wrong)? = files;
        }
        Ok(spec)
    }

    /// Reads a player that is no program of its own, without its files.
    fn parse_own(text: &str, defaults: &PlayerDefaults) -> Result<Self, PlayerSpecError> {
        if text == "random" {
            return Ok(Self::Random);
        }
        if let Some(count) = text.strip_prefix("uniform:") {
            let simulation_count = simulations(text, count, *SearchSettings::SIMULATION_COUNTS.start())?;
            return Ok(Self::Uniform { simulation_count, files: PlayerFiles::default() });
        }
        for (name, preset) in PRESETS {
            if let Some(count) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(':')) {
                return Ok(Self::Preset {
                    preset,
                    simulation_count: simulations(text, count, 1)?,
                    files: PlayerFiles::default(),
                });
            }
        }
        if let Some(source) = text.strip_prefix("policy:") {
            return network_source(text, source).map(|source| Self::Policy { source }).map_err(|error| {
                let before = source.rsplit_once('@').map(|(before, _)| network_source(text, before));
                if matches!(before, Some(Ok(_))) { PlayerSpecError::Policy(text.into()) } else { error }
            });
        }
        if let Some(number) = text.strip_prefix("level:") {
            let level = number.parse().map_err(|error| PlayerSpecError::Level { player: text.into(), error });
            return level.map(Self::Level);
        }
        Self::parse_network(text, defaults)
    }

    fn parse_network(text: &str, defaults: &PlayerDefaults) -> Result<Self, PlayerSpecError> {
        let (source, search) = match text.rsplit_once('@') {
            Some((source, search)) if !Path::new(text).is_file() => (source, Some(search)),
            _ => (text, None),
        };
        let search = search.map_or(Ok(NetworkSearch::usual(defaults)), |text| NetworkSearch::parse(text, defaults));
        Ok(Self::Network {
            search: search.map_err(|error| PlayerSpecError::Search { player: text.into(), error })?,
            source: network_source(text, source)?,
            files: PlayerFiles::default(),
        })
    }

    const fn files_mut(&mut self) -> Option<&mut PlayerFiles> {
        match self {
            Self::Uniform { files, .. } | Self::Preset { files, .. } | Self::Network { files, .. } => Some(files),
            _ => None,
        }
    }

    const fn files(&self) -> Option<&PlayerFiles> {
        match self {
            Self::Uniform { files, .. } | Self::Preset { files, .. } | Self::Network { files, .. } => Some(files),
            _ => None,
        }
    }

    /// Returns the folder of the endgame tables that this player searches by.
    #[must_use]
    pub fn tables(&self) -> Option<&Path> {
        self.files()?.tables.as_deref()
    }

    /// Returns the file of the opening book that this player plays by.
    #[must_use]
    pub fn book(&self) -> Option<&Path> {
        self.files()?.book.as_deref()
    }

    /// Returns what this player is called in tables. `weights` are the bytes of its network: networks are known by the name
    /// of their file and by them, in whatever folder; endgame tables and opening books by the name of their folder and file.
    #[must_use]
    pub fn name(&self, weights: &[u8]) -> String {
        let files = self.files().map(ToString::to_string);
        self.name_without_files(weights) + &files.unwrap_or_default()
    }

    fn name_without_files(&self, weights: &[u8]) -> String {
        match self {
            Self::Random => "random".to_owned(),
            Self::Uniform { simulation_count, .. } => format!("uniform:{simulation_count}"),
            Self::Preset { preset: SearchPreset::Vanilla, simulation_count, .. } => format!("mcts:{simulation_count}"),
            Self::Preset { preset, simulation_count, .. } => format!("{preset}:{simulation_count}"),
            Self::Network { source, search, .. } => format!("{}@{search}", network_name(source, weights)),
            Self::Policy { source } => format!("policy:{}", network_name(source, weights)),
            Self::Level(level) => format!("level:{level}-{}", short_hash(weights)),
            Self::Engine(EngineSpec { protocol, command, limit }) => format!("{protocol}@{limit}:{command}"),
        }
    }

    /// Returns the weights that this player needs.
    #[must_use]
    pub const fn network(&self) -> Option<&NetworkSource> {
        match self {
            Self::Network { source, .. } | Self::Policy { source } => Some(source),
            Self::Level(_) => Some(&NetworkSource::Ready),
            _ => None,
        }
    }

    /// Returns in which numbers its network answers, if it says so.
    #[cfg(feature = "network")]
    pub(crate) const fn precision(&self) -> Option<shared::precision::AnswerPrecision> {
        if let Self::Network { search, .. } = self { search.precision } else { None }
    }

    /// Returns whether this player is a program of its own that wants a core.
    #[must_use]
    pub const fn is_engine(&self) -> bool {
        matches!(self, Self::Engine(_))
    }
}

/// Reads the network of `player`; a file must be there.
fn network_source(player: &str, text: &str) -> Result<NetworkSource, PlayerSpecError> {
    let source = NetworkSource::from(Path::new(text));
    source.check_folder().map_err(|error| PlayerSpecError::Folder { player: player.into(), error })?;
    let is_there = source.file().is_none_or(Path::is_file);
    if is_there { Ok(source) } else { Err(PlayerSpecError::Unknown(player.into())) }
}

/// Returns the name of the network's file and the first eight digits of the SHA-256 of its bytes: `pretrained-0a1b2c3d`.
fn network_name(source: &NetworkSource, bytes: &[u8]) -> String {
    let stem = source.file().map_or(READY.into(), |file| file.file_stem().unwrap_or_default().to_string_lossy());
    format!("{}-{}", stem.replace(char::is_whitespace, "_"), short_hash(bytes))
}

/// Returns the first eight digits of the SHA-256 of `bytes`.
fn short_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

impl EngineSpec {
    /// Reads `rest`, what follows the protocol's name in the text of a `player`: `:COMMAND` or `@LIMIT:COMMAND`.
    fn parse(
        player: &str,
        rest: &str,
        protocol: Protocol,
        default: Option<EngineLimit>,
    ) -> Result<Self, PlayerSpecError> {
        let (limit, command) = rest.split_once(':').unwrap_or((rest, ""));
        let limit = match limit.strip_prefix('@') {
            None => default.ok_or_else(|| PlayerSpecError::NoLimit { player: player.into(), protocol })?,
            Some(text) => EngineLimit::parse(text, protocol).ok_or_else(|| PlayerSpecError::Limit {
                player: player.into(),
                limit: text.into(),
                protocol,
            })?,
        };
        match command.trim() {
            "" => Err(PlayerSpecError::NoCommand(player.into())),
            command => Ok(Self { protocol, command: command.to_owned(), limit }),
        }
    }
}

impl Protocol {
    const fn name(self) -> &'static str {
        match self {
            Self::Uhp => "uhp",
            Self::Hub => "hub",
        }
    }

    pub(super) const fn limits(self) -> &'static str {
        match self {
            Self::Uhp => "depth=N or time=1s",
            Self::Hub => "depth=N, nodes=N or time=1s",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl EngineLimit {
    fn parse(text: &str, protocol: Protocol) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        match text.split_once('=')? {
            ("depth", depth) => number(depth).map(Self::Depth),
            ("nodes", nodes) if protocol == Protocol::Hub => number(nodes).map(Self::Nodes),
            ("time", time) => {
                humantime::parse_duration(time).ok().filter(|time| Self::TIMES.contains(time)).map(Self::Time)
            }
            _ => None,
        }
    }
}

impl fmt::Display for EngineLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth(depth) => write!(f, "depth={depth}"),
            Self::Nodes(nodes) => write!(f, "nodes={nodes}"),
            Self::Time(time) => write!(f, "time={}", humantime::format_duration(*time)),
        }
    }
}

fn simulations(player: &str, count: &str, least: u32) -> Result<u32, PlayerSpecError> {
    read_simulations(count, least).map_err(|error| PlayerSpecError::Search { player: player.into(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULTS: PlayerDefaults = PlayerDefaults { simulation_count: 400, exploration: 2.5, limit: None };

    fn parse(text: &str) -> Result<PlayerSpec, PlayerSpecError> {
        PlayerSpec::parse(text, &DEFAULTS)
    }

    fn name(text: &str) -> String {
        parse(text).unwrap().name(b"weights")
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
            "hub@nodes=60:scan hub",
            "hub@time=1s:a:b",
        ] {
            assert_eq!(name(text), text);
        }
        assert_eq!(name("vanilla:7"), "mcts:7", "one player has one name");
        assert_eq!(name("mcts:400,tables=/data/my five"), "mcts:400,tables=my_five");
        assert_eq!(
            parse("uniform:9,tables=a,b@c").unwrap().tables(),
            Some(Path::new("a,b@c")),
            "the folder stands last"
        );
        assert_eq!(
            name("hub@time=1s:a --set,tables=b"),
            "hub@time=1s:a --set,tables=b",
            "another program's own affair"
        );
        let limit = Some(EngineLimit::Time(Duration::from_secs(1)));
        let player = PlayerSpec::parse("uhp: alveare uhp", &PlayerDefaults { limit, ..DEFAULTS }).unwrap();
        assert_eq!(player.name(b""), "uhp@time=1s:alveare uhp");
    }

    #[test]
    fn a_network_is_known_by_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("best.safetensors");
        std::fs::write(&file, "weights").unwrap();
        let path = file.display();
        assert_eq!(name(&path.to_string()), "best-9a129038@400");
        assert_eq!(name(&format!("{path}@100")), "best-9a129038@100");
        assert_eq!(name(&format!("{path}@100,1.25")), "best-9a129038@100,1.25", "another player");
        assert_eq!(name(&format!("{path}@100,2.5")), "best-9a129038@100", "names leave 2.5 out");
        let training = tempfile::tempdir().unwrap();
        std::fs::write(training.path().join("trained.safetensors"), "weights").unwrap();
        assert_eq!(name(&format!("{}@100", training.path().display())), "trained-9a129038@100", "by the file in it");
        let error = parse(&format!("{path}@100,-1")).unwrap_err().to_string();
        assert!(error.ends_with("\"-1\" is not an exploration constant from 0 to 1000"), "{error}");
        assert_eq!(name(&format!("policy:{path}")), "policy:best-9a129038");
        assert_eq!(name("ready@100,1"), "ready-9a129038@100,1");
        assert_eq!(name("ready@100,tables=five/"), "ready-9a129038@100,tables=five");
        assert_eq!(name("ready,tables=five"), "ready-9a129038@400,tables=five");
        assert_eq!(name("ready@9,1.25,book=x/mlp.book,tables=five"), "ready-9a129038@9,1.25,tables=five,book=mlp.book");
        assert_eq!(name("policy:ready"), "policy:ready-9a129038");
        assert_eq!(name("level:7"), "level:7-9a129038", "a level is one of the network that it is played with");
    }

    #[test]
    fn a_text_that_is_not_a_player_is_explained() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert!(error("nobody").starts_with("player \"nobody\": there is no such file or folder; write ready"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        let empty = error(&format!("{path}@100"));
        assert!(
            empty.starts_with(&format!("player \"{path}@100\": network {path}: the folder has none of best.")),
            "{empty}"
        );
        assert_eq!(
            error("uniform:1"),
            "player \"uniform:1\": \"1\" is not a number of simulations from 2 to 100000000"
        );
        let policy = "a policy plays without a search and takes no simulations: leave away the @ and what follows";
        assert_eq!(error("policy:ready@4"), format!("player \"policy:ready@4\": {policy}"));
        assert!(error("policy:nobody@4").contains("there is no such file or folder"), "{}", error("policy:nobody@4"));
        assert_eq!(error("level:11"), "player \"level:11\": \"11\" is not a level from 1 to 10");
        let unfit =
            ["random,tables=a", "level:3,book=a", "policy:ready,tables=a", "mcts:4,tables=", "mcts:4,book=a,book=b"];
        for text in unfit {
            let end =
                "tables=DIR and book=FILE are for a network, uniform:N, mcts:N or grandmaster:N, and stand last, once";
            assert_eq!(error(text), format!("player {text:?}: {end}"));
        }
        assert_eq!(error("mcts:"), "player \"mcts:\": \"\" is not a number of simulations from 1 to 100000000");
        assert_eq!(error("uhp@depth=2: "), "player \"uhp@depth=2: \": there is no command");
        assert_eq!(error("uhp@depth=0:a"), "player \"uhp@depth=0:a\": \"depth=0\" is not depth=N or time=1s");
        assert_eq!(error("uhp@nodes=9:a"), "player \"uhp@nodes=9:a\": \"nodes=9\" is not depth=N or time=1s");
        assert_eq!(error("hub@1s:a"), "player \"hub@1s:a\": \"1s\" is not depth=N, nodes=N or time=1s");
        assert!(error("uhp:a").ends_with("uhp@depth=N:... or uhp@time=1s:..."), "{}", error("uhp:a"));
    }
}
