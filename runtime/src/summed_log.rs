//! Log lines that are summed: the first of a kind at once, the next ones together ten seconds later, and in all no more than
//! a few. Whoever makes a program complain a million times fills neither its log nor its memory.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two lines of a kind.
const INTERVAL: Duration = Duration::from_secs(10);
/// Lines of all kinds together in that time, at most: a fleet that starts is named, a flood of new kinds is not.
const LINE_COUNT_MAX: u32 = 20;
/// Kinds that are kept apart at most; those that have been quiet the longest are forgotten.
const KIND_COUNT_MAX: usize = 1024;

/// Counts events by kind. Time is passed in.
#[derive(Debug)]
pub struct SummedLog<K>(Mutex<State<K>>);

#[derive(Debug)]
struct State<K> {
    kinds: HashMap<K, Unlogged>,
    /// When the interval under way began; `None` before the first line.
    began_at: Option<Instant>,
    /// Lines of that interval.
    line_count: u32,
}

/// Events of a kind since its last line.
#[derive(Debug)]
struct Unlogged {
    /// `None` if it never had a line.
    line_at: Option<Instant>,
    noted_at: Instant,
    count: u64,
}

/// At most one line a kind in ten seconds.
impl<K> Default for SummedLog<K> {
    fn default() -> Self {
        Self(Mutex::new(State { kinds: HashMap::new(), began_at: None, line_count: 0 }))
    }
}

impl<K: Eq + Hash + Clone> SummedLog<K> {
    /// Notes `count` events. Returns the number to log now, those not logged before included; `None` if a line of the kind
    /// came a short time ago, or too many of others did: then they are logged with the kind's next event.
    pub fn note(&self, kind: &K, count: u64, now: Instant) -> Option<u64> {
        // Each change is one on a map or a number: a panic elsewhere leaves them consistent.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = state.has_room(now);
        let unlogged = state.unlogged(kind, now);
        (unlogged.noted_at, unlogged.count) = (now, unlogged.count + count);
        let is_early = unlogged.line_at.is_some_and(|at| now.saturating_duration_since(at) < INTERVAL);
        if is_early || !has_room {
            return None;
        }
        unlogged.line_at = Some(now);
        let count = std::mem::take(&mut unlogged.count);
        state.line_count += 1;
        Some(count)
    }
}

impl<K: Eq + Hash + Clone> State<K> {
    /// Returns whether a line more may be logged in this interval, which is a new one when the last is over.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.began_at.is_none_or(|at| now.saturating_duration_since(at) >= INTERVAL) {
            (self.began_at, self.line_count) = (Some(now), 0);
        }
        self.line_count < LINE_COUNT_MAX
    }

    /// Returns what is not logged of a kind. For a new one the kind that has been quiet the longest makes room.
    fn unlogged(&mut self, kind: &K, now: Instant) -> &mut Unlogged {
        if self.kinds.len() >= KIND_COUNT_MAX && !self.kinds.contains_key(kind) {
            let oldest = self.kinds.iter().min_by_key(|(_, unlogged)| unlogged.noted_at).map(|(kind, _)| kind.clone());
            oldest.and_then(|oldest| self.kinds.remove(&oldest));
        }
        self.kinds.entry(kind.clone()).or_insert(Unlogged { line_at: None, noted_at: now, count: 0 })
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
    fn ever_new_kinds_get_few_lines_and_are_forgotten() {
        let (log, start) = (SummedLog::default(), Instant::now());
        let note = |kind, at| log.note(&kind, 1, at).is_some();
        let lines = (0..3 * KIND_COUNT_MAX).filter(|&kind| note(kind, start + Duration::from_micros(kind as u64)));
        assert_eq!(lines.count() as u32, LINE_COUNT_MAX);
        let last = 3 * KIND_COUNT_MAX - 1;
        assert_eq!(log.note(&last, 1, start + INTERVAL), Some(2), "what was not logged comes with its next event");
        assert_eq!(log.0.lock().unwrap().kinds.len(), KIND_COUNT_MAX);
    }
}
