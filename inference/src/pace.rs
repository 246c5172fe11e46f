//! How many leaves are evaluated together, so that one evaluation does not take too long. Pure: no clock.

use std::time::Duration;

/// Fewer leaves are never asked for: below this an evaluation becomes little faster, and a slow first one says nothing.
const LEAF_LIMIT_MIN: usize = 32;
/// How much of the earlier evaluations still counts after each new one.
const MEMORY: f64 = 0.8;

/// Bounds a batch by the time that the last ones took.
#[derive(Debug)]
pub(super) struct BatchPace {
    leaf_count_max: usize,
    /// Sizes that batches are padded to, rising: a batch between two of them would cost as much as the larger one.
    padded_sizes: Vec<usize>,
    seconds_max: f64,
    recent_leaf_count: f64,
    recent_seconds: f64,
}

impl BatchPace {
    pub(super) fn new(leaf_count_max: usize, padded_sizes: Vec<usize>, time_max: Duration) -> Self {
        let seconds_max = time_max.as_secs_f64();
        Self { leaf_count_max, padded_sizes, seconds_max, recent_leaf_count: 0.0, recent_seconds: 0.0 }
    }

    /// Notes an evaluation.
    pub(super) fn note(&mut self, leaf_count: usize, time: Duration) {
        self.recent_leaf_count = self.recent_leaf_count * MEMORY + leaf_count as f64;
        self.recent_seconds = self.recent_seconds * MEMORY + time.as_secs_f64();
    }

    /// Returns how many leaves the next batch may have.
    pub(super) fn leaf_limit(&self) -> usize {
        // The cast saturates; before the first evaluation 0 / 0 is no number, and becomes 0.
        let in_time = (self.seconds_max * self.recent_leaf_count / self.recent_seconds) as usize;
        let limit = in_time.max(LEAF_LIMIT_MIN).min(self.leaf_count_max);
        self.padded_sizes.iter().copied().rfind(|size| *size <= limit).unwrap_or(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_MAX: Duration = Duration::from_millis(50);

    fn pace(padded_sizes: &[usize]) -> BatchPace {
        BatchPace::new(1024, padded_sizes.to_vec(), TIME_MAX)
    }

    #[test]
    fn a_batch_is_no_larger_than_the_time_allows() {
        let mut pace = pace(&[]);
        assert_eq!(pace.leaf_limit(), LEAF_LIMIT_MIN, "nothing is known yet, and it may be slow");
        for _ in 0..50 {
            let leaf_count = pace.leaf_limit();
            pace.note(leaf_count, Duration::from_micros(250) * leaf_count as u32);
        }
        assert_eq!(pace.leaf_limit(), 200);
    }

    #[test]
    fn a_fast_device_gets_full_batches_and_a_slow_start_is_forgotten() {
        let mut pace = pace(&[]);
        pace.note(1, Duration::from_secs(2));
        assert_eq!(pace.leaf_limit(), LEAF_LIMIT_MIN);
        for _ in 0..60 {
            let leaf_count = pace.leaf_limit();
            pace.note(leaf_count, Duration::from_millis(1) + Duration::from_micros(25) * leaf_count as u32);
        }
        assert_eq!(pace.leaf_limit(), 1024);
    }

    #[test]
    fn a_limit_between_two_padded_sizes_is_the_smaller_one() {
        let mut pace = pace(&[64, 128, 256, 512, 1024]);
        pace.note(100, Duration::from_millis(13));
        assert_eq!(pace.leaf_limit(), 256);
        pace.note(1000, Duration::from_secs(100));
        assert_eq!(pace.leaf_limit(), LEAF_LIMIT_MIN, "below the smallest");
    }
}
