//! Workers that joined: a name belongs to whoever showed its key first, and every later call must show that key.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use runtime::worker_key::WorkerKey;
use shared::ids::NetworkId;
use store::files::sha256_hex;
use store::{GameKind, WorkerRow};
use tonic::Status;
use tonic::metadata::MetadataMap;

/// Names remembered at most: a peer that joins under ever new names must not fill the memory.
const WORKER_COUNT_MAX: usize = 10_000;

/// The workers that joined since the learner started.
#[derive(Debug, Default)]
pub struct JoinedWorkers(Mutex<HashMap<String, Joined>>);

/// What is known of a worker.
#[derive(Debug, Clone)]
struct Joined {
    kind: GameKind,
    key_sha256: String,
    called_at: Instant,
    is_stored: bool,
    /// Networks that evaluated leaves for it; `None` if it was there before the learner started: what it asked then is not
    /// known.
    asked: Option<BTreeSet<NetworkId>>,
}

/// A worker that has shown its key.
#[derive(Debug, Clone)]
pub(crate) struct KnownWorker {
    pub(super) row: WorkerRow,
    /// Whether name and key are in the store.
    pub(super) is_stored: bool,
    asked: Option<BTreeSet<NetworkId>>,
}

impl KnownWorker {
    /// Returns whether the worker can know what this network thinks: it has had leaves evaluated by it.
    pub(super) fn has_asked(&self, network_id: Option<NetworkId>) -> bool {
        self.asked.as_ref().is_none_or(|asked| network_id.is_some_and(|network_id| asked.contains(&network_id)))
    }
}

impl JoinedWorkers {
    /// Notes a worker that joins with a key. `stored` is the SHA-256 of the key under which the name had games before.
    ///
    /// # Errors
    /// A status if the name is another worker's.
    pub(super) fn join(&self, worker: WorkerRow, stored: Option<&str>, now: Instant) -> Result<(), Status> {
        let WorkerRow { worker_id, kind, key_sha256 } = worker;
        let mut workers = self.lock();
        let known = workers.get(&worker_id).map(|joined| joined.key_sha256.as_str());
        if known.into_iter().chain(stored).any(|known| known != key_sha256) {
            return Err(other_worker(&worker_id));
        }
        if workers.len() >= WORKER_COUNT_MAX && !workers.contains_key(&worker_id) {
            // Names are free, games are not: first one that never had a game, and of these the one that has been silent the
            // longest. Should it come back, it is asked to join again.
            let is_kept = |(_, joined): &(&String, &Joined)| (joined.is_stored, joined.called_at);
            let oldest = workers.iter().min_by_key(is_kept).map(|(oldest, _)| oldest.clone());
            oldest.and_then(|oldest| workers.remove(&oldest));
        }
        let before = workers.get(&worker_id).map(|joined| joined.asked.clone());
        let (is_stored, new) = (stored.is_some(), stored.is_none().then(BTreeSet::new));
        let asked = before.unwrap_or(new);
        workers.insert(worker_id, Joined { kind, key_sha256, called_at: now, is_stored, asked });
        Ok(())
    }

    /// Returns the worker of this name, if it has joined and the call shows its key.
    ///
    /// # Errors
    /// A status that says what is missing.
    pub(crate) fn check(&self, worker_id: &str, metadata: &MetadataMap, now: Instant) -> Result<KnownWorker, Status> {
        let not_joined = || Status::failed_precondition("join first: this learner does not know the worker");
        let mut workers = self.lock();
        let joined = workers.get_mut(worker_id).ok_or_else(not_joined)?;
        if joined.key_sha256 != shown_key_sha256(metadata)? {
            return Err(other_worker(worker_id));
        }
        joined.called_at = now;
        let Joined { kind, key_sha256, is_stored, asked, .. } = joined.clone();
        Ok(KnownWorker { row: WorkerRow { worker_id: worker_id.to_owned(), kind, key_sha256 }, is_stored, asked })
    }

    /// Notes that a network evaluates leaves for a worker.
    pub(crate) fn note_asked(&self, worker_id: &str, network_id: NetworkId) {
        if let Some(asked) = self.lock().get_mut(worker_id).and_then(|joined| joined.asked.as_mut()) {
            asked.insert(network_id);
        }
    }

    /// Notes that a worker is in the store.
    pub(super) fn note_stored(&self, worker_id: &str) {
        if let Some(joined) = self.lock().get_mut(worker_id) {
            joined.is_stored = true;
        }
    }

