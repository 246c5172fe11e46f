//! How long the device was at work. Time is passed in.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Adds up the time in which at least one inference thread was inside the device's call.
#[derive(Debug, Default)]
pub(super) struct DeviceTime(Mutex<AtWork>);

#[derive(Debug, Default)]
struct AtWork {
    /// Threads inside the call.
    thread_count: u32,
    /// When the first of them went in.
    since: Option<Instant>,
    done: Duration,
}

impl DeviceTime {
    /// Runs `work`, the device's call.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.enter(Instant::now());
        let result = work();
        self.leave(Instant::now());
        result
    }

    /// Returns the time so far, what is under way included.
    pub(super) fn total(&self, now: Instant) -> Duration {
        let at_work = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.done + at_work.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    fn enter(&self, now: Instant) {
        let mut at_work = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.thread_count += 1;
        at_work.since.get_or_insert(now);
    }

    fn leave(&self, now: Instant) {
        let mut at_work = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.thread_count -= 1;
        if at_work.thread_count == 0
            && let Some(since) = at_work.since.take()
        {
            at_work.done += now.saturating_duration_since(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_at_work_count_once() {
        let (time, start) = (DeviceTime::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        time.enter(at(0));
        time.enter(at(10));
        time.leave(at(20));
        assert_eq!(time.total(at(25)).as_millis(), 25, "one is still at work");
        time.leave(at(30));
        assert_eq!(time.total(at(90)).as_millis(), 30);
        time.enter(at(90));
        time.leave(at(95));
        assert_eq!(time.total(at(100)).as_millis(), 35);
    }
}
