//! Calls that were refused: counted, summed up in one line now and then, and answered later and later where they come
//! from.
//!
//! What is remembered of origins is bounded; whoever comes from ever new ones is only counted.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tracing::warn;

use crate::connections::ConnectionInfo;
use crate::origin::Origin;

/// Time between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Origins that are kept apart at most; those that have been quiet the longest are forgotten.
const ORIGIN_COUNT_MAX: usize = 1024;
/// Origins that a line names.
const NAMED_COUNT: usize = 5;
/// Refusals of an origin that are answered at once: somebody mistyped a token.
const FREE_COUNT: u32 = 3;
/// Wait after the first refusal that is not; it doubles with each further one.
const WAIT_FIRST: Duration = Duration::from_millis(100);
/// Longest wait: whoever shows the right token from the same origin waits no longer than that, and once a connection.
const WAIT_MAX: Duration = Duration::from_secs(2);
/// An origin that was not refused for so long starts anew.
const FORGET_AFTER: Duration = Duration::from_secs(600);

/// Why a call is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallRefusal {
    /// It shows no token.
    #[error("no token")]
    NoToken,
    /// It shows something else than a token that is asked for.
    #[error("wrong token")]
    WrongToken,
    /// Others of its connection wait to be judged.
    #[error("too many calls before one was let in")]
    TooManyCalls,
}

/// Counts refused calls by where they come from.
#[derive(Debug, Default)]
pub struct Refusals {
    count: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    origins: HashMap<Origin, OfOrigin>,
    /// Of origins that are forgotten, and not in a line yet.
    forgotten_count: u64,
    line_at: Option<Instant>,
}

#[derive(Debug)]
struct OfOrigin {
    count: u32,
    unlogged_count: u64,
    refused_at: Instant,
}

/// What is logged of refused calls.
#[derive(Debug, PartialEq, Eq)]
struct RefusalLine {
    count: u64,
    from: String,
}

impl Refusals {
    /// Judges what a call shows. On a connection whose last call was let in that is done at once, and so it is on others
    /// from an origin that was not refused of late. From an origin that was, each connection is judged one call at a time,
    /// and only after a wait, whatever the judgement will be: whoever guesses learns nothing sooner.
    ///
    /// # Errors
    /// [`CallRefusal`] as `judge` returns it, or [`CallRefusal::TooManyCalls`]: counted, and logged now and then.
    pub async fn admit<T>(
        &self,
        connection: Option<&ConnectionInfo>,
        judge: impl FnOnce() -> Result<T, CallRefusal>,
    ) -> Result<T, CallRefusal> {
        let origin = Origin::of(connection.and_then(ConnectionInfo::address));
        let judged = match self.wait_for_turn(origin, connection).await {
            Ok(()) => judge(),
            Err(problem) => Err(problem),
        };
        match (&judged, connection) {
            (Ok(_), Some(connection)) => connection.note_call(),
            (Ok(_), None) => {}
            (Err(_), _) => {
                connection.inspect(|connection| connection.note_refusal());
                self.note(origin, Instant::now());
            }
        }
        judged
    }

    async fn wait_for_turn(&self, origin: Origin, connection: Option<&ConnectionInfo>) -> Result<(), CallRefusal> {
        let is_trusted = connection.is_some_and(ConnectionInfo::is_trusted);
        let wait = if is_trusted { Duration::ZERO } else { self.lock().wait(origin, Instant::now()) };
        if wait.is_zero() {
            return Ok(());
        }
        // What a call that waits has sent so far is kept in memory: one for each connection.
        let turn = connection.map(|connection| connection.turn().ok_or(CallRefusal::TooManyCalls));
        let _turn = turn.transpose()?;
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Returns how many calls were refused.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Logs those that are not logged yet, if the last line was long enough ago: to be called now and then.
    pub fn log_rest(&self, now: Instant) {
        let line = self.lock().line(now);
        log(line);
    }

    fn note(&self, origin: Origin, now: Instant) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        state.note(origin, now);
        let line = state.line(now);
        drop(state);
        log(line);
    }

    /// Each change is one on the map: a panic elsewhere leaves it consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log(line: Option<RefusalLine>) {
    if let Some(RefusalLine { count, from }) = line {
        warn!(count, from, "calls without the token refused");
    }
}

impl State {
    fn note(&mut self, origin: Origin, now: Instant) {
        if self.origins.len() >= ORIGIN_COUNT_MAX && !self.origins.contains_key(&origin) {
            let oldest = self.origins.iter().min_by_key(|(_, of)| of.refused_at).map(|(origin, _)| *origin);
            let forgotten = oldest.and_then(|oldest| self.origins.remove(&oldest));
            self.forgotten_count += forgotten.map_or(0, |forgotten| forgotten.unlogged_count);
        }
        let of = self.origins.entry(origin).or_insert(OfOrigin { count: 0, unlogged_count: 0, refused_at: now });
        if now.saturating_duration_since(of.refused_at) > FORGET_AFTER {
            of.count = 0;
        }
        of.count = of.count.saturating_add(1);
        of.unlogged_count += 1;
        of.refused_at = now;
    }

