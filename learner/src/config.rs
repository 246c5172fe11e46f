//! The learner's configuration: one struct, every key checked by name before a port opens.
//!
//! Workers have no settings of their own about games, search or networks: the learner sends them.
//! Each key's meaning, unit and source stand in `config/hive-original.toml`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use net::{DeviceChoice, NetworkSettings, TrainingPrecision};
use runtime::logging::LogSettings;
use serde::{Deserialize, Serialize};
use shared::encoding::Encoding;
use shared::game::Game;
use shared::game::catalog::{GameSpec, GameVisitor};
use shared::gate::GateSettings;
use shared::record::ValueTarget;
use shared::search::SearchSettings;

use crate::offline::OfflineConfig;
use crate::presets::DEFAULT_PRESET;

/// Everything a run is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerConfig {
    /// What is played.
    pub game: GameSpec,
    /// Where the run lives and how it starts.
    pub run: RunConfig,
    /// Who may connect, and how.
    pub server: ServerConfig,
    /// How games are made.
    pub self_play: SelfPlayConfig,
    /// How candidates are tested.
    pub gate: GateConfig,
    /// Shape of the network.
    pub network: NetworkSettings,
    /// How leaves are answered.
    pub inference: InferenceConfig,
    /// How the network learns.
    pub training: TrainingConfig,
    /// How it learns from people's games before self-play.
    pub pretrain: OfflineConfig,
    /// How it learns from data sets, without self-play.
    pub offline: OfflineConfig,
    /// What it learns from.
    pub replay: ReplayConfig,
    /// When to warn.
    pub alarms: AlarmConfig,
    /// What is logged, and how.
    #[serde(default)]
    pub log: LogSettings,
}

impl Default for LearnerConfig {
    fn default() -> Self {
        toml::from_str(DEFAULT_PRESET).expect("the built-in preset is tested")
    }
}

/// Where the run lives and how it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Folder of the store, the networks and the checkpoint.
    pub dir: PathBuf,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether self-play goes on while the network trains and is gated.
    pub pipeline: PipelineMode,
    /// Iterations after which the learner stops, from this start on; 0 for none.
    pub iterations: u32,
    /// Network that a new run starts from, as generation 0; none: random weights.
    pub start_network: Option<PathBuf>,
}

/// Longest random opening of a gate: longer ones end many a game before the players begin.
const OPENING_PLIES_MAX: usize = 40;
/// Most threads of one evaluation or step.
const THREADS_MAX: usize = 1024;
/// Most positions a step: more would not fit a GPU.
const BATCH_SIZE_MAX: usize = 65_536;
/// Longest lease: a game of a worker that vanished must not wait for ever.
const LEASE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether self-play goes on while the network trains and is gated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PipelineMode {
    /// Self-play never stops.
    Overlapped,
    /// The textbook loop: self-play, then training, then the gate.
    Lockstep,
}

/// Who may connect, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// File with the token that workers must show; none: no token.
    pub token_file: Option<PathBuf>,
    /// Listen beyond this machine without a token.
    pub insecure: bool,
    /// How long a worker keeps a game without a word.
    #[serde(with = "humantime_serde")]
    pub lease: Duration,
    /// Batches a worker's stream may have unanswered: two for each of its threads.
    pub batches_in_flight_max: u32,
    /// How long a stop waits for what is under way.
    #[serde(with = "humantime_serde")]
    pub drain_deadline: Duration,
}

/// How games are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlayConfig {
    /// Finished games that make an iteration.
    pub games_per_iteration: u32,
    /// Simulations a move at generation 0; grows to `search.simulation_count`.
    pub simulation_count_first: u32,
    /// Generations until `search.simulation_count` is reached; 0: at once.
    pub simulation_growth_generations: u32,
    /// Share of the games that begin from random endgames.
    pub endgame_share: f64,
    /// How a move is searched.
    pub search: SearchSettings,
}

