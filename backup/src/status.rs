//! What the backups of a run came to, for all that shows how the run is doing.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::upload::Uploaded;

/// The backups that this process made. Shared between the thread that makes them and those that show them.
#[derive(Debug, Default)]
pub struct BackupStatus(Mutex<Made>);

#[derive(Debug, Default)]
struct Made {
    counts: BackupCounts,
    last: Option<Uploaded>,
}

/// How many backups this process made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupCounts {
    /// Backups made.
    pub made: u64,
    /// Tries that failed.
    pub failed: u64,
}

impl BackupStatus {
    /// Notes that a backup was made.
    pub(super) fn note_backup(&self, uploaded: &Uploaded) {
        let mut made = self.lock();
        made.counts.made += 1;
        made.last = Some(uploaded.clone());
    }

    /// Notes that a try failed.
    pub(super) fn note_failure(&self) {
        self.lock().counts.failed += 1;
    }

    /// Returns how many backups this process made.
    #[must_use]
    pub fn counts(&self) -> BackupCounts {
        self.lock().counts
    }

    /// Returns the last backup that this process made.
    #[must_use]
    pub fn last(&self) -> Option<Uploaded> {
        self.lock().last.clone()
    }

    /// Returns how old the last backup that this process made is; `None` before there is one.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        let last = self.last()?;
        Some(SystemTime::now().duration_since(last.time.get()).unwrap_or_default())
    }

    /// Plain values: a panic elsewhere leaves nothing half done in them.
    fn lock(&self) -> MutexGuard<'_, Made> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
