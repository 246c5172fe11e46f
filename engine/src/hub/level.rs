//! When a search ends, as the program at the other end says it.

use std::time::Duration;

use notation::dama::hub_line::HubLine;

/// Moves that the time left is shared among if nobody says how many there are; games are seldom longer.
const MOVES_LEFT: f64 = 30.0;
/// Share of the time left that one move takes at most.
const SHARE_MAX: f64 = 0.5;
/// Longest time that counts as one.
const SECONDS_MAX: f64 = 1e7;

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
    /// Returns how long to search, if the answer is to be there `margin` before the end of the time. A share ends long
    /// before that, so it is cut only where the clock itself comes near; even then half of what is left is used.
    pub fn without(self, margin: Duration) -> Duration {
        match self {
            Self::Fixed(time) => time.saturating_sub(margin),
            Self::Share { share, left } => share.min(left.saturating_sub(margin).max(left / 2)),
        }
    }
}

/// An argument of `level` that is not a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("level: {name}: {text:?} is not a number")]
pub struct LevelError {
    /// The argument.
    pub name: &'static str,
    /// What was given.
    pub text: String,
}

/// Limits of the next searches. Without any a search ends by the settings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Level {
    /// Plies of the best line.
    pub depth: Option<usize>,
    /// Simulations.
    pub nodes: Option<u32>,
    /// Time for the move.
    pub time: Option<MoveTime>,
    /// Whether the search ends only when it is told to.
    pub is_infinite: bool,
}

impl Level {
    /// Reads the arguments of `level`.
    ///
    /// # Errors
    /// [`LevelError`] naming the argument.
    pub fn parse(line: &HubLine) -> Result<Self, LevelError> {
        let bounded = |value: f64| if value.is_nan() { 0.0 } else { value.clamp(0.0, SECONDS_MAX) };
        let seconds = |name| number(line, name).map(|value| value.map(bounded));
        let move_time = seconds("move-time")?.map(|time| MoveTime::Fixed(Duration::from_secs_f64(time)));
        let clock_time = match (seconds("time")?, seconds("inc")?, number(line, "moves")?) {
            (None, None, _) => None,
            (time, increment, moves) => Some(share(time.unwrap_or(0.0), increment.unwrap_or(0.0), moves)),
        };
        Ok(Self {
            depth: number(line, "depth")?,
            nodes: number(line, "nodes")?,
            time: move_time.or(clock_time),
            is_infinite: line.has("infinite"),
        })
    }
}

/// Returns the time for one move in seconds: an equal share of what is left, and the increment, which comes before the move.
fn share(time: f64, increment: f64, moves: Option<u32>) -> MoveTime {
    let moves = moves.map_or(MOVES_LEFT, |moves| f64::from(moves.max(1)));
    let share_max = if moves > 1.0 { SHARE_MAX } else { 1.0 };
    let left = time + increment;
    let share = (time / moves + increment).min(left * share_max);
    MoveTime::Share { share: Duration::from_secs_f64(share), left: Duration::from_secs_f64(left) }
}

fn number<T: std::str::FromStr>(line: &HubLine, name: &'static str) -> Result<Option<T>, LevelError> {
    let Some(text) = line.value(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| LevelError { name, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(text: &str) -> Level {
        Level::parse(&HubLine::parse(text)).unwrap()
    }

    fn seconds(text: &str) -> f64 {
        level(text).time.expect("a time").without(Duration::ZERO).as_secs_f64()
    }

    #[test]
    fn limits_are_read() {
        assert_eq!(level("level"), Level::default());
        assert_eq!(level("level infinite"), Level { is_infinite: true, ..Level::default() });
        assert_eq!((level("level depth=7").depth, level("level nodes=90").nodes), (Some(7), Some(90)));
        assert_eq!(seconds("level move-time=0.25"), 0.25);
        assert_eq!(seconds("level time=60"), 2.0);
        assert_eq!(seconds("level moves=10 time=60"), 6.0);
        assert_eq!(seconds("level time=0 inc=4"), 2.0);
        assert_eq!(seconds("level moves=1 time=8"), 8.0);
        assert_eq!(seconds("level time=-3"), 0.0);
        let error = Level::parse(&HubLine::parse("level nodes=many")).unwrap_err();
        assert_eq!(error.to_string(), "level: nodes: \"many\" is not a number");
        assert_eq!(seconds("level move-time=inf"), SECONDS_MAX);
        assert_eq!(seconds("level move-time=NaN"), 0.0);
    }

    #[test]
    fn a_clock_that_runs_out_still_leaves_a_search() {
        let milliseconds = |text: &str| {
            let time = level(text).time.expect("a time").without(Duration::from_millis(50));
            time.as_millis()
        };
        assert_eq!(milliseconds("level time=30"), 1000, "the margin is on the clock");
        assert_eq!(milliseconds("level time=1.2"), 40);
        assert_eq!(milliseconds("level moves=1 time=1"), 950);
        assert_eq!(milliseconds("level moves=1 time=0.06"), 30);
        assert_eq!(milliseconds("level move-time=0.3"), 250);
    }
}
