//! Numbers as log lines and tables show them.

use std::collections::BTreeMap;
use std::time::Duration;

/// Returns a share as a percentage with one digit after the point.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Returns what is known of a disk in words: `41.0 GiB free, full in 12 days`.
#[must_use]
pub fn disk_words(free_bytes: u64, full_in: Option<Duration>) -> String {
    let free = free_bytes as f64 / f64::from(1 << 30);
    let full = full_in.map_or_else(String::new, |time| format!(", full in {}", rough_time(time)));
    format!("{free:.1} GiB free{full}")
}

/// Returns a time that is known roughly: in days from two days on, in hours from two hours on, else in minutes.
#[must_use]
pub fn rough_time(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    match minutes {
        0..120 => format!("{minutes} min"),
        120..2880 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1440),
    }
}

/// Returns how many there are of each name: `Base 12, Base+MLP 30`.
#[must_use]
pub fn text_of_counts(counts: &BTreeMap<String, u64>) -> String {
    counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

/// Returns a number with four significant digits, plenty for a log line.
#[must_use]
pub fn round(value: impl Into<f64>) -> f64 {
    let value = value.into();
    let scale = 10f64.powi(3 - value.abs().max(1e-12).log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_told_in_words() {
        let words = |seconds| disk_words(41 << 30, Some(Duration::from_secs(seconds)));
        assert_eq!(words(12 * 86_400 + 80_000), "41.0 GiB free, full in 12 days");
        assert_eq!(words(2 * 86_400 - 1), "41.0 GiB free, full in 47 hours");
        assert_eq!(words(7199), "41.0 GiB free, full in 119 min");
        assert_eq!(disk_words(3 << 29, None), "1.5 GiB free");
    }
}
