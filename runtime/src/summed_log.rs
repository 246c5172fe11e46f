//! Log lines that are summed: the first of a kind at once, the next ones together ten seconds later. Whoever makes
//! a program complain a million times fills neither its log nor its memory.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two lines of a kind.
const INTERVAL: Duration = Duration::from_secs(10);
/// Kinds that are told apart at most; those that have been quiet the longest are forgotten.
const KIND_COUNT_MAX: usize = 1024;

/// Counts events by kind. Time is passed in.
#[derive(Debug)]
pub struct SummedLog<K> {
    kinds: Mutex<HashMap<K, Unlogged>>,
}

/// Events of a kind since its last line.
#[derive(Debug)]
struct Unlogged {
    line_at: Instant,
    count: u64,
}

/// At most one line a kind in ten seconds.
impl<K> Default for SummedLog<K> {
    fn default() -> Self {
        Self { kinds: Mutex::default() }
    }
}

impl<K: Eq + Hash + Clone> SummedLog<K> {
    /// Notes `count` events. Returns the number to log now, those not logged before included; `None` if a line came a
    /// short time ago.
    pub fn note(&self, kind: &K, count: u64, now: Instant) -> Option<u64> {
        // Each change is one on the map: a panic elsewhere leaves it consistent.
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unlogged) = kinds.get_mut(kind) {
            unlogged.count += count;
            if now.saturating_duration_since(unlogged.line_at) < INTERVAL {
                return None;
            }
            unlogged.line_at = now;
            return Some(std::mem::take(&mut unlogged.count));
        }
        if kinds.len() >= KIND_COUNT_MAX {
            let oldest = kinds.iter().min_by_key(|(_, unlogged)| unlogged.line_at).map(|(kind, _)| kind.clone());
            oldest.and_then(|oldest| kinds.remove(&oldest));
        }
        kinds.insert(kind.clone(), Unlogged { line_at: now, count: 0 });
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_a_kind_are_summed_until_the_interval_is_over() {
        let (log, start) = (SummedLog::default(), Instant::now());
        assert_eq!(log.note(&"a", 1, start), Some(1));
        for second in 1..10 {
            assert_eq!(log.note(&"a", 2, start + Duration::from_secs(second)), None);
        }
        assert_eq!(log.note(&"b", 1, start), Some(1), "another kind");
        assert_eq!(log.note(&"a", 1, start + INTERVAL), Some(19));
        assert_eq!(log.note(&"a", 1, start + INTERVAL), None);
    }

    #[test]
    fn ever_new_kinds_are_forgotten() {
        let (log, start) = (SummedLog::default(), Instant::now());
        for kind in 0..3 * KIND_COUNT_MAX {
            assert_eq!(log.note(&kind, 1, start + Duration::from_micros(kind as u64)), Some(1));
        }
        assert_eq!(log.kinds.lock().unwrap().len(), KIND_COUNT_MAX);
    }
}