    /// Returns how long the next call from an origin waits.
    fn wait(&self, origin: Origin, now: Instant) -> Duration {
        let Some(of) = self.origins.get(&origin) else { return Duration::ZERO };
        let is_forgotten = now.saturating_duration_since(of.refused_at) > FORGET_AFTER;
        match of.count.checked_sub(FREE_COUNT) {
            Some(above) if !is_forgotten => WAIT_FIRST.saturating_mul(1 << above.min(16)).min(WAIT_MAX),
            _ => Duration::ZERO,
        }
    }

    /// Returns the line that is due, if there is something to say.
    fn line(&mut self, now: Instant) -> Option<RefusalLine> {
        let is_early = self.line_at.is_some_and(|at| now.saturating_duration_since(at) < LINE_INTERVAL);
        let mut unlogged: Vec<(u64, Origin)> = Vec::new();
        if is_early {
            return None;
        }
        for (origin, of) in &mut self.origins {
            let count = std::mem::take(&mut of.unlogged_count);
            if count > 0 {
                unlogged.push((count, *origin));
            }
        }
        let forgotten = std::mem::take(&mut self.forgotten_count);
        let count = forgotten + unlogged.iter().map(|(count, _)| count).sum::<u64>();
        if count == 0 {
            return None;
        }
        self.line_at = Some(now);
        unlogged.sort_by_key(|(count, origin)| (std::cmp::Reverse(*count), origin.to_string()));
        Some(RefusalLine { count, from: names(&unlogged, forgotten) })
    }
}

/// Names the origins with most calls, each with its number.
fn names(unlogged: &[(u64, Origin)], forgotten: u64) -> String {
    let named = unlogged.iter().take(NAMED_COUNT).map(|(count, origin)| format!("{origin} ({count})"));
    let mut text = named.collect::<Vec<_>>().join(", ");
    let others = unlogged.len().saturating_sub(NAMED_COUNT);
    // Writing to a text does not fail.
    if others > 0 {
        let _ = write!(text, ", {others} more");
    }
    if forgotten > 0 {
        let _ = write!(text, ", others ({forgotten})");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(number: u16) -> Origin {
        let [high, low] = number.to_be_bytes();
        Origin::of(Some([198, 51, high, low].into()))
    }

    #[test]
    fn an_origin_that_keeps_failing_waits_longer_and_longer_and_others_do_not() {
        let (mut state, start) = (State::default(), Instant::now());
        let mut waits = Vec::new();
        for _ in 0..10 {
            waits.push(state.wait(origin(1), start).as_millis());
            state.note(origin(1), start);
        }
        assert_eq!(waits, [0, 0, 0, 100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(state.wait(origin(2), start), Duration::ZERO);
        assert_eq!(state.wait(origin(1), start + FORGET_AFTER), WAIT_MAX);
        let later = start + FORGET_AFTER + Duration::from_secs(1);
        assert_eq!(state.wait(origin(1), later), Duration::ZERO);
        state.note(origin(1), later);
        assert_eq!(state.wait(origin(1), later), Duration::ZERO, "counted anew");
    }

    #[test]
    fn one_line_in_ten_seconds_sums_all_and_names_those_with_most() {
        let (mut state, start) = (State::default(), Instant::now());
        state.note(origin(1), start);
        let first = RefusalLine { count: 1, from: "198.51.0.1 (1)".into() };
        assert_eq!(state.line(start), Some(first), "the first at once");
        for (number, count) in [(1, 3), (2, 30), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1)] {
            for _ in 0..count {
                state.note(origin(number), start);
                assert_eq!(state.line(start + Duration::from_secs(9)), None);
            }
        }
        let from = "198.51.0.2 (30), 198.51.0.1 (3), 198.51.0.3 (1), 198.51.0.4 (1), 198.51.0.5 (1), 2 more".into();
        assert_eq!(state.line(start + LINE_INTERVAL), Some(RefusalLine { count: 38, from }));
        assert_eq!(state.line(start + 9 * LINE_INTERVAL), None, "nothing new");
    }

    #[test]
    fn ever_new_origins_are_counted_and_forgotten() {
        let (mut state, start) = (State::default(), Instant::now());
        for number in 0..3 * ORIGIN_COUNT_MAX as u16 {
            state.note(origin(number), start + Duration::from_micros(number.into()));
        }
        assert_eq!(state.origins.len(), ORIGIN_COUNT_MAX);
        let line = state.line(start + LINE_INTERVAL).unwrap();
        assert_eq!(line.count, 3 * ORIGIN_COUNT_MAX as u64);
        assert!(line.from.ends_with(&format!("more, others ({})", 2 * ORIGIN_COUNT_MAX)), "{}", line.from);
    }

    #[tokio::test]
    async fn right_and_wrong_tokens_of_a_failing_origin_are_answered_equally_late() {
        let refusals = Refusals::default();
        for _ in 0..FREE_COUNT {
            refusals.admit(None, || Err::<(), _>(CallRefusal::WrongToken)).await.unwrap_err();
        }
        for (judged, wait) in [(Err(CallRefusal::WrongToken), WAIT_FIRST), (Ok(()), 2 * WAIT_FIRST)] {
            let asked_at = Instant::now();
            assert_eq!(refusals.admit(None, || judged).await, judged);
            assert!(asked_at.elapsed() >= wait, "{:?}", asked_at.elapsed());
        }
        assert_eq!(refusals.count(), 4);
    }
}
