//! Settings of a worker process. How a game is searched is not among them: it comes with each lease.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use runtime::auth::Token;
use runtime::exit::one_line;
use runtime::limits::{Address, AddressError};
use runtime::logging::LogSettings;
use runtime::tls::TlsSetting;
use runtime::tls::client::{ClientTlsFiles, Target};
use serde::{Deserialize, Serialize};
use shared::bounds::{GAMES_PER_THREAD, THREADS};
use shared::setting::{SettingError, check_range, check_that};

use crate::game_need::GameBounds;

/// Settings as written in the file of an actor or evaluator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerConfig {
    /// Address of the learner: `https://host:port`, `http://host:port`; or `unix:/path`, where a tunnel or proxy to it listens.
    pub learner: String,
    /// File with the certificate of the authority that vouches for the learner, by TLS; empty: those that this machine trusts.
    pub authority: PathBuf,
    /// File with the certificate to show to a learner that asks for one; empty: none.
    pub certificate: PathBuf,
    /// File with its key.
    pub key: PathBuf,
    /// File that holds the learner's token; empty: none.
    pub token_file: PathBuf,
    /// Search threads, 0..=1024; 0: one for each core.
    pub threads: usize,
    /// Games that each thread plays at once, 0..=4096: their leaves share batches. 0: 32 at first, and twice as many as long
    /// as the thread waits for answers more than half of the time, up to 1,024.
    pub games_per_thread: usize,
    /// Size of the evaluation cache in bytes, all threads together, 0 to 1 TiB; 0: no cache.
    pub cache_bytes: usize,
    /// Folder of endgame tables by which self-play games are searched (draughts), as `alveare tables` makes them; empty:
    /// none. Games of gates are searched without.
    pub tables: PathBuf,
    /// Longest wait for the answer to one call, and for one connection, 100 ms to 1 h.
    #[serde(with = "humantime_serde")]
    pub request_timeout: Duration,
    /// Longest wait for the evaluation of one batch, 100 ms to 1 h.
    #[serde(with = "humantime_serde")]
    pub evaluation_timeout: Duration,
    /// Longest pause between two attempts to reach the learner, 1 ms to 10 min.
    #[serde(with = "humantime_serde")]
    pub reconnect_wait_max: Duration,
    /// Longest time that a stopping worker spends on plies that are not acknowledged yet, 0 s to 1 h.
    #[serde(with = "humantime_serde")]
    pub drain_timeout: Duration,
    /// Pause between two progress lines, 100 ms to 1 h.
    #[serde(with = "humantime_serde")]
    pub progress_interval: Duration,
    /// What is logged, and how.
    pub log: LogSettings,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            learner: "http://127.0.0.1:50051".into(),
            authority: PathBuf::new(),
            certificate: PathBuf::new(),
            key: PathBuf::new(),
            token_file: PathBuf::new(),
            threads: 0,
            games_per_thread: 0,
            cache_bytes: 256 << 20,
            tables: PathBuf::new(),
            request_timeout: Duration::from_secs(30),
            evaluation_timeout: Duration::from_secs(120),
            reconnect_wait_max: Duration::from_secs(10),
            drain_timeout: Duration::from_secs(10),
            progress_interval: Duration::from_secs(10),
            log: LogSettings::default(),
        }
    }
}

/// Checked settings.
#[derive(Debug, Clone)]
pub struct WorkerSettings {
    pub(crate) learner: Target,
    pub(crate) token: Option<Token>,
    pub(crate) threads: usize,
    pub(crate) games: GameBounds,
    pub(crate) cache_bytes_per_thread: usize,
    pub(crate) tables: Option<PathBuf>,
    pub(crate) request_timeout: Duration,
    pub(crate) evaluation_timeout: Duration,
    pub(crate) reconnect_wait_max: Duration,
    pub(crate) drain_timeout: Duration,
    pub(crate) progress_interval: Duration,
}

