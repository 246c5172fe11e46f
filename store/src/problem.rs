//! Why nothing can be stored at the moment, for whoever asks how the run is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why nothing can be stored; nothing while all is well. Copies share one state.
#[derive(Debug, Clone, Default)]
pub struct StoreProblem(Arc<Mutex<Problems>>);

/// What is wrong, each noted by whoever tries: a write to the database may succeed while one to a file fails.
#[derive(Debug, Default)]
struct Problems {
    /// Of the last group that was written to the database.
    database: Option<String>,
    /// Of what is tried again and again, by its name.
    waiting: BTreeMap<String, String>,
}

impl StoreProblem {
    /// Returns why nothing can be stored at the moment, in words.
    #[must_use]
    pub fn get(&self) -> Option<String> {
        let known = self.lock();
        known.waiting.values().next().or(known.database.as_ref()).cloned()
    }

    /// Notes how the last write to the database went. Returns whether that has changed.
    pub fn note<E: std::fmt::Display>(&self, error: Option<&E>) -> bool {
        let now = error.map(ToString::to_string);
        let mut known = self.lock();
        let has_changed = known.database != now;
        known.database = now;
        has_changed
    }

    /// Notes why `what` waits.
    pub(crate) fn wait<E: std::fmt::Display>(&self, what: &str, error: &E) {
        self.lock().waiting.insert(what.to_owned(), error.to_string());
    }

    /// Notes that `what` waits no more.
    pub(crate) fn end_wait(&self, what: &str) {
        self.lock().waiting.remove(what);
    }

    /// A text is whole or not there: a panic elsewhere leaves nothing half done in it.
    fn lock(&self) -> MutexGuard<'_, Problems> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_succeeds_does_not_hide_what_waits() {
        let problem = StoreProblem::default();
        problem.wait("write weights", &"no space");
        assert!(!problem.note(None::<&&str>), "the database was well before");
        assert_eq!(problem.get().as_deref(), Some("no space"));
        assert!(problem.note(Some(&"disk error")));
        problem.end_wait("write weights");
        assert_eq!(problem.get().as_deref(), Some("disk error"));
        assert!(problem.note(None::<&&str>));
        assert_eq!(problem.get(), None);
    }
}
