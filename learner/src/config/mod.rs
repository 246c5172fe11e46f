//! The learner's settings: one struct as written, every key checked by name before a port opens.
//!
//! Workers have no settings of their own about games, search or networks: the learner sends them.
//! Each key's meaning, unit and source stand in `config/hive-original.toml`.

mod learning;
mod page;
mod parts;
mod play;
mod serving;
mod store;
mod supervised_settings;
mod webhook;

use std::ops::{Deref, RangeInclusive};

use net::NetworkSettings;
use runtime::layers::{self, ConfigError, Loaded, Sources};
use runtime::logging::LogSettings;
use serde::{Deserialize, Serialize};
use shared::catalog::GameSpec;
use shared::setting::{SettingError, check_that};

pub use backup::BackupConfig;
pub use learning::{AfterRejection, CutOffTargetKind, LearningRates, ReplayConfig, TrainingConfig, ValueTargetKind};
pub use page::PageConfig;
pub use parts::{JoinTerms, PipelineSettings, TrainerSettings};
pub use play::{AlarmConfig, GateConfig, SelfPlayConfig, SimulationGrowth, YardstickConfig};
pub use serving::{InferenceConfig, MetricsConfig, PipelineMode, RunConfig, ServerConfig};
pub use store::StoreConfig;
pub use supervised_settings::{LearningRateSchedule, SupervisedSettings};
pub use webhook::{WebhookUrl, WebhookUrlError};

/// The built-in default: the first description, to the letter.
pub(crate) const DEFAULT_PRESET: &str = include_str!("../../../config/hive-original.toml");
/// Possible numbers of positions a step: more would not fit a GPU.
pub const BATCH_SIZES: RangeInclusive<u32> = 1..=65_536;
/// Possible numbers of steps, of an iteration and between two checkpoints.
pub const STEP_COUNTS: RangeInclusive<u32> = 1..=100_000_000;
/// Learning rates are below this.
pub(crate) const LEARNING_RATE_END: f64 = 10.0;

/// All settings of the learner, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerConfig {
    /// What is played.
    pub game: GameSpec,
    /// Where the run lives and how it starts.
    pub run: RunConfig,
    /// Who may connect, and how.
    pub server: ServerConfig,
    /// Who may see how it is doing.
    pub metrics: MetricsConfig,
    /// The web page.
    pub page: PageConfig,
    /// How games are made.
    pub self_play: SelfPlayConfig,
    /// How candidates are tested.
    pub gate: GateConfig,
    /// How the best network is measured against earlier ones.
    pub yardstick: YardstickConfig,
    /// Shape of the network.
    pub network: NetworkSettings,
    /// How leaves are answered.
    pub inference: InferenceConfig,
    /// How the network learns.
    pub training: TrainingConfig,
    /// How it learns from human games before self-play.
    pub pretrain: SupervisedSettings,
    /// How it learns from data sets, without self-play.
    pub offline: SupervisedSettings,
    /// What it learns from.
    pub replay: ReplayConfig,
    /// When to warn.
    pub alarms: AlarmConfig,
    /// What of an old run stays on the disk.
    pub store: StoreConfig,
    /// Where copies of the run are kept.
    pub backup: BackupConfig,
    /// What is logged, and how.
    #[serde(default)]
    pub log: LogSettings,
}

/// Networks that play at once where there is a yardstick: best and candidate, the two of the yardstick, and the best one
/// before, which workers still ask.
const NETWORKS_WITH_YARDSTICK: usize = 5;

impl Default for LearnerConfig {
    fn default() -> Self {
        toml::from_str(DEFAULT_PRESET).expect("the built-in preset is tested")
    }
}

