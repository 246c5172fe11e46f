//! Settings of a worker process. How a game is searched is not among them: it comes with each lease.

use std::path::PathBuf;
use std::time::Duration;

use runtime::auth::Token;
use runtime::limits::{Address, AddressError};
use runtime::logging::LogSettings;
use serde::{Deserialize, Serialize};

/// Settings as written in the file of an actor or evaluator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerConfig {
    /// Address of the learner: `http://host:port` or `unix:/path`.
    pub learner: String,
    /// File that holds the learner's token; empty: none.
    pub token_file: PathBuf,
    /// Search threads; 0: one for each core.
    pub threads: usize,
    /// Games that each thread plays at once: its leaves share batches.
    pub games_per_thread: usize,
    /// Size of the evaluation cache in bytes, all threads together; 0: no cache.
    pub cache_bytes: usize,
    /// Longest wait for the answer to one call, and for one connection.
    #[serde(with = "humantime_serde")]
    pub request_timeout: Duration,
    /// Longest wait for the evaluation of one batch.
    #[serde(with = "humantime_serde")]
    pub evaluation_timeout: Duration,
    /// Longest pause between two attempts to reach the learner.
    #[serde(with = "humantime_serde")]
    pub reconnect_wait_max: Duration,
    /// Longest time that a stopping worker spends on plies that are not acknowledged yet.
    #[serde(with = "humantime_serde")]
    pub drain_timeout: Duration,
    /// Pause between two progress lines.
    #[serde(with = "humantime_serde")]
    pub progress_interval: Duration,
    /// What is logged, and how.
    pub log: LogSettings,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            learner: "http://127.0.0.1:50051".into(),
            token_file: PathBuf::new(),
            threads: 0,
            games_per_thread: 32,
            cache_bytes: 256 << 20,
            request_timeout: Duration::from_secs(30),
            evaluation_timeout: Duration::from_secs(120),
            reconnect_wait_max: Duration::from_secs(10),
            drain_timeout: Duration::from_secs(10),
            progress_interval: Duration::from_secs(10),
            log: LogSettings::default(),
        }
    }
}

/// Why the settings cannot be used; written `key: reason`.
#[derive(Debug, thiserror::Error)]
pub enum WorkerSettingsError {
    /// The learner's address is not valid.
    #[error("learner: {0}")]
    Learner(#[from] AddressError),
    /// A number is too small or too large.
    #[error("{key}: {value} is not in {least}..={most}")]
    Range {
        /// The key.
        key: &'static str,
        /// What it was set to.
        value: u128,
        /// Least possible value.
        least: u128,
        /// Greatest possible value.
        most: u128,
    },
}

/// Checked settings.
#[derive(Debug, Clone)]
pub struct WorkerSettings {
    pub(crate) learner: Address,
    pub(crate) token: Option<Token>,
    pub(crate) threads: usize,
    pub(crate) games_per_thread: usize,
    pub(crate) cache_bytes_per_thread: usize,
    pub(crate) request_timeout: Duration,
    pub(crate) evaluation_timeout: Duration,
    pub(crate) reconnect_wait_max: Duration,
    pub(crate) drain_timeout: Duration,
    pub(crate) progress_interval: Duration,
}

impl WorkerConfig {
    /// Checks the settings. The token is read by the caller, from file or environment.
    ///
    /// # Errors
    /// [`WorkerSettingsError`] naming the first key that cannot be used.
    pub fn check(&self, token: Option<Token>) -> Result<WorkerSettings, WorkerSettingsError> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        check_range("threads", self.threads as u128, 0, 1024)?;
        check_range("games_per_thread", self.games_per_thread as u128, 1, 4096)?;
        check_range("request_timeout", self.request_timeout.as_millis(), 100, 3_600_000)?;
        check_range("evaluation_timeout", self.evaluation_timeout.as_millis(), 100, 3_600_000)?;
        check_range("reconnect_wait_max", self.reconnect_wait_max.as_millis(), 1, 600_000)?;
        check_range("progress_interval", self.progress_interval.as_millis(), 100, 3_600_000)?;
        let threads = if self.threads == 0 { cores } else { self.threads };
        Ok(WorkerSettings {
            learner: self.learner.parse()?,
            token,
            threads,
            games_per_thread: self.games_per_thread,
            cache_bytes_per_thread: self.cache_bytes / threads,
            request_timeout: self.request_timeout,
            evaluation_timeout: self.evaluation_timeout,
            reconnect_wait_max: self.reconnect_wait_max,
            drain_timeout: self.drain_timeout,
            progress_interval: self.progress_interval,
        })
    }
}

/// Checks a number; durations are given in milliseconds.
fn check_range(key: &'static str, value: u128, least: u128, most: u128) -> Result<(), WorkerSettingsError> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(WorkerSettingsError::Range { key, value, least, most }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_setting_is_named() {
        let message = |config: WorkerConfig| config.check(None).unwrap_err().to_string();
        assert_eq!(
            message(WorkerConfig { games_per_thread: 0, ..WorkerConfig::default() }),
            "games_per_thread: 0 is not in 1..=4096"
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
