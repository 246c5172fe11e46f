//! The workers that gave a sign of life lately.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// A worker that was silent for so long is no longer counted.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// Workers remembered at most: a peer that joins under ever new names must not fill the memory.
const COUNT_MAX: usize = 10_000;

/// What a worker says about itself when it joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedWorker {
    /// What it plays.
    pub kind: proto::WorkerKind,
    /// Threads that search; 0: it did not say.
    pub thread_count: u32,
    /// Version of its program.
    pub program_version: String,
}

/// A worker and when it was last heard of.
#[derive(Debug, Clone)]
pub(super) struct SeenWorker {
    pub(super) joined: JoinedWorker,
    pub(super) at: Instant,
}

/// The workers, by name.
#[derive(Debug, Default)]
pub(super) struct WorkerList(HashMap<String, SeenWorker>);

impl WorkerList {
    /// Notes that a worker joined. One too many takes the place of the one that was silent the longest: should that come
    /// back, it is asked to join again.
    pub(super) fn join(&mut self, worker_id: &str, joined: JoinedWorker, now: Instant) {
        self.0.retain(|_, seen| now.duration_since(seen.at) < SILENCE_MAX);
        if self.0.len() >= COUNT_MAX {
            let oldest = self.0.iter().min_by_key(|(_, seen)| seen.at).map(|(oldest, _)| oldest.clone());
            oldest.and_then(|oldest| self.0.remove(&oldest));
        }
        self.0.insert(worker_id.to_owned(), SeenWorker { joined, at: now });
    }

    /// Notes that a worker is still there, if it has joined.
    pub(super) fn see_again(&mut self, worker_id: &str, now: Instant) {
        if let Some(seen) = self.0.get_mut(worker_id) {
            seen.at = now;
        }
    }

    /// Returns the workers that gave a sign of life lately.
    pub(super) fn here(&self, now: Instant) -> impl Iterator<Item = (&str, &SeenWorker)> {
        let is_here = move |seen: &SeenWorker| now.duration_since(seen.at) < SILENCE_MAX;
        self.0.iter().filter(move |(_, seen)| is_here(seen)).map(|(worker_id, seen)| (worker_id.as_str(), seen))
    }

    /// Returns how many workers of a kind gave a sign of life lately.
    pub(super) fn count(&self, kind: proto::WorkerKind, now: Instant) -> u32 {
        self.here(now).filter(|(_, seen)| seen.joined.kind == kind).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_joins_though_many_have_joined_before() {
        let (mut workers, start) = (WorkerList::default(), Instant::now());
        let joined = |kind| JoinedWorker { kind, thread_count: 2, program_version: "1".into() };
        for number in 0..COUNT_MAX as u64 {
            let at = start + Duration::from_micros(number);
            workers.join(&format!("w{number}"), joined(proto::WorkerKind::Actor), at);
        }
        let later = start + Duration::from_secs(1);
        workers.join("late", joined(proto::WorkerKind::Evaluator), later);
        assert_eq!(workers.count(proto::WorkerKind::Evaluator, later), 1);
        assert!(workers.here(later).all(|(worker_id, _)| worker_id != "w0"), "the one that was silent the longest");
        assert_eq!(workers.count(proto::WorkerKind::Actor, later), COUNT_MAX as u32 - 1);
    }

    #[test]
    fn a_silent_worker_is_not_counted() {
        let (mut workers, start) = (WorkerList::default(), Instant::now());
        let actor = JoinedWorker { kind: proto::WorkerKind::Actor, thread_count: 0, program_version: String::new() };
        workers.join("a", actor, start);
        assert_eq!(workers.count(proto::WorkerKind::Actor, start + SILENCE_MAX / 2), 1);
        assert_eq!(workers.count(proto::WorkerKind::Actor, start + SILENCE_MAX), 0);
        workers.see_again("a", start + SILENCE_MAX / 2);
        assert_eq!(workers.count(proto::WorkerKind::Actor, start + SILENCE_MAX), 1);
    }
}
