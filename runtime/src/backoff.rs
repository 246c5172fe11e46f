//! Growing pauses between attempts.

use std::time::Duration;

use rand::RngExt;

/// First pause after a success.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Pauses that double up to a bound, each drawn from its upper half so that many workers do not come back at once.
#[derive(Debug)]
pub struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    /// Begins with a tenth of a second, and waits `max` at most.
    #[must_use]
    pub fn new(max: Duration) -> Self {
        Self { next: FIRST_PAUSE.min(max), max }
    }

    /// Starts again with the shortest pause.
    pub fn reset(&mut self) {
        self.next = FIRST_PAUSE.min(self.max);
    }

    /// Returns the next pause.
    pub fn pause(&mut self) -> Duration {
        let pause = self.next.mul_f64(rand::rng().random_range(0.5..=1.0));
        self.next = (self.next * 2).min(self.max);
        pause
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
}
