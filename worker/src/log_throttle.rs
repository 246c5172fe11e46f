//! Log lines that are not repeated too often.

use std::time::{Duration, Instant};

/// Allows one log line per interval.
#[derive(Debug)]
pub(crate) struct LogThrottle {
    interval: Duration,
    last: Option<Instant>,
}

impl LogThrottle {
    pub(crate) fn new(interval: Duration) -> Self {
        Self { interval, last: None }
    }

    /// Returns whether a line may be logged now.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.last.is_none_or(|last| now.duration_since(last) >= self.interval);
        if is_due {
            self.last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_not_repeated_too_soon() {
        let mut throttle = LogThrottle::new(Duration::from_secs(10));
        let start = Instant::now();
        let due = [0, 1, 9, 10, 11, 20].map(|second| throttle.is_due(start + Duration::from_secs(second)));
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
