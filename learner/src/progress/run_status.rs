//! Where pipeline and services put what they know of the run, for all that shows it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use backup::{BackupCounts, BackupStatus};

use super::alarm_board::AlarmBoard;
use super::snapshot::ProgressSnapshot;
use super::worker_list::{JoinedWorker, SeenWorker, WorkerList};

/// What is known of the run.
#[derive(Debug, Default)]
pub struct RunStatus {
    alarms: Arc<AlarmBoard>,
    progress: Mutex<Option<Arc<ProgressSnapshot>>>,
    workers: Mutex<WorkerList>,
    counters: Mutex<BTreeMap<String, u64>>,
    backups: Arc<BackupStatus>,
}

impl RunStatus {
    /// Returns the alarms.
    #[must_use]
    pub const fn alarms(&self) -> &Arc<AlarmBoard> {
        &self.alarms
    }

    /// Puts in how far the run is.
    pub(crate) fn put_progress(&self, snapshot: ProgressSnapshot) {
        *lock(&self.progress) = Some(Arc::new(snapshot));
    }

    /// Returns how far the run is; `None` before the pipeline has said so.
    pub(crate) fn progress(&self) -> Option<Arc<ProgressSnapshot>> {
        lock(&self.progress).clone()
    }

    /// Adds one to a named counter.
    pub fn count(&self, name: &str) {
        self.count_more(name, 1);
    }

    /// Adds a number to a named counter.
    pub(crate) fn count_more(&self, name: &str, count: u64) {
        if count > 0 {
            *lock(&self.counters).entry(name.to_owned()).or_default() += count;
        }
    }

    /// Returns one of the named counters.
    #[cfg(test)]
    pub(crate) fn counter(&self, name: &str) -> u64 {
        lock(&self.counters).get(name).copied().unwrap_or_default()
    }

    /// Returns the named counters, those of the backups among them.
    pub(super) fn counters(&self) -> BTreeMap<String, u64> {
        let mut counters = lock(&self.counters).clone();
        let BackupCounts { made, failed } = self.backups.counts();
        let of_backups = [("backup_count", made), ("backup_failure_count", failed)];
        counters.extend(
            of_backups.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name.to_owned(), count)),
        );
        counters
    }

    /// Returns what the backups that this process makes come to.
    #[must_use]
    pub fn backups(&self) -> Arc<BackupStatus> {
        Arc::clone(&self.backups)
    }

    /// Notes that a worker joined.
    pub fn see_worker(&self, worker_id: &str, joined: JoinedWorker, now: Instant) {
        lock(&self.workers).join(worker_id, joined, now);
    }

    /// Notes that a worker is still there.
    pub fn see_again(&self, worker_id: &str, now: Instant) {
        lock(&self.workers).see_again(worker_id, now);
    }

    /// Returns how many workers of a kind gave a sign of life lately.
    #[must_use]
    pub fn worker_count(&self, kind: proto::WorkerKind, now: Instant) -> u32 {
        lock(&self.workers).count(kind, now)
    }

    /// Returns the workers that gave a sign of life lately.
    pub(super) fn workers(&self, now: Instant) -> Vec<(String, SeenWorker)> {
        lock(&self.workers).here(now).map(|(worker_id, seen)| (worker_id.to_owned(), seen.clone())).collect()
    }
}

/// What is shown is plain values: a panic elsewhere leaves nothing half done in them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