    /// Names and hashes are whole after each statement: a panic elsewhere leaves nothing half done in them.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Joined>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the SHA-256 of the key that a call shows, hexadecimal.
///
/// # Errors
/// A status if it shows none, or something else.
pub(super) fn shown_key_sha256(metadata: &MetadataMap) -> Result<String, Status> {
    let shown = WorkerKey::shown(metadata).ok_or_else(|| Status::invalid_argument("the worker shows no key"))?;
    let key = shown.map_err(|error| Status::invalid_argument(error.to_string()))?;
    Ok(sha256_hex(key.secret().as_bytes()))
}

fn other_worker(worker_id: &str) -> Status {
    let name: String = worker_id.chars().take(64).collect();
    Status::permission_denied(format!("{name} is another worker's name: its key is not the one shown"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn row(worker_id: &str, key: &str) -> WorkerRow {
        let key_sha256 = sha256_hex(key.repeat(32).as_bytes());
        WorkerRow { worker_id: worker_id.into(), kind: GameKind::SelfPlay, key_sha256 }
    }

    fn shown(key: &str) -> MetadataMap {
        let mut metadata = MetadataMap::new();
        metadata.insert(runtime::worker_key::WORKER_KEY_HEADER, key.repeat(32).parse().expect("visible"));
        metadata
    }

    #[test]
    fn a_name_belongs_to_the_key_that_it_joined_with() {
        let (workers, now) = (JoinedWorkers::default(), Instant::now());
        assert_eq!(workers.check("a", &shown("k"), now).expect_err("unknown").code(), tonic::Code::FailedPrecondition);
        workers.join(row("a", "k"), None, now).expect("joined");
        workers.join(row("a", "k"), None, now).expect("again");
        assert_eq!(workers.check("a", &shown("k"), now).expect("known").row, row("a", "k"));
        for refused in [workers.check("a", &shown("l"), now).map(drop), workers.join(row("a", "l"), None, now)] {
            assert_eq!(refused.expect_err("another's").code(), tonic::Code::PermissionDenied);
        }
        assert!(workers.check("a", &MetadataMap::new(), now).is_err(), "no key");
        assert!(workers.check("a", &shown("k"), now).is_ok(), "what was refused changed nothing");
    }

    #[test]
    fn a_name_of_before_a_restart_keeps_its_key() {
        let (workers, now) = (JoinedWorkers::default(), Instant::now());
        let before = row("a", "k").key_sha256;
        assert!(workers.join(row("a", "l"), Some(&before), now).is_err());
        workers.join(row("a", "k"), Some(&before), now).expect("joined");
        assert!(workers.check("a", &shown("k"), now).expect("known").is_stored);
    }

    #[test]
    fn a_worker_knows_the_networks_that_it_has_asked() {
        let (workers, now) = (JoinedWorkers::default(), Instant::now());
        let has_asked = |network_id| workers.check("a", &shown("k"), now).expect("known").has_asked(network_id);
        workers.join(row("a", "k"), None, now).expect("joined");
        assert!(!has_asked(Some(NetworkId::FIRST)) && !has_asked(None));
        workers.note_asked("a", NetworkId::FIRST);
        workers.join(row("a", "k"), Some(&row("a", "k").key_sha256), now).expect("again");
        assert!(has_asked(Some(NetworkId::FIRST)) && !has_asked(NetworkId::new(2)) && !has_asked(None));
        // Its cache may answer what it asked before the learner was started again.
        let after = JoinedWorkers::default();
        after.join(row("a", "k"), Some(&row("a", "k").key_sha256), now).expect("joined");
        assert!(after.check("a", &shown("k"), now).expect("known").has_asked(NetworkId::new(2)));
    }

    #[test]
    fn a_worker_joins_though_many_have_joined_before() {
        let (workers, now) = (JoinedWorkers::default(), Instant::now());
        workers.join(row("honest", "k"), None, now).expect("joined");
        workers.note_stored("honest");
        for number in 0..WORKER_COUNT_MAX as u64 {
            workers.join(row(&format!("w{number}"), "k"), None, now + Duration::from_micros(number)).expect("joined");
        }
        assert!(workers.check("w0", &shown("k"), now).is_err());
        assert!(workers.check("w1", &shown("k"), now).is_ok());
        assert!(workers.check("honest", &shown("k"), now).is_ok(), "it has had games");
    }
}
