//! When a search ends, as `level` of the hub protocol says it.

use std::time::Duration;

use super::hub_line::HubLine;
use crate::move_time::MoveTime;

/// Longest time that counts as one.
const SECONDS_MAX: f64 = 1e7;

/// An argument of `level` that is not a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("level: {name}: {text:?} is not a number")]
pub struct HubLevelError {
    /// The argument.
    pub name: &'static str,
    /// What was given.
    pub text: String,
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
        let bounded = |value: f64| if value.is_nan() { 0.0 } else { value.clamp(0.0, SECONDS_MAX) };
        let seconds = |name| number(line, name).map(|value| value.map(bounded));
        let move_time = seconds("move-time")?.map(|time| MoveTime::Fixed(Duration::from_secs_f64(time)));
        let clock_time = match (seconds("time")?, seconds("inc")?, number(line, "moves")?) {
            (None, None, _) => None,
            (time, increment, moves) => Some(MoveTime::share(time.unwrap_or(0.0), increment.unwrap_or(0.0), moves)),
        };
        Ok(Self {
            depth: number(line, "depth")?,
            nodes: number(line, "nodes")?,
            time: move_time.or(clock_time),
            is_infinite: line.has("infinite"),
        })
    }
}

fn number<T: std::str::FromStr>(line: &HubLine, name: &'static str) -> Result<Option<T>, HubLevelError> {
    let Some(text) = line.value(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| HubLevelError { name, text: text.to_owned() })
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
        let error = HubLevel::parse(&HubLine::parse("level nodes=many")).unwrap_err();
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
