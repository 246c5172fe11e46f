//! Section `[backup]`: where copies of the run are kept, how often they are made, and which of them stay.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::setting::{SettingError, check_range, check_that};

use super::url::{BackupUrl, BackupUrlError};

/// Shortest time between two backups: each reads the whole database.
const INTERVAL_MIN: Duration = Duration::from_secs(1);
/// Longest time between two backups.
const INTERVAL_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Longest time that a stop waits for its backup.
const STOP_DEADLINE_MAX: Duration = Duration::from_secs(60 * 60);
/// Most days whose last backup is kept.
const KEEP_DAYS_MAX: u32 = 36_500;

/// Where copies of the run are kept, how often they are made, and which of them stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupConfig {
    /// A folder, `file:///FOLDER` or `s3://BUCKET/PREFIX`; empty: no backups. One place a run.
    pub url: String,
    /// Whether a run directory without a run is filled from the newest backup in `url`.
    pub restore: bool,
    /// Time between two backups, 1 s to 1 week; one more is made after each promotion.
    #[serde(with = "humantime_serde")]
    pub interval: Duration,
    /// Days whose last backup is kept, 0..=36,500; of the last day one an hour is kept, of the last hour all.
    pub keep_days: u32,
    /// Time from the signal until a stop gives the last backup up, 2 s to 1 hour.
    #[serde(with = "humantime_serde")]
    pub stop_deadline: Duration,
}

impl BackupConfig {
    /// Checks the ranges, and that the place of the backups can be one.
    ///
    /// # Errors
    /// [`SettingError`] that names the key.
    pub fn check(&self) -> Result<(), SettingError> {
        self.parsed_url().map_err(|error| SettingError::new("url", error))?;
        let intervals = INTERVAL_MIN..=INTERVAL_MAX;
        check_that("interval", intervals.contains(&self.interval), || "is not in 1s to 1week")?;
        check_range("keep_days", self.keep_days, ..=KEEP_DAYS_MAX)?;
        let deadlines = Duration::from_secs(2)..=STOP_DEADLINE_MAX;
        check_that("stop_deadline", deadlines.contains(&self.stop_deadline), || "is not in 2s to 1h")
    }

    fn parsed_url(&self) -> Result<Option<BackupUrl>, BackupUrlError> {
        if self.url.is_empty() { Ok(None) } else { self.url.parse().map(Some) }
    }

    /// Returns where backups are kept; `None` if none are made.
    #[must_use]
    pub fn place(&self) -> Option<BackupUrl> {
        self.parsed_url().ok().flatten()
    }
}
