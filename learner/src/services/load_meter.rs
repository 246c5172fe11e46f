//! How much self-play the inference threads have to do, measured now and then. Time is passed in.

use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use inference::{InferenceCounters, InferenceCounts, QueueView};
use registry::LeafLoad;

/// Time between two looks at least.
const INTERVAL: Duration = Duration::from_secs(1);

/// Looks at the counters of the inference thread.
#[derive(Debug)]
pub struct LoadMeter {
    counters: Arc<InferenceCounters>,
    /// `None` in a simulation, which has no queue.
    queue: Option<QueueView>,
    last: Mutex<(Instant, InferenceCounts)>,
}

impl LoadMeter {
    /// Begins to measure.
    #[must_use]
    pub fn new(counters: Arc<InferenceCounters>, queue: Option<QueueView>, now: Instant) -> Self {
        let last = Mutex::new((now, counters.counts()));
        Self { counters, queue, last }
    }

    /// Returns the load since the last look, unless that is too short a time ago.
    pub fn look(&self, now: Instant) -> Option<LeafLoad> {
        // Two plain values: a panic elsewhere leaves nothing half done in them.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = now.saturating_duration_since(last.0);
        if elapsed < INTERVAL {
            return None;
        }
        let counts = self.counters.counts();
        let queued_leaf_count = self.queue.as_ref().map_or(0, |queue| queue.waiting_leaves().self_play);
        let load = load(&last.1, &counts, queued_leaf_count, elapsed);
        *last = (now, counts);
        Some(load)
    }
}

/// Returns the load between two looks. By Little's law (1961), the leaves that wait on average are the waits of all leaves,
/// summed, over the time in which they were answered. Of a queue that grows that says too little, since the longest waits
/// are still to end: then those count that wait now.
fn load(before: &InferenceCounts, after: &InferenceCounts, queued_leaf_count: u64, elapsed: Duration) -> LeafLoad {
    let wait_us = after.self_play_wait_us.saturating_sub(before.self_play_wait_us);
    let mean_leaf_count = wait_us as f64 / elapsed.as_micros().max(1) as f64;
    LeafLoad {
        waiting_leaf_count: mean_leaf_count.max(queued_leaf_count as f64),
        // What inference servers take at once is two evaluations' worth.
        batch_leaf_count: usize::try_from(after.batch_leaf_limit + after.remote_leaf_count_max / 2)
            .unwrap_or(usize::MAX),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn leaves_that_wait_are_their_waits_over_the_time() {
        let (counters, start) = (Arc::new(InferenceCounters::default()), Instant::now());
        let meter = LoadMeter::new(Arc::clone(&counters), None, start);
        // 1,000 leaves of 300 ms each within two seconds: 150 at a time.
        counters.self_play_wait_us.store(1000 * 300_000, Ordering::Relaxed);
        counters.batch_leaf_limit.store(128, Ordering::Relaxed);
        assert_eq!(meter.look(start + INTERVAL / 2), None, "too soon");
        let expected = LeafLoad { waiting_leaf_count: 150.0, batch_leaf_count: 128 };
        assert_eq!(meter.look(start + Duration::from_secs(2)), Some(expected));
        counters.remote_leaf_count_max.store(64, Ordering::Relaxed);
        let nothing = LeafLoad { waiting_leaf_count: 0.0, batch_leaf_count: 128 + 32 };
        assert_eq!(meter.look(start + Duration::from_secs(4)), Some(nothing));
    }
}