impl SelfPlayConfig {
    /// Returns the search settings at `generation`: the number of simulations grows in a straight line.
    #[must_use]
    pub fn search_at(&self, generation: u32) -> SearchSettings {
        let mut search = self.search.clone();
        if generation < self.simulation_growth_generations {
            let (first, full) = (f64::from(self.simulation_count_first), f64::from(search.simulation_count));
            let share = f64::from(generation) / f64::from(self.simulation_growth_generations);
            search.simulation_count = (first + (full - first) * share).round() as u32;
        }
        search
    }
}

/// How candidates are tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateConfig {
    /// Games against the best network, in pairs with colours swapped; even.
    pub game_count: u32,
    /// Score from which the candidate is promoted; a draw counts as half.
    pub promotion_score: f64,
    /// Random plies that both games of a pair start with.
    pub opening_plies: u32,
    /// How a move is searched.
    pub search: SearchSettings,
}

impl GateConfig {
    /// Returns what decides the verdict.
    #[must_use]
    pub fn settings(&self) -> GateSettings {
        GateSettings { game_count: self.game_count, promotion_score: self.promotion_score }
    }
}

/// How leaves are answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InferenceConfig {
    /// `auto`, `cpu` or `cuda:N`.
    pub device: DeviceChoice,
    /// Threads of one evaluation on the CPU; 0: all cores.
    pub threads: usize,
    /// Leaves evaluated together at most.
    pub batch_leaves_max: u32,
    /// Sizes that batches are padded to, rising; none: not padded.
    pub batch_sizes: Vec<usize>,
    /// How long a batch waits for more leaves at most, in microseconds.
    pub batch_wait_us_max: u64,
    /// Batches that may wait; a worker whose batch does not fit waits.
    pub queue_batches_max: usize,
    /// Networks kept ready at once.
    pub networks_max: usize,
}

/// How the network learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// `auto`, `cpu` or `cuda:N`.
    pub device: DeviceChoice,
    /// Threads of a step on the CPU; 0: all cores.
    pub threads: usize,
    /// The numbers in which a step multiplies: `float32`, `bfloat16` or `auto`.
    pub precision: TrainingPrecision,
    /// Positions a step.
    pub batch_size: u32,
    /// Steps an iteration.
    pub steps_per_iteration: u32,
    /// Learning rate at the first step of the run.
    pub learning_rate_max: f64,
    /// Learning rate at its last.
    pub learning_rate_min: f64,
    /// Iterations over which the learning rate falls along a cosine.
    pub iterations: u32,
    /// Momentum of SGD.
    pub momentum: f64,
    /// Weight decay of SGD.
    pub weight_decay: f64,
    /// Weight of the value error beside the policy's cross-entropy.
    pub value_loss_weight: f64,
    /// What the value learns from a game.
    pub value_target: ValueTargetKind,
    /// Worth of an outcome one sample later (`discount`).
    pub value_target_discount: f32,
    /// Share of the rest of the game against the next search's value (`td`).
    pub value_target_lambda: f32,
    /// Share of the search's value against the outcome (`blend`).
    pub value_target_weight: f32,
    /// Steps between two checkpoints.
    pub checkpoint_steps: u32,
}

/// What the value learns from a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueTargetKind {
    /// How it ended.
    Outcome,
    /// How it ended, worth less the longer it takes.
    Discount,
    /// The search's values that followed, then how it ended.
    Td,
    /// The search's value of the position, mixed with how it ended.
    Blend,
}

impl TrainingConfig {
    /// Returns the rule by which value targets are made.
    #[must_use]
    pub const fn value_target_rule(&self) -> ValueTarget {
        match self.value_target {
            ValueTargetKind::Outcome => ValueTarget::Outcome,
            ValueTargetKind::Discount => ValueTarget::Discount { discount: self.value_target_discount },
            ValueTargetKind::Td => ValueTarget::Td { lambda: self.value_target_lambda },
            ValueTargetKind::Blend => ValueTarget::Blend { weight: self.value_target_weight },
        }
    }
}

/// What the network learns from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayConfig {
    /// Positions kept: the newest.
    pub position_count_max: u32,
    /// Positions below which no training starts.
    pub position_count_min: u32,
    /// Share of each batch that comes from people's decided games.
    pub human_share: f64,
    /// Generation at which that share has fallen to nothing; 0: it stays.
    pub human_share_generations: u32,
    /// Those games: files, folders, zip archives.
    pub human_games: Vec<PathBuf>,
}

