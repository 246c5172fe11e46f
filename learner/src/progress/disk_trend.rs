//! When the disk will be full: how much is free, looked at now and then, and how fast that fell over the last day.
//!
//! What counts is the most that was free in ten minutes: the copy of a backup fills the disk for a while and is deleted.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time of which the most that was free is kept.
const BUCKET: Duration = Duration::from_secs(10 * 60);
/// Time over which the rate is measured.
const SPAN: Duration = Duration::from_secs(24 * 60 * 60);
/// Time below which a rate says nothing.
const SPAN_MIN: Duration = Duration::from_secs(60 * 60);
/// A time that is further away is none.
const FULL_IN_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// What was free on a disk. Time is passed in.
#[derive(Debug, Default)]
pub struct DiskTrend(Mutex<VecDeque<Bucket>>);

/// Ten minutes.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    began_at: Instant,
    /// The most that was free in it.
    free_bytes: u64,
}

impl DiskTrend {
    /// Takes note of what is free now. Returns when the disk will be full at the rate of the last day; `None` in the first
    /// hour, and while it does not fill.
    pub(super) fn note(&self, free_bytes: u64, now: Instant) -> Option<Duration> {
        // Each change is one on a list: a panic elsewhere leaves it consistent.
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match buckets.back_mut() {
            Some(last) if now.saturating_duration_since(last.began_at) < BUCKET => {
                last.free_bytes = last.free_bytes.max(free_bytes);
            }
            _ => buckets.push_back(Bucket { began_at: now, free_bytes }),
        }
        while buckets.front().is_some_and(|first| now.saturating_duration_since(first.began_at) > SPAN) {
            buckets.pop_front();
        }
        // The last one goes on: a backup may be under way.
        let (first, last) = (buckets.front()?, buckets.get(buckets.len().checked_sub(2)?)?);
        let elapsed = last.began_at.saturating_duration_since(first.began_at);
        if elapsed < SPAN_MIN {
            return None;
        }
        let bytes_per_second = first.free_bytes.checked_sub(last.free_bytes)? as f64 / elapsed.as_secs_f64();
        let full_in = Duration::try_from_secs_f64(last.free_bytes as f64 / bytes_per_second).ok()?;
        (full_in <= FULL_IN_MAX).then_some(full_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    const MINUTE: Duration = Duration::from_secs(60);

    /// Notes what `free` says for each minute of so many hours. Returns what was foretold at the end.
    fn after(hours: u32, free: impl Fn(u64) -> u64) -> Option<Duration> {
        let (trend, start) = (DiskTrend::default(), Instant::now());
        (0..=hours * 60).map(|minute| trend.note(free(minute.into()), start + minute * MINUTE)).last().flatten()
    }

    fn hours(time: Option<Duration>) -> Option<u64> {
        time.map(|time| (time.as_secs_f64() / 3600.0).round() as u64)
    }

    #[test]
    fn the_rate_of_the_last_day_says_when_the_disk_is_full() {
        let steady = |minute: u64| 100 * GIB - minute * GIB / 60;
        assert_eq!(after(1, steady), None, "too early to say");
        assert_eq!(hours(after(10, steady)), Some(90));
        // A day at ten times the rate, long ago, is forgotten.
        let slower = |minute: u64| match minute {
            0..1440 => 1000 * GIB - minute * GIB / 6,
            _ => 760 * GIB - (minute - 1440) * GIB / 60,
        };
        assert_eq!(hours(after(60, slower)), Some(724));
    }

    #[test]
    fn a_disk_that_does_not_fill_is_never_full() {
        assert_eq!(after(48, |_| 100 * GIB), None);
        assert_eq!(after(48, |minute| (100 + minute) * GIB), None);
        assert_eq!(after(48, |minute| 100_000 * GIB - minute), None, "in thousands of years");
        assert_eq!(after(48, |_| 0), None);
    }

    #[test]
    fn what_a_backup_takes_for_a_while_does_not_count() {
        let steady = |minute: u64| 100 * GIB - minute * GIB / 60;
        let with_backups = |minute: u64| if minute % 10 > 5 { steady(minute) - 50 * GIB } else { steady(minute) };
        for minutes in 0..10 {
            let (trend, start) = (DiskTrend::default(), Instant::now());
            let last = 10 * 60 + minutes;
            let foretold =
                (0..=last).map(|minute| trend.note(with_backups(minute.into()), start + minute * MINUTE)).last();
            assert_eq!(hours(foretold.flatten()), Some(90), "{minutes} minutes after a backup began");
        }
    }
}
