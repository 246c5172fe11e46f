//! When a search ends, as `level` of the hub protocol says it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use super::hub_line::HubLine;
use crate::move_time::MoveTime;

/// Longest time, in seconds.
const SECONDS_MAX: f64 = 1e7;
/// Largest count.
const COUNT_MAX: u32 = u32::MAX;

/// Why an argument of `level` is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HubLevelError {
    /// Not a number.
    #[error("level: {name}: {text:?} is not a number")]
    NotANumber {
        /// The argument.
        name: &'static str,
        /// What was given.
        text: String,
    },
    /// Too small, too large, or not finite.
    #[error("level: {name}: {text:?} is not in {least}..={most}")]
    Range {
        /// The argument.
        name: &'static str,
        /// What was given.
        text: String,
        /// The least number.
        least: String,
        /// The greatest number.
        most: String,
    },
}

/// Limits of the next searches. Without any a search ends by the settings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HubLevel {
    /// Plies of the best line.
    pub depth: Option<usize>,
    /// Simulations.
    pub nodes: Option<u32>,
    /// Time for the move.
    pub time: Option<MoveTime>,
    /// Whether the search ends only when it is told to.
    pub is_infinite: bool,
}

impl HubLevel {
    /// Reads the arguments of `level`.
    ///
    /// # Errors
    /// [`HubLevelError`] naming the argument.
    pub fn parse(line: &HubLine) -> Result<Self, HubLevelError> {
        let seconds = |name| number(line, name, 0.0..=SECONDS_MAX);
        let move_time = seconds("move-time")?.map(|time| MoveTime::Fixed(Duration::from_secs_f64(time)));
        // Managers that are lenient with an engine that is late send what the clock shows: less than 0.
        let clock = number(line, "time", -SECONDS_MAX..=SECONDS_MAX)?.map(|time| time.max(0.0));
        let clock_time = match (clock, seconds("inc")?, count(line, "moves")?) {
            (None, None, _) => None,
            (time, increment, moves) => Some(MoveTime::share(time.unwrap_or(0.0), increment.unwrap_or(0.0), moves)),
        };
        Ok(Self {
            depth: count(line, "depth")?.map(|depth| depth as usize),
            nodes: count(line, "nodes")?,
            time: move_time.or(clock_time),
            is_infinite: line.has("infinite"),
        })
    }
}

fn count(line: &HubLine, name: &'static str) -> Result<Option<u32>, HubLevelError> {
    let count = number(line, name, 1..=i128::from(COUNT_MAX))?;
    Ok(count.map(|count| u32::try_from(count).unwrap_or(COUNT_MAX)))
}

fn number<T: FromStr + PartialOrd + Display>(
    line: &HubLine,
    name: &'static str,
    range: RangeInclusive<T>,
) -> Result<Option<T>, HubLevelError> {
    let Some(text) = line.value(name) else { return Ok(None) };
    let value = text.parse().map_err(|_| HubLevelError::NotANumber { name, text: text.to_owned() })?;
    if range.contains(&value) {
        return Ok(Some(value));
    }
    let [least, most] = [range.start(), range.end()].map(T::to_string);
    Err(HubLevelError::Range { name, text: text.to_owned(), least, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(text: &str) -> HubLevel {
        HubLevel::parse(&HubLine::parse(text)).unwrap()
    }

    fn seconds(text: &str) -> f64 {
        level(text).time.expect("a time").without(Duration::ZERO).as_secs_f64()
    }

    #[test]
    fn limits_are_read() {
        assert_eq!(level("level"), HubLevel::default());
        assert_eq!(level("level infinite"), HubLevel { is_infinite: true, ..HubLevel::default() });
        assert_eq!((level("level depth=7").depth, level("level nodes=90").nodes), (Some(7), Some(90)));
        assert_eq!(seconds("level move-time=0.25"), 0.25);
        assert_eq!(seconds("level time=60"), 2.0);
        assert_eq!(seconds("level moves=10 time=60"), 6.0);
        assert_eq!(seconds("level time=0 inc=4"), 2.0);
        assert_eq!(seconds("level moves=1 time=8"), 8.0);
        assert_eq!(seconds("level time=-3"), 0.0);
        assert_eq!(level("level soon foo=1"), HubLevel::default(), "arguments that nobody knows are passed over");
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        for (argument, reason) in [
            ("nodes=many", "is not a number"),
            ("nodes=", "is not a number"),
            ("nodes=0", "is not in 1..=4294967295"),
            ("nodes=-1", "is not in 1..=4294967295"),
            ("nodes=5000000000", "is not in 1..=4294967295"),
            ("depth=0", "is not in 1..=4294967295"),
            ("moves=0", "is not in 1..=4294967295"),
            ("move-time=nan", "is not in 0..=10000000"),
            ("move-time=inf", "is not in 0..=10000000"),
            ("move-time=-1", "is not in 0..=10000000"),
            ("inc=-1", "is not in 0..=10000000"),
            ("inc=1e300", "is not in 0..=10000000"),
            ("time=NaN", "is not in -10000000..=10000000"),
            ("time=-inf", "is not in -10000000..=10000000"),
            ("time=1e8", "is not in -10000000..=10000000"),
        ] {
            let (name, text) = argument.split_once('=').unwrap();
            let error = HubLevel::parse(&HubLine::parse(&format!("level {argument} time=60"))).expect_err(argument);
            assert_eq!(error.to_string(), format!("level: {name}: {text:?} {reason}"));
        }
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