/// When to warn: Hive runs have died of draws without anyone noticing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlarmConfig {
    /// Share of drawn games of an iteration.
    pub draw_share_max: f64,
    /// Share of games cut off at the ply limit.
    pub cut_off_share_max: f64,
    /// Share of games of an iteration whose first six plies no other game has.
    pub distinct_opening_share_min: f64,
}

/// A value that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct ConfigError {
    /// The key, in full.
    pub key: String,
    /// What is wrong with its value.
    pub problem: String,
}

impl LearnerConfig {
    /// Checks every value, so that nobody has to again.
    ///
    /// # Errors
    /// [`ConfigError`] naming the first key that is impossible.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.game.check().map_err(|error| split_key("game", &error.to_string()))?;
        self.network.check().map_err(|error| split_key("network", &error.to_string()))?;
        self.self_play.search.check().map_err(|error| split_key("self_play.search", &error.to_string()))?;
        self.gate.search.check().map_err(|error| split_key("gate.search", &error.to_string()))?;
        self.check_counts()?;
        self.check_shares()?;
        self.pretrain.check("pretrain")?;
        self.offline.check("offline")?;
        self.check_server()
    }

    fn check_counts(&self) -> Result<(), ConfigError> {
        let counts = [
            ("self_play.games_per_iteration", self.self_play.games_per_iteration as usize, 1),
            ("self_play.simulation_count_first", self.self_play.simulation_count_first as usize, 1),
            ("gate.game_count", self.gate.game_count as usize, 2),
            ("server.batches_in_flight_max", self.server.batches_in_flight_max as usize, 1),
            ("inference.batch_leaves_max", self.inference.batch_leaves_max as usize, 1),
            ("inference.queue_batches_max", self.inference.queue_batches_max, 1),
            // The best network and a candidate.
            ("inference.networks_max", self.inference.networks_max, 2),
            ("training.batch_size", self.training.batch_size as usize, 1),
            ("training.steps_per_iteration", self.training.steps_per_iteration as usize, 1),
            ("training.iterations", self.training.iterations as usize, 1),
            ("training.checkpoint_steps", self.training.checkpoint_steps as usize, 1),
            ("replay.position_count_max", self.replay.position_count_max as usize, 1),
            ("replay.position_count_min", self.replay.position_count_min as usize, 1),
        ];
        for (key, count, least) in counts {
            require(count >= least, key, || format!("{count} is below {least}"))?;
        }
        let bounded = [
            ("gate.opening_plies", self.gate.opening_plies as usize, OPENING_PLIES_MAX),
            ("inference.threads", self.inference.threads, THREADS_MAX),
            ("training.threads", self.training.threads, THREADS_MAX),
            ("training.batch_size", self.training.batch_size as usize, BATCH_SIZE_MAX),
        ];
        for (key, value, max) in bounded {
            require(value <= max, key, || format!("{value} is above {max}"))?;
        }
        require(!self.run.dir.as_os_str().is_empty(), "run.dir", || "names no folder".to_owned())?;
        require(self.gate.game_count.is_multiple_of(2), "gate.game_count", || {
            format!("{} is odd: games come in pairs", self.gate.game_count)
        })?;
        require(self.replay.position_count_min <= self.replay.position_count_max, "replay.position_count_min", || {
            format!("{} is above replay.position_count_max", self.replay.position_count_min)
        })?;
        require(
            self.inference.batch_sizes.is_sorted() && !self.inference.batch_sizes.contains(&0),
            "inference.batch_sizes",
            || "must rise, from 1 on".to_owned(),
        )
    }

    fn check_shares(&self) -> Result<(), ConfigError> {
        let shares = [
            ("self_play.endgame_share", self.self_play.endgame_share),
            ("gate.promotion_score", self.gate.promotion_score),
            ("training.momentum", self.training.momentum),
            ("training.weight_decay", self.training.weight_decay),
            ("training.value_target_discount", f64::from(self.training.value_target_discount)),
            ("training.value_target_lambda", f64::from(self.training.value_target_lambda)),
            ("training.value_target_weight", f64::from(self.training.value_target_weight)),
            ("replay.human_share", self.replay.human_share),
            ("alarms.draw_share_max", self.alarms.draw_share_max),
            ("alarms.cut_off_share_max", self.alarms.cut_off_share_max),
            ("alarms.distinct_opening_share_min", self.alarms.distinct_opening_share_min),
        ];
        for (key, share) in shares {
            require((0.0..=1.0).contains(&share), key, || format!("{share} is not in 0..=1"))?;
        }
        let share = self.self_play.endgame_share;
        require(share == 0.0 || self.has_endgames(), "self_play.endgame_share", || {
            format!("{share}, but {} has no endgames to begin from: set 0", self.game.type_name())
        })?;
        let is_fed = self.replay.human_share == 0.0 || !self.replay.human_games.is_empty();
        require(is_fed, "replay.human_games", || "names no games, but replay.human_share is above 0".to_owned())?;
        let (min, max) = (self.training.learning_rate_min, self.training.learning_rate_max);
        require(max > 0.0 && max < 10.0, "training.learning_rate_max", || format!("{max} is not in 0..10"))?;
        require(min > 0.0 && min <= max, "training.learning_rate_min", || format!("{min} is not in 0..={max}"))?;
        let weight = self.training.value_loss_weight;
        require((0.0..=100.0).contains(&weight), "training.value_loss_weight", || format!("{weight} is not in 0..=100"))
    }

    fn has_endgames(&self) -> bool {
        struct HasEndgames;
        impl GameVisitor for HasEndgames {
            type Output = bool;

            fn visit<E: Encoding>(self, encoding: E) -> bool {
                encoding.game().random_endgame(0).is_some()
            }
        }
        self.game.visit(HasEndgames).unwrap_or(false)
    }

    fn check_server(&self) -> Result<(), ConfigError> {
        let server = &self.server;
        require(server.lease >= Duration::from_secs(1), "server.lease", || "is below 1s".to_owned())?;
        require(server.lease <= LEASE_MAX, "server.lease", || "is above 1day".to_owned())?;
        let is_private = server.listen.ip().is_loopback();
        require(is_private || server.token_file.is_some() || server.insecure, "server.listen", || {
            format!("{} is open to other machines: set server.token_file, or server.insecure = true", server.listen)
        })
    }
}

