//! Values of flags that are checked by a range while the command line is read.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;

/// Why a text is not a possible time.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TimeFlagError {
    /// Not a number with a unit.
    #[error(transparent)]
    Unit(#[from] humantime::DurationError),
    /// Not a number of seconds.
    #[error("not a number of seconds")]
    Seconds,
    /// Below or above what is possible.
    #[error(
        "not in {}..={}",
        humantime::format_duration(*.0.start()),
        humantime::format_duration(*.0.end())
    )]
    Range(RangeInclusive<Duration>),
}

/// Reads a whole number in `range`.
#[must_use]
pub fn number_in<T>(range: RangeInclusive<T>) -> RangedU64ValueParser<T>
where
    T: TryFrom<u64> + TryInto<u64> + Copy + Send + Sync + 'static,
{
    let [least, most] = [*range.start(), *range.end()].map(|bound| bound.try_into().unwrap_or(0));
    RangedU64ValueParser::new().range(least..=most)
}

/// Reads a time in `range`, such as `500ms` or `2m`.
pub fn time_in(range: RangeInclusive<Duration>) -> impl Fn(&str) -> Result<Duration, TimeFlagError> + Clone {
    move |text| check(humantime::parse_duration(text)?, &range)
}

/// Reads a number of seconds, fractions included, that makes a time in `range`.
pub fn seconds_in(range: RangeInclusive<Duration>) -> impl Fn(&str) -> Result<Duration, TimeFlagError> + Clone {
    move |text| {
        let seconds = text.parse().map_err(|_| TimeFlagError::Seconds)?;
        let time = Duration::try_from_secs_f64(seconds).map_err(|_| TimeFlagError::Range(range.clone()))?;
        check(time, &range)
    }
}

fn check(time: Duration, range: &RangeInclusive<Duration>) -> Result<Duration, TimeFlagError> {
    if range.contains(&time) { Ok(time) } else { Err(TimeFlagError::Range(range.clone())) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    const TIMES: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(60);

    #[derive(Debug, Parser)]
    struct Flags {
        #[arg(long, value_parser = number_in(2_u32..=100))]
        count: Option<u32>,
        #[arg(long, value_parser = time_in(TIMES))]
        time: Option<Duration>,
        #[arg(long, value_parser = seconds_in(TIMES))]
        seconds: Option<Duration>,
    }

    fn problem(flag: &str) -> String {
        Flags::try_parse_from(["program", flag]).expect_err(flag).to_string()
    }

    #[test]
    fn values_in_their_ranges_are_read() {
        let flags = ["program", "--count=100", "--time=2s", "--seconds=0.5"];
        let Flags { count, time, seconds } = Flags::try_parse_from(flags).unwrap();
        assert_eq!(count, Some(100));
        assert_eq!([time, seconds], [Some(Duration::from_secs(2)), Some(Duration::from_millis(500))]);
    }

    #[test]
    fn values_out_of_range_are_refused_with_the_range() {
        for flag in ["--count=1", "--count=101", "--count=-1"] {
            assert!(problem(flag).contains("invalid value"), "{flag}");
        }
        assert!(problem("--count=101").contains("101 is not in 2..=100"), "{}", problem("--count=101"));
        for flag in ["--time=2m", "--time=0s", "--seconds=61", "--seconds=-1", "--seconds=1e300", "--seconds=NaN"] {
            assert!(problem(flag).contains("not in 1ms..=1m"), "{}", problem(flag));
        }
        assert!(problem("--seconds=x").contains("not a number of seconds"));
        assert!(problem("--time=5").contains("time unit needed"), "{}", problem("--time=5"));
    }
}