impl LearnerConfig {
    fn check(&self) -> Result<(), SettingError> {
        let under = |section: &'static str| move |error: SettingError| error.under(section);
        self.game.check().map_err(under("game"))?;
        self.run.check().map_err(under("run"))?;
        self.server.check().map_err(under("server"))?;
        self.metrics.check(&self.server).map_err(under("metrics"))?;
        self.page.check(&self.server).map_err(under("page"))?;
        self.self_play.check(&self.game).map_err(under("self_play"))?;
        self.gate.check().map_err(under("gate"))?;
        self.yardstick.check(&self.gate.search).map_err(under("yardstick"))?;
        self.network.check().map_err(under("network"))?;
        self.inference.check().map_err(under("inference"))?;
        let networks_max = self.inference.networks_max;
        let has_room = self.yardstick.games == 0 || networks_max >= NETWORKS_WITH_YARDSTICK;
        check_that("inference.networks_max", has_room, || {
            format!(
                "{networks_max} are fewer than the {NETWORKS_WITH_YARDSTICK} that play with yardstick.games: each would be loaded again and again"
            )
        })?;
        self.training.check().map_err(under("training"))?;
        self.pretrain.check().map_err(under("pretrain"))?;
        self.offline.check().map_err(under("offline"))?;
        self.replay.check().map_err(under("replay"))?;
        let is_hive = matches!(self.game, GameSpec::Hive { .. });
        let human_start_share = self.self_play.human_start_share;
        check_that(
            "game.name",
            is_hive || self.replay.human_share == 0.0 && human_start_share == 0.0,
            || "human games (replay.human_share, self_play.human_start_share) are read for Hive only",
        )?;
        let has_games = human_start_share == 0.0 || !self.replay.human_games.is_empty();
        check_that("replay.human_games", has_games, || "names no games, but self_play.human_start_share is above 0")?;
        self.alarms.check(&self.server).map_err(under("alarms"))?;
        self.store.check().map_err(under("store"))?;
        self.backup.check().map_err(under("backup"))
    }
}

/// Settings that can be used: every value is in its range, and no two contradict each other.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnerSettings(LearnerConfig);

impl LearnerSettings {
    /// Reads and checks the settings.
    ///
    /// # Errors
    /// [`ConfigError`] with the place and the first key that is wrong.
    pub fn load(sources: &Sources) -> Result<(Self, Loaded<LearnerConfig>), ConfigError> {
        let loaded = layers::load::<LearnerConfig>(sources)?;
        let checked = Self::try_from(loaded.raw.clone());
        Ok((checked.map_err(|error| loaded.error(&error.key, error.problem))?, loaded))
    }
}

impl LearnerSettings {
    /// Returns the settings with another length of the learning rate's fall, in iterations.
    ///
    /// # Errors
    /// [`SettingError`] if it is out of range.
    pub fn with_training_iterations(self, iterations: u32) -> Result<Self, SettingError> {
        let Self(mut written) = self;
        written.training.iterations = iterations;
        Self::try_from(written)
    }
}

impl TryFrom<LearnerConfig> for LearnerSettings {
    type Error = SettingError;

    fn try_from(written: LearnerConfig) -> Result<Self, SettingError> {
        written.check().map(|()| Self(written))
    }
}

impl Deref for LearnerSettings {
    type Target = LearnerConfig;

