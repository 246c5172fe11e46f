//! What is wrong with a setting, and the ranges that settings are checked by.
//!
//! A check names the key as its own struct does (`exploration`); whoever holds that struct puts the section before it
//! ([`SettingError::under`]), so that a user reads the full path: `self_play.search.exploration`.

use std::fmt::{self, Display};
use std::ops::{Bound, RangeBounds};

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct SettingError {
    /// Path of the key, its segments joined by dots.
    pub key: String,
    /// What is wrong with its value.
    pub problem: String,
}

impl SettingError {
    /// Makes the error of one key.
    pub fn new(key: impl Into<String>, problem: impl Display) -> Self {
        Self { key: key.into(), problem: problem.to_string() }
    }

    /// Returns the same error with `section` before the key.
    #[must_use]
    pub fn under(self, section: &str) -> Self {
        Self { key: format!("{section}.{}", self.key), ..self }
    }
}

/// Checks that a number is in its range. NaN is in none.
///
/// ```
/// use shared::setting::check_range;
///
/// assert!(check_range("batch_size", 512, 1..=65_536).is_ok());
/// let error = check_range("temperature", -1.0, 0.0..=100.0).unwrap_err();
/// assert_eq!(error.to_string(), "temperature: -1 is not in 0..=100");
/// ```
///
/// # Errors
/// [`SettingError`] with `key`, if it is not.
pub fn check_range<T: PartialOrd + Display>(
    key: &str,
    value: T,
    range: impl RangeBounds<T>,
) -> Result<(), SettingError> {
    if range.contains(&value) { Ok(()) } else { Err(SettingError::new(key, OutOfRange { value, range })) }
}

/// Checks a condition other than a range.
///
/// # Errors
/// [`SettingError`] with `key` and `problem`, unless `is_fine`.
pub fn check_that<P: Display>(key: &str, is_fine: bool, problem: impl FnOnce() -> P) -> Result<(), SettingError> {
    if is_fine { Ok(()) } else { Err(SettingError::new(key, problem())) }
}

struct OutOfRange<T, R> {
    value: T,
    range: R,
}

impl<T: Display, R: RangeBounds<T>> Display for OutOfRange<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Bound::{Excluded, Included, Unbounded};
        let value = &self.value;
        match (self.range.start_bound(), self.range.end_bound()) {
            (Included(least), Included(most)) => write!(f, "{value} is not in {least}..={most}"),
            (Included(least), Excluded(end)) => write!(f, "{value} is not in {least}..{end}"),
            (Excluded(start), Included(most)) => write!(f, "{value} is not above {start} and at most {most}"),
            (Excluded(start), Excluded(end)) => write!(f, "{value} is not above {start} and below {end}"),
            (Included(least), Unbounded) => write!(f, "{value} is below {least}"),
            (Excluded(start), Unbounded) => write!(f, "{value} is not above {start}"),
            (Unbounded, Included(most)) => write!(f, "{value} is above {most}"),
            (Unbounded, Excluded(end)) => write!(f, "{value} is not below {end}"),
            (Unbounded, Unbounded) => write!(f, "{value} is not a number"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Included};

    use super::*;

    #[test]
    fn a_number_out_of_range_is_named_with_its_range() {
        let problem = |checked: Result<(), SettingError>| checked.expect_err("out of range").to_string();
        assert_eq!(problem(check_range("count", 0, 1..)), "count: 0 is below 1");
        assert_eq!(problem(check_range("share", f64::NAN, 0.0..=1.0)), "share: NaN is not in 0..=1");
        assert_eq!(problem(check_range("momentum", 1.0, 0.0..1.0)), "momentum: 1 is not in 0..1");
        let score = (Excluded(0.0), Included(1.0));
        assert_eq!(problem(check_range("score", 0.0, score)), "score: 0 is not above 0 and at most 1");
        let share = (Excluded(0.0), Excluded(1.0));
        assert_eq!(problem(check_range("share", 1.0, share)), "share: 1 is not above 0 and below 1");
        assert_eq!(problem(check_range("share", 0.0, share)), "share: 0 is not above 0 and below 1");
        assert_eq!(check_range("share", 0.5, share), Ok(()));
    }

    #[test]
    fn sections_stand_before_the_key() {
        let error = SettingError::new("exploration", "no").under("search").under("self_play");
        assert_eq!(error.to_string(), "self_play.search.exploration: no");
    }
}
