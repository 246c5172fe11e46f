//! Writing to the store from the threads that keep a run going: a full disk makes them wait, not die.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{Change, Store, StoreError};

/// Time between two tries.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// A store whose writes are tried until they succeed or the learner stops.
#[derive(Debug, Clone)]
pub struct DurableStore {
    store: Arc<Store>,
    stop: CancellationToken,
}

impl DurableStore {
    /// Makes a store that gives up when `stop` is cancelled.
    #[must_use]
    pub fn new(store: Arc<Store>, stop: CancellationToken) -> Self {
        Self { store, stop }
    }

    /// Returns the store itself.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Makes `changes` all together; while the disk refuses them, warns and waits.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a contradiction; the last [`StoreError::Database`] once the learner stops.
    pub fn write(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.retry("write to the store", || self.store.write(changes.clone()))
    }

    /// Does `work` again and again while it fails for want of disk.
    ///
    /// # Errors
    /// As [`DurableStore::write`].
    pub fn retry<T>(&self, what: &str, mut work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut has_failed = false;
        loop {
            match work() {
                Err(error) if error.is_retryable() && !self.stop.is_cancelled() => {
                    self.store.problem().wait(what, &error);
                    warn!(%error, what, "waiting for the disk: make room or mend it, the run goes on by itself");
                    has_failed = true;
                    self.pause();
                }
                result => {
                    if has_failed {
                        self.store.problem().end_wait(what);
                    }
                    if has_failed && result.is_ok() {
                        info!(what, "the disk works again");
                    }
                    return result;
                }
            }
        }
    }

    fn pause(&self) {
        #[cfg(feature = "simulation")]
        if self.store.pause_simulated(RETRY_INTERVAL, || self.stop.is_cancelled()) {
            return;
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}
