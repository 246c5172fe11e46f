//! How long a move may take: a fixed time, or a share of a clock.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Moves that the time left is shared among if nobody says how many there are; games are seldom longer.
const MOVES_LEFT: f64 = 30.0;
/// Share of the time left that one move takes at most.
const SHARE_MAX: f64 = 0.5;

/// Time that a move may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveTime {
    /// This long, and no longer.
    Fixed(Duration),
    /// A share of what is on the clock.
    Share {
        /// The share.
        share: Duration,
        /// All that is left, the increment included.
        left: Duration,
    },
}

impl MoveTime {
    /// Times that a user may give one move: 1 ms to a day.
    pub const FIXED_TIMES: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(24 * 60 * 60);

    /// Returns an equal share of the `time` left for so many `moves` (30 if nobody says), and the `increment`, which comes
    /// before the move; both in seconds, not below 0.
    #[must_use]
    pub fn share(time: f64, increment: f64, moves: Option<u32>) -> Self {
        let moves = moves.map_or(MOVES_LEFT, |moves| f64::from(moves.max(1)));
        let share_max = if moves > 1.0 { SHARE_MAX } else { 1.0 };
        let left = time + increment;
        let share = (time / moves + increment).min(left * share_max);
        Self::Share { share: Duration::from_secs_f64(share), left: Duration::from_secs_f64(left) }
    }

    /// Returns how long to search, if the answer is to be there `margin` before the end of the time. A share ends long
    /// before that, so it is cut only where the clock itself comes near; even then half of what is left is used.
    #[must_use]
    pub fn without(self, margin: Duration) -> Duration {
        match self {
            Self::Fixed(time) => time.saturating_sub(margin),
            Self::Share { share, left } => share.min(left.saturating_sub(margin).max(left / 2)),
        }
    }
}
