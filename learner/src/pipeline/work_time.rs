//! How long learners were at work on a run, restarts included: what a machine that is rented by the hour costs.

use std::time::{Duration, Instant};

use store::{Change, MetricRow, Reader, StoreError};

/// Name of the metric that keeps it, in seconds.
const WORK_SECONDS: &str = "work_seconds";

/// Counts the time from the start of this learner on.
#[derive(Debug, Clone, Copy)]
pub struct WorkTime {
    before: Duration,
    started_at: Instant,
}

impl WorkTime {
    /// Goes on from what the store says.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn take_up(reader: &Reader, started_at: Instant) -> Result<Self, StoreError> {
        let seconds = reader.newest_metric(WORK_SECONDS)?.unwrap_or(0.0);
        Ok(Self { before: Duration::try_from_secs_f64(seconds).unwrap_or_default(), started_at })
    }

    /// Returns the time until now.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.before + self.started_at.elapsed()
    }
}

/// Returns the change that keeps the time, in place of what was kept before.
pub(super) fn work_time_change(total: Duration, step: u64) -> Change {
    Change::ReplaceMetric(MetricRow { name: WORK_SECONDS.to_owned(), value: total.as_secs_f64(), step })
}
