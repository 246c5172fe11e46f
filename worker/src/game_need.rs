//! How many games a search thread asks for. Pure: time is passed in.
//!
//! A thread that waits for answers more than it searches could search more games: the way to the learner is long, or its
//! device is fast. The learner gives no more than it can answer, so asking for more does no harm.

use std::time::{Duration, Instant};

/// Games of a thread at first, if their number is not set.
const GAMES_FIRST: usize = 32;
/// Games of a thread at most, if their number is not set.
const GAMES_MAX: usize = 1024;
/// Time over which waiting and searching are compared.
const INTERVAL: Duration = Duration::from_secs(2);

/// Games of a thread at first and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GameBounds {
    pub(crate) first: usize,
    pub(crate) max: usize,
}

impl GameBounds {
    /// Returns the bounds for a setting: always so many, or with 0 as many as keep the thread busy.
    pub(crate) const fn of(games_per_thread: usize) -> Self {
        match games_per_thread {
            0 => Self { first: GAMES_FIRST, max: GAMES_MAX },
            count => Self { first: count, max: count },
        }
    }
}

/// What one thread needs.
#[derive(Debug)]
pub(crate) struct GameNeed {
    wanted: usize,
    max: usize,
    /// Time spent waiting since `since`.
    waited: Duration,
    since: Instant,
}

impl GameNeed {
    pub(crate) const fn new(bounds: GameBounds, now: Instant) -> Self {
        Self { wanted: bounds.first, max: bounds.max, waited: Duration::ZERO, since: now }
    }

    /// Returns how many games the thread wants, in all.
    pub(crate) const fn wanted(&self) -> usize {
        self.wanted
    }

    /// Notes that the thread had nothing to search for so long.
    pub(crate) fn note_wait(&mut self, time: Duration) {
        self.waited += time;
    }

    /// Returns how many games more to ask for, now that the thread holds `held_count`: as many as it wanted, if it has
    /// nearly all of those and waited more than half of the time.
    pub(crate) fn more(&mut self, held_count: usize, now: Instant) -> usize {
        let elapsed = now.saturating_duration_since(self.since);
        if elapsed < INTERVAL {
            return 0;
        }
        let is_idle = self.waited * 2 > elapsed;
        (self.waited, self.since) = (Duration::ZERO, now);
        // Some have just ended. Who did not get what it asked for does not ask for more.
        let has_all = held_count * 10 >= self.wanted * 9;
        let more = if is_idle && has_all { self.wanted.min(self.max - self.wanted) } else { 0 };
        self.wanted += more;
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks once an interval; the thread waits for this share of it. Returns what it asks for.
    fn look(need: &mut GameNeed, now: &mut Instant, waited_share: f64, held_count: usize) -> usize {
        *now += INTERVAL;
        need.note_wait(INTERVAL.mul_f64(waited_share));
        need.more(held_count, *now)
    }

    #[test]
    fn a_thread_that_waits_gets_twice_as_many_games_up_to_the_most() {
        let mut now = Instant::now();
        let mut need = GameNeed::new(GameBounds::of(0), now);
        assert_eq!(need.more(32, now + INTERVAL / 2), 0, "too soon");
        let mut held_count = 32;
        for expected in [32, 64, 128, 256, 512, 0] {
            let more = look(&mut need, &mut now, 0.9, held_count);
            assert_eq!(more, expected);
            held_count += more;
        }
        assert_eq!(held_count, GAMES_MAX);
    }

    #[test]
    fn a_thread_that_is_busy_or_did_not_get_its_games_asks_for_no_more() {
        let mut now = Instant::now();
        let mut need = GameNeed::new(GameBounds::of(0), now);
        assert_eq!(look(&mut need, &mut now, 0.4, 32), 0, "busy");
        assert_eq!(look(&mut need, &mut now, 0.9, 28), 0, "the learner gave fewer");
        assert_eq!(look(&mut need, &mut now, 0.9, 29), 32, "nearly all");
        assert_eq!(look(&mut need, &mut now, 0.9, 40), 0, "not those");
    }

    #[test]
    fn a_number_that_is_set_stays() {
        let mut now = Instant::now();
        let mut need = GameNeed::new(GameBounds::of(8), now);
        assert_eq!(look(&mut need, &mut now, 1.0, 8), 0);
    }
}
