//! Pauses between attempts, and log lines that are not repeated too often.

use std::time::{Duration, Instant};

use rand::RngExt;

/// First pause of a row.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Pauses that double up to a bound, each drawn from its upper half: many workers do not come back at once.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    pub(crate) fn new(max: Duration) -> Self {
        Self { next: FIRST_PAUSE.min(max), max }
    }

    /// Starts again with the shortest pause.
    pub(crate) fn reset(&mut self) {
        self.next = FIRST_PAUSE.min(self.max);
    }

    /// Returns the next pause.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.next.mul_f64(rand::rng().random_range(0.5..=1.0));
        self.next = (self.next * 2).min(self.max);
        pause
    }
}

/// Lets one line through and then none for a while.
#[derive(Debug)]
pub(crate) struct Seldom {
    interval: Duration,
    last: Option<Instant>,
}

impl Seldom {
    pub(crate) fn new(interval: Duration) -> Self {
        Self { interval, last: None }
    }

    /// Returns whether it is time for a line.
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
    fn pauses_double_up_to_the_bound_and_start_again() {
        let mut backoff = Backoff::new(Duration::from_millis(300));
        for upper in [100, 200, 300, 300, 300] {
            let upper = Duration::from_millis(upper);
            let pause = backoff.pause();
            assert!(pause >= upper / 2 && pause <= upper, "{pause:?}");
        }
        backoff.reset();
        assert!(backoff.pause() <= Duration::from_millis(100));
    }

    #[test]
    fn a_line_is_not_repeated_too_soon() {
        let mut seldom = Seldom::new(Duration::from_secs(10));
        let start = Instant::now();
        let due = [0, 1, 9, 10, 11, 20].map(|second| seldom.is_due(start + Duration::from_secs(second)));
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
