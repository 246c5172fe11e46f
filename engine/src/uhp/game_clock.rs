//! A clock for the whole game, which the engine keeps itself: UHP has none.

use std::time::Duration;

use shared::game::Side;

use notation::move_time::MoveTime;

/// The time of both sides. Only the engine's own searches take from it.
#[derive(Debug, Clone, Copy)]
pub struct GameClock {
    left: [Duration; 2],
    increment: Duration,
}

impl GameClock {
    /// Makes a clock with so many seconds for each side, and more for each move. `None` without time: there is no clock.
    pub fn new(seconds: f32, increment_seconds: f32) -> Option<Self> {
        let [time, increment] = [seconds, increment_seconds].map(|seconds| Duration::from_secs_f32(seconds.max(0.0)));
        (time + increment > Duration::ZERO).then_some(Self { left: [time; 2], increment })
    }

    /// Returns how long a move of `side` may take.
    pub fn move_time(&self, side: Side) -> MoveTime {
        MoveTime::share(self.left[side.index()].as_secs_f64(), self.increment.as_secs_f64(), None)
    }

    /// Takes the time of a move of `side`, and gives the increment. A clock that has run out stays at 0.
    pub fn spend(&mut self, side: Side, time: Duration) {
        let left = &mut self.left[side.index()];
        *left = (*left + self.increment).saturating_sub(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_has_its_time() {
        assert!(GameClock::new(0.0, 0.0).is_none());
        let mut clock = GameClock::new(60.0, 1.0).unwrap();
        let seconds = |clock: &GameClock, side| clock.move_time(side).without(Duration::ZERO).as_secs_f64();
        assert_eq!(seconds(&clock, Side::White), 3.0);
        clock.spend(Side::White, Duration::from_secs(31));
        assert_eq!((seconds(&clock, Side::White), seconds(&clock, Side::Black)), (2.0, 3.0));
        clock.spend(Side::White, Duration::from_secs(500));
        assert_eq!(seconds(&clock, Side::White), 0.5, "half of the increment");
    }
}
