//! What the run is doing: kept up to date by pipeline and services, shown by `learner status` and monitors.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use runtime::auth::ServerAuth;
use tonic::{Request, Response, Status};

use crate::backup::Uploaded;
use crate::store::StoreProblem;

/// A worker that was silent for so long is no longer counted.
const WORKER_SILENCE_MAX: Duration = Duration::from_secs(120);
/// Workers remembered at most: a peer that joins under ever new names must not fill the memory.
const WORKER_COUNT_MAX: usize = 10_000;

/// What is known of a worker.
#[derive(Debug, Clone, Copy)]
struct WorkerSeen {
    kind: proto::WorkerKind,
    at: Instant,
}

/// The state of the run, as shown.
#[derive(Debug, Default)]
pub struct RunStatus {
    shown: Mutex<proto::GetStatusReply>,
    workers: Mutex<HashMap<String, WorkerSeen>>,
    counters: Mutex<BTreeMap<String, u64>>,
    last_backup: Mutex<Option<Uploaded>>,
}

impl RunStatus {
    /// Changes what is shown.
    pub fn update(&self, change: impl FnOnce(&mut proto::GetStatusReply)) {
        change(&mut lock(&self.shown));
    }

    /// Adds one to a named counter.
    pub fn count(&self, name: &str) {
        *lock(&self.counters).entry(name.to_owned()).or_default() += 1;
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

    /// Notes that a worker joined.
    pub fn see_worker(&self, worker_id: &str, kind: proto::WorkerKind, now: Instant) {
        let mut workers = lock(&self.workers);
        workers.retain(|_, seen| now.duration_since(seen.at) < WORKER_SILENCE_MAX);
        if workers.len() >= WORKER_COUNT_MAX {
            // The one that has been silent the longest: should it come back, it is asked to join again.
            let oldest = workers.iter().min_by_key(|(_, seen)| seen.at).map(|(oldest, _)| oldest.clone());
            oldest.and_then(|oldest| workers.remove(&oldest));
        }
        workers.insert(worker_id.to_owned(), WorkerSeen { kind, at: now });
    }

    /// Notes that a worker is still there.
    pub fn see_again(&self, worker_id: &str, now: Instant) {
        if let Some(seen) = lock(&self.workers).get_mut(worker_id) {
            seen.at = now;
        }
    }

    /// Returns how many workers of a kind gave a sign of life lately.
    #[must_use]
    pub fn worker_count(&self, kind: proto::WorkerKind, now: Instant) -> u32 {
        let is_here = |seen: &&WorkerSeen| seen.kind == kind && now.duration_since(seen.at) < WORKER_SILENCE_MAX;
        lock(&self.workers).values().filter(is_here).count() as u32
    }

    /// Returns the workers that gave a sign of life lately, by name: what each is, and for how long it has been silent.
    #[must_use]
    pub fn workers(&self, now: Instant) -> Vec<(String, proto::WorkerKind, Duration)> {
        let line = |(name, seen): (&String, &WorkerSeen)| (name.clone(), seen.kind, now.duration_since(seen.at));
        let mut workers: Vec<_> = lock(&self.workers).iter().map(line).collect();
        workers.retain(|(_, _, silent)| *silent < WORKER_SILENCE_MAX);
        workers.sort_by(|a, b| a.0.cmp(&b.0));
        workers
    }

    /// Returns everything that is shown.
    #[must_use]
    pub fn reply(&self, now: Instant) -> proto::GetStatusReply {
        let mut reply = lock(&self.shown).clone();
        reply.actor_count = self.worker_count(proto::WorkerKind::Actor, now);
        reply.evaluator_count = self.worker_count(proto::WorkerKind::Evaluator, now);
        reply.counters.extend(lock(&self.counters).iter().map(|(name, count)| (name.clone(), *count)));
        if let Some(last) = self.last_backup() {
            let age = SystemTime::now().duration_since(last.time.get()).unwrap_or_default();
            reply.counters.insert("backup_age_seconds".to_owned(), age.as_secs());
        }
        reply
    }
}

/// Serves `alveare.v1.Status`.
pub struct StatusService {
    /// The state of the run.
    pub status: Arc<RunStatus>,
    /// Counts the calls that it refuses.
    pub auth: ServerAuth,
    /// Why nothing can be stored: the run then waits for that alone, and cannot say so itself.
    pub problem: StoreProblem,
}

#[tonic::async_trait]
impl proto::status_server::Status for StatusService {
    async fn get_status(
        &self,
        _request: Request<proto::GetStatusRequest>,
    ) -> Result<Response<proto::GetStatusReply>, Status> {
        let mut reply = self.status.reply(Instant::now());
        reply.counters.insert("refused_call_count".to_owned(), self.auth.refused_count());
        if let Some(problem) = self.problem.get() {
            reply.waiting_for = format!("the disk: {problem}");
        }
        Ok(Response::new(reply))
    }
}

/// What is shown is plain numbers: a panic elsewhere leaves nothing half done in it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_joins_though_many_have_joined_before() {
        let (status, start) = (RunStatus::default(), Instant::now());
        for number in 0..WORKER_COUNT_MAX as u64 {
            status.see_worker(&format!("w{number}"), proto::WorkerKind::Actor, start + Duration::from_micros(number));
        }
        let later = start + Duration::from_secs(1);
        status.see_worker("late", proto::WorkerKind::Evaluator, later);
        assert_eq!(status.worker_count(proto::WorkerKind::Evaluator, later), 1);
        assert_eq!(status.worker_count(proto::WorkerKind::Actor, later), WORKER_COUNT_MAX as u32 - 1);
    }
}