    fn deref(&self) -> &LearnerConfig {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    type Change = fn(&mut LearnerConfig);

    #[test]
    fn an_impossible_value_is_named_by_its_full_key() {
        let changes: &[(&str, Change)] = &[
            ("game.frame", |config| config.game = GameSpec::Hive { rules: Default::default(), frame: 99 }),
            ("self_play.search.exploration", |config| config.self_play.search.exploration = -1.0),
            ("gate.search.leaves_per_game", |config| config.gate.search.leaves_per_game = 0),
            ("gate.game_count", |config| config.gate.game_count = 3),
            ("gate.search.full_search_share", |config| config.gate.search.full_search_share = 0.5),
            ("self_play.search.considered_move_count", |config| config.self_play.search.considered_move_count = 0),
            ("yardstick.games", |config| config.yardstick.games = 3),
            ("inference.networks_max", |config| (config.yardstick.games, config.inference.networks_max) = (2, 4)),
            ("yardstick.simulation_count", |config| config.yardstick.simulation_count = 1),
            ("gate.elo1", |config| config.gate.elo1 = config.gate.elo0),
            ("gate.beta", |config| config.gate.beta = 0.5),
            ("network.filters", |config| config.network.filters = 0),
            ("gate.checked_plies", |config| config.gate.checked_plies = 10_001),
            ("gate.opening_plies", |config| config.gate.opening_plies = 1000),
            ("training.batch_size", |config| config.training.batch_size = 1 << 20),
            ("training.uses_per_position", |config| config.training.uses_per_position = -1.0),
            ("training.cut_off_horizon", |config| config.training.cut_off_horizon = 1001),
            ("training.weight_average_decay", |config| config.training.weight_average_decay = 1.0),
            ("replay.window_start", |config| config.replay.window_start = u32::MAX),
            ("replay.window_exponent", |config| config.replay.window_exponent = 0.0),
            ("replay.held_out_share", |config| config.replay.held_out_share = 0.6),
            ("alarms.value_error_rise_max", |config| config.alarms.value_error_rise_max = -0.1),
            ("training.momentum", |config| config.training.momentum = 1.0),
            ("training.gradient_clip_norm", |config| config.training.gradient_clip_norm = -1.0),
            ("training.policy_rate_scale", |config| config.training.policy_rate_scale = -1.0),
            ("training.value_rate_scale", |config| config.training.value_rate_scale = f64::INFINITY),
            ("training.weight_decay", |config| config.training.weight_decay = 1.0),
            ("pretrain.momentum", |config| config.pretrain.momentum = 1.0),
            ("pretrain.gradient_clip_norm", |config| config.pretrain.gradient_clip_norm = f64::NAN),
            ("offline.gradient_clip_norm", |config| config.offline.gradient_clip_norm = -1.0),
            ("training.learning_rate_max_from_network", |config| config.training.learning_rate_max_from_network = 0.0),
            ("run.dir", |config| config.run.dir = PathBuf::new()),
            ("self_play.endgame_share", |config| config.self_play.endgame_share = 0.5),
            ("self_play.human_start_share", |config| config.self_play.human_start_share = 1.5),
            ("replay.human_games", |config| config.self_play.human_start_share = 0.5),
            ("self_play.earlier_start_share", |config| {
                (config.self_play.human_start_share, config.self_play.earlier_start_share) = (0.6, 0.6);
            }),
            ("self_play.resign_value", |config| config.self_play.resign_value = 1.5),
            ("self_play.resign_plies", |config| config.self_play.resign_plies = 0),
            ("alarms.false_resignation_share_max", |config| config.alarms.false_resignation_share_max = 1.1),
            ("server.lease", |config| config.server.lease = Duration::MAX),
            ("metrics.listen", |config| config.metrics.listen = Some(([0, 0, 0, 0], 9464).into())),
            ("run.hourly_price", |config| config.run.hourly_price = -0.1),
            ("alarms.webhook_token_file", |config| config.alarms.webhook_token_file = Some("token".into())),
            ("alarms.webhook", |config| {
                config.alarms.webhook = WebhookUrl::parse("http://user@host/").expect("an address");
            }),
            ("run.summary_interval", |config| config.run.summary_interval = Duration::MAX),
            ("alarms.no_games_max", |config| config.alarms.no_games_max = Duration::MAX),
            ("alarms.disk_full_in_min", |config| config.alarms.disk_full_in_min = Duration::MAX),
            ("backup.url", |config| config.backup.url = "gs://bucket".to_owned()),
            ("backup.interval", |config| config.backup.interval = Duration::ZERO),
            ("backup.keep_days", |config| config.backup.keep_days = u32::MAX),
            ("backup.stop_deadline", |config| config.backup.stop_deadline = Duration::from_secs(1)),
            ("page.listen", |config| config.page.listen = Some("0.0.0.0:80".parse().expect("an address"))),
            ("page.connections_max", |config| config.page.connections_max = 0),
        ];
        assert_names(changes);
    }

    #[test]
    fn an_impossible_count_is_named_by_its_full_key() {
        assert_names(&[
            ("self_play.games_per_iteration", |config| config.self_play.games_per_iteration = u32::MAX),
            ("yardstick.earlier_generations", |config| config.yardstick.earlier_generations = u32::MAX),
            ("yardstick.pooled_generations", |config| config.yardstick.pooled_generations = u32::MAX),
            ("server.worker_batch_leaves_max", |config| config.server.worker_batch_leaves_max = 16_385),
            ("training.steps_per_iteration", |config| config.training.steps_per_iteration = u32::MAX),
            ("training.iterations", |config| config.training.iterations = u32::MAX),
            ("training.checkpoint_steps", |config| config.training.checkpoint_steps = u32::MAX),
            ("replay.position_count_max", |config| config.replay.position_count_max = u32::MAX),
            ("store.keep_games", |config| config.store.keep_games = u32::MAX),
            ("store.keep_rejected_networks", |config| config.store.keep_rejected_networks = u32::MAX),
            ("pretrain.epochs", |config| config.pretrain.epochs = u32::MAX),
            ("pretrain.plateau_patience", |config| config.pretrain.plateau_patience = u32::MAX),
            ("offline.checkpoint_steps", |config| config.offline.checkpoint_steps = u32::MAX),
        ]);
    }

    #[test]
    fn a_first_search_that_no_worker_can_make_is_refused_at_the_start() {
        let mut config = LearnerConfig::default();
        config.self_play.simulation_count_first = 1;
        let error = LearnerSettings::try_from(config).expect_err("too few").to_string();
        assert_eq!(error, "self_play.simulation_count_first: 1 is not in 2..=100000000");
    }

    #[test]
    fn a_number_that_may_be_0_is_said_to_be() {
        let error = |change: Change| {
            let mut config = LearnerConfig::default();
            change(&mut config);
            LearnerSettings::try_from(config).expect_err("out of range").to_string()
        };
        let clipped = error(|config| config.training.gradient_clip_norm = -1.0);
        assert_eq!(clipped, "training.gradient_clip_norm: -1 is not in 0..=1000000");
        let decay = error(|config| config.training.weight_average_decay = -0.5);
        assert_eq!(decay, "training.weight_average_decay: -0.5 is not in 0..1");
    }

    /// Checks that each change of the defaults is refused by naming its key.
    fn assert_names(changes: &[(&str, Change)]) {
        for &(key, change) in changes {
            let mut config = LearnerConfig::default();
            change(&mut config);
            assert_eq!(LearnerSettings::try_from(config).expect_err(key).key, key);
        }
    }

    #[test]
    fn impossible_values_of_the_edge_are_named_by_their_full_key() {
        assert_names(&[
            ("server.listen", |config| config.server.listen = ([0, 0, 0, 0], 1).into()),
            ("server.listen", |config| {
                config.server.listen = ([0, 0, 0, 0], 1).into();
                config.server.token_file = Some("token".into());
            }),
            ("page.listen", |config| {
                config.page.listen = Some(([0, 0, 0, 0], 80).into());
                config.server.token_file = Some("token".into());
            }),
            ("server.key", |config| config.server.certificate = Some("server.pem".into())),
            ("server.certificate", |config| config.server.key = Some("server.key".into())),
            ("server.client_authority", |config| config.server.client_authority = Some("authority.pem".into())),
            ("server.connections_per_address_max", |config| config.server.connections_per_address_max = 0),
        ]);
    }

    #[test]
    fn tokens_leave_this_machine_encrypted_or_because_that_is_wanted() {
        let check = |change: fn(&mut LearnerConfig)| {
            let mut config = LearnerConfig::default();
            let everywhere = ([0, 0, 0, 0], 1).into();
            config.server.token_file = Some("token".into());
            (config.server.listen, config.page.listen, config.metrics.listen) =
                (everywhere, Some(everywhere), Some(everywhere));
            change(&mut config);
            LearnerSettings::try_from(config).map(|_| ()).map_err(|error| error.to_string())
        };
        let refused = check(|_| ()).expect_err("in the clear");
        let advice =
            "set server.certificate and server.key (`learner certificate` makes both), or server.insecure = true";
        assert!(refused.starts_with("server.listen: 0.0.0.0:1 ") && refused.ends_with(advice), "{refused}");
        assert_eq!(check(|config| config.server.insecure = true), Ok(()));
        let encrypted = |config: &mut LearnerConfig| {
            (config.server.certificate, config.server.key) = (Some("server.pem".into()), Some("server.key".into()));
        };
        assert_eq!(check(encrypted), Ok(()));
    }

    #[test]
    fn steps_follow_from_new_positions_if_that_is_asked_for() {
        let mut training = LearnerConfig::default().training;
        (training.steps_per_iteration, training.batch_size) = (200, 128);
        assert_eq!([0, 5000].map(|positions| training.step_count(positions)), [200, 200]);
        training.uses_per_position = 4.0;
        // 5000 x 4 / 128 = 156.25
        assert_eq!([0, 1, 5000].map(|positions| training.step_count(positions)), [1, 1, 156]);
        assert_eq!(training.step_count(1_000_000), 200, "never more than steps_per_iteration");
        training.uses_per_position = 0.5;
        assert_eq!(training.step_count(5000), 20);
    }

    #[test]
    fn each_head_learns_at_its_own_rate_in_self_play_too() {
        let mut training = LearnerConfig::default().training;
        (training.policy_rate_scale, training.value_rate_scale) = (0.5, 10.0);
        let optimizer = training.optimizer(net::Device::CPU);
        assert_eq!((optimizer.policy_rate_scale, optimizer.value_rate_scale), (0.5, 10.0));
    }

    #[test]
    fn the_window_grows_along_a_power_law_if_that_is_asked_for() {
        let mut replay = LearnerConfig::default().replay;
        replay.position_count_max = 5_000_000;
        assert_eq!(replay.window_position_count(77), 5_000_000, "all that is kept");
        (replay.window_start, replay.window_exponent, replay.window_slope) = (250_000, 0.75, 0.4);
        let close = |replay: &ReplayConfig, positions, window: u64| {
            let found = replay.window_position_count(positions);
            assert!(found.abs_diff(window) <= 1, "{positions}: {found}, expected {window}");
        };
        assert!(replay.window_position_count(250_000) >= 250_000, "all there is");
        close(&replay, 250_001, 250_000);
        // 250,000 (1 + 0.4 (4 ^ 0.75 - 1) / 0.75) = 250,000 x 1.975_1.
        close(&replay, 1_000_000, 493_790);
        replay.window_exponent = 1.0;
        close(&replay, 1_000_000, 550_000);
        close(&replay, 1_000_000_000, 5_000_000);
    }

    #[test]
    fn workers_send_batches_that_the_device_can_share() {
        let join_leaves = |evaluated: u32| {
            let mut config = LearnerConfig::default();
            config.inference.batch_leaves_max = evaluated;
            LearnerSettings::try_from(config).expect("possible").join_terms().batch_leaves_max
        };
        assert_eq!((join_leaves(1024), join_leaves(32)), (128, 32));
    }

    #[test]
    fn a_run_from_a_network_learns_slower_at_first() {
        let mut training = LearnerConfig::default().training;
        (training.learning_rate_max, training.learning_rate_max_from_network) = (0.02, 0.002);
        training.learning_rate_min = 0.0001;
        assert_eq!(training.learning_rates(false), LearningRates { first: 0.02, last: 0.0001 });
        assert_eq!(training.learning_rates(true), LearningRates { first: 0.002, last: 0.0001 });
        training.learning_rate_max = 0.001;
        assert_eq!(training.learning_rates(true).first, 0.001, "the smaller one");
        training.learning_rate_min = 0.001;
        training.learning_rate_max_from_network = 0.0005;
        assert_eq!(training.learning_rates(true), LearningRates { first: 0.0005, last: 0.0005 }, "it never rises");
    }
}
