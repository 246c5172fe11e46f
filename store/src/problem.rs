//! Why nothing can be stored at the moment, for whoever asks how the run is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why nothing can be stored; `None` while all is well. Copies share one state.
#[derive(Debug, Clone, Default)]
pub struct StoreProblem(Arc<Mutex<Option<String>>>);

impl StoreProblem {
    /// Returns why nothing can be stored at the moment, in words.
    #[must_use]
    pub fn get(&self) -> Option<String> {
        self.lock().clone()
    }

    /// Notes how the last attempt went. Returns whether that has changed.
    pub fn note<E: std::fmt::Display>(&self, error: Option<&E>) -> bool {
        let now = error.map(ToString::to_string);
        let mut known = self.lock();
        let has_changed = *known != now;
        *known = now;
        has_changed
    }

    /// A text is whole or not there: a panic elsewhere leaves nothing half done in it.
    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