impl WorkerConfig {
    /// Possible values of `request_timeout`, `evaluation_timeout` and `progress_interval`.
    pub const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);
    /// Possible values of `reconnect_wait_max`.
    pub const RECONNECT_WAITS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(600);
    /// Possible values of `drain_timeout`.
    pub const DRAIN_TIMEOUTS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(3600);
    /// Possible values of `cache_bytes`.
    pub const CACHE_SIZES: RangeInclusive<usize> = 0..=1 << 40;
}

impl WorkerConfig {
    /// Checks the settings. The token is read by the caller, from file or environment.
    ///
    /// # Errors
    /// [`SettingError`] with the first key that cannot be used.
    pub fn check(&self, token: Option<Token>) -> Result<WorkerSettings, SettingError> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        check_range("threads", self.threads, THREADS)?;
        check_range("games_per_thread", self.games_per_thread, GAMES_PER_THREAD)?;
        check_range("cache_bytes", self.cache_bytes, Self::CACHE_SIZES)?;
        check_duration("request_timeout", self.request_timeout, Self::TIMEOUTS)?;
        check_duration("evaluation_timeout", self.evaluation_timeout, Self::TIMEOUTS)?;
        check_duration("reconnect_wait_max", self.reconnect_wait_max, Self::RECONNECT_WAITS)?;
        check_duration("drain_timeout", self.drain_timeout, Self::DRAIN_TIMEOUTS)?;
        check_duration("progress_interval", self.progress_interval, Self::TIMEOUTS)?;
        let learner = self.target()?;
        let threads = if self.threads == 0 { cores } else { self.threads };
        Ok(WorkerSettings {
            learner,
            token,
            threads,
            games: GameBounds::of(self.games_per_thread),
            cache_bytes_per_thread: self.cache_bytes / threads,
            tables: (!self.tables.as_os_str().is_empty()).then(|| self.tables.clone()),
            request_timeout: self.request_timeout,
            evaluation_timeout: self.evaluation_timeout,
            reconnect_wait_max: self.reconnect_wait_max,
            drain_timeout: self.drain_timeout,
            progress_interval: self.progress_interval,
        })
    }
}

impl WorkerConfig {
    /// Reads the files that the learner's address needs.
    fn target(&self) -> Result<Target, SettingError> {
        let address: Result<Address, AddressError> = self.learner.parse();
        let address = address.map_err(|error| SettingError::new("learner", error))?;
        let file = |path: &PathBuf| (!path.as_os_str().is_empty()).then(|| path.clone());
        let files = ClientTlsFiles {
            authority: file(&self.authority),
            certificate: file(&self.certificate),
            key: file(&self.key),
        };
        Target::new(address, &files).map_err(|error| {
            let key = match error.setting() {
                TlsSetting::Address => "learner",
                TlsSetting::Authority => "authority",
                TlsSetting::Certificate => "certificate",
                TlsSetting::Key => "key",
            };
            SettingError::new(key, one_line(&error))
        })
    }
}

fn check_duration(key: &str, value: Duration, range: RangeInclusive<Duration>) -> Result<(), SettingError> {
    check_that(key, range.contains(&value), || format!("{value:?} is not in {range:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_setting_is_named() {
        let message = |config: WorkerConfig| config.check(None).unwrap_err().to_string();
        assert_eq!(
            message(WorkerConfig { games_per_thread: 5000, ..WorkerConfig::default() }),
            "games_per_thread: 5000 is not in 0..=4096"
        );
        assert_eq!(
            message(WorkerConfig { drain_timeout: Duration::MAX, ..WorkerConfig::default() }),
            "drain_timeout: 18446744073709551615.999999999s is not in 0ns..=3600s"
        );
        let found = message(WorkerConfig { learner: "learner".into(), ..WorkerConfig::default() });
        assert!(found.starts_with("learner: \"learner\" is not an address"), "{found}");
    }

    #[test]
    fn no_thread_count_means_all_cores() {
        let settings = WorkerConfig::default().check(None).unwrap();
        assert_eq!(settings.threads, std::thread::available_parallelism().unwrap().get());
    }
}
