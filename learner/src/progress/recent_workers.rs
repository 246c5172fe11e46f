//! The list of workers as it was a moment ago, shared by all who ask how the run is: however often they ask, thousands of
//! workers are looked through once a second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::run_observer::ObservedWorker;

/// Age at which the list is made anew.
const AGE_MAX: Duration = Duration::from_secs(1);

/// The newest list, and when it was made; `None` before the first.
#[derive(Debug, Default)]
pub struct RecentWorkers(Mutex<Option<(Instant, Arc<[ObservedWorker]>)>>);

impl RecentWorkers {
    /// Returns the list, made by `look` if the last one is too old. Whoever asks meanwhile waits for it.
    pub(super) fn get(&self, now: Instant, look: impl FnOnce() -> Vec<ObservedWorker>) -> Arc<[ObservedWorker]> {
        // A list is whole or not there: a panic while one is made leaves the last one.
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made_at, workers)) = &*recent
            && now.saturating_duration_since(*made_at) < AGE_MAX
        {
            return Arc::clone(workers);
        }
        let workers: Arc<[ObservedWorker]> = look().into();
        *recent = Some((now, Arc::clone(&workers)));
        workers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_looked_through_once_a_second() {
        let (recent, start, mut look_count) = (RecentWorkers::default(), Instant::now(), 0);
        for milliseconds in [0, 1, 999, 1000, 1999, 2000] {
            recent.get(start + Duration::from_millis(milliseconds), || {
                look_count += 1;
                Vec::new()
            });
        }
        assert_eq!(look_count, 3);
    }
}
