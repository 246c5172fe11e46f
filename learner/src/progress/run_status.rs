//! Where pipeline and services put what they know of the run, for all that shows it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::alarm_board::AlarmBoard;
use super::snapshot::ProgressSnapshot;
use super::worker_list::{JoinedWorker, SeenWorker, WorkerList};
use crate::backup::Uploaded;

/// What is known of the run.
#[derive(Debug, Default)]
pub struct RunStatus {
    alarms: AlarmBoard,
    progress: Mutex<Option<Arc<ProgressSnapshot>>>,
    workers: Mutex<WorkerList>,
    counters: Mutex<BTreeMap<String, u64>>,
    last_backup: Mutex<Option<Uploaded>>,
}

impl RunStatus {
    /// Returns the alarms.
    #[must_use]
    pub const fn alarms(&self) -> &AlarmBoard {
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
        *lock(&self.counters).entry(name.to_owned()).or_default() += 1;
    }

    /// Returns the named counters.
    pub(super) fn counters(&self) -> BTreeMap<String, u64> {
        lock(&self.counters).clone()
    }

    /// Notes that a backup was made.
    pub fn note_backup(&self, uploaded: &Uploaded) {
        *lock(&self.last_backup) = Some(uploaded.clone());
        self.count("backup_count");
    }

    /// Returns the last backup that this process made.
    #[must_use]
    pub fn last_backup(&self) -> Option<Uploaded> {
        lock(&self.last_backup).clone()
    }

    /// Returns how old the last backup that this process made is; `None` before there is one.
    pub(super) fn backup_age(&self) -> Option<Duration> {
        let last = self.last_backup()?;
        Some(SystemTime::now().duration_since(last.time.get()).unwrap_or_default())
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