pub(crate) fn require(is_fine: bool, key: &str, problem: impl FnOnce() -> String) -> Result<(), ConfigError> {
    if is_fine { Ok(()) } else { Err(ConfigError { key: key.to_owned(), problem: problem() }) }
}

/// Puts `section` before the key that an inner error names as `key: problem`.
fn split_key(section: &str, message: &str) -> ConfigError {
    let (key, problem) = message.split_once(": ").unwrap_or(("", message));
    // An inner key is written from its own section on: `search.exploration` of `self_play.search`.
    let own_section = section.rsplit('.').next().unwrap_or(section);
    let key = key.strip_prefix(own_section).unwrap_or(key).trim_start_matches('.');
    let key = if key.is_empty() { section.to_owned() } else { format!("{section}.{key}") };
    ConfigError { key, problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_value_is_named_by_its_full_key() {
        let change = |change: fn(&mut LearnerConfig)| {
            let mut config = LearnerConfig::default();
            change(&mut config);
            config.check().expect_err("an impossible value").key
        };
        assert_eq!(change(|config| config.self_play.search.exploration = -1.0), "self_play.search.exploration");
        assert_eq!(change(|config| config.gate.search.leaves_per_game = 0), "gate.search.leaves_per_game");
        assert_eq!(change(|config| config.network.filters = 0), "network.filters");
        assert_eq!(change(|config| config.gate.opening_plies = 1000), "gate.opening_plies");
        assert_eq!(change(|config| config.training.batch_size = 1 << 20), "training.batch_size");
        assert_eq!(change(|config| config.run.dir = PathBuf::new()), "run.dir");
        assert_eq!(change(|config| config.self_play.endgame_share = 0.5), "self_play.endgame_share");
        assert_eq!(change(|config| config.server.lease = Duration::MAX), "server.lease");
    }
}
