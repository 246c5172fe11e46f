//! Which backups stay: all of the last hour, the last of each hour for a day, the last of each day after that.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use super::BackupTime;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the backups that need not be kept. The newest is always kept.
///
/// Hours and days are those of the clock (UTC), so that what was kept once is kept as long as its day counts, whenever
/// and however often old backups are thinned out.
#[must_use]
pub fn superfluous(backups: &[BackupTime], now: SystemTime, keep_days: u32) -> Vec<BackupTime> {
    let mut newest_first = backups.to_vec();
    newest_first.sort_unstable_by(|a, b| b.cmp(a));
    let (mut hours, mut days) = (HashSet::new(), HashSet::new());
    let mut is_newest = true;
    newest_first.retain(|backup| {
        // One of the future, by a clock that was wrong, is new.
        let age = now.duration_since(backup.get()).unwrap_or_default();
        let is_last_of_hour = hours.insert(number_of(*backup, HOUR));
        let is_last_of_day = days.insert(number_of(*backup, DAY));
        let is_kept =
            is_newest || age <= HOUR || (age <= DAY && is_last_of_hour) || (age <= DAY * keep_days && is_last_of_day);
        is_newest = false;
        !is_kept
    });
    newest_first
}

/// Returns the number of the hour or day that a backup was made in.
fn number_of(backup: BackupTime, length: Duration) -> u64 {
    backup.get().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / length.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> SystemTime {
        humantime::parse_rfc3339_weak(text).unwrap()
    }

    fn backups(texts: &[&str]) -> Vec<BackupTime> {
        texts.iter().map(|text| BackupTime::after(None, time(text))).collect()
    }

    #[test]
    fn the_rule_of_thinning() {
        let now = time("2026-06-20 12:30:00");
        let table: &[(&str, u32, &[&str], &[&str])] = &[
            ("nothing", 30, &[], &[]),
            (
                "all of the last hour",
                30,
                &["2026-06-20 12:29:00", "2026-06-20 12:28:00", "2026-06-20 11:31:00", "2026-06-20 11:30:00"],
                &[],
            ),
            (
                "the last of each hour for a day",
                30,
                &["2026-06-20 12:00:00", "2026-06-20 10:10:00", "2026-06-20 10:50:00", "2026-06-20 09:10:00"],
                &["2026-06-20 10:10:00"],
            ),
            (
                "the last of each day after that",
                30,
                &["2026-06-20 12:00:00", "2026-06-18 03:00:00", "2026-06-18 21:00:00", "2026-06-17 01:00:00"],
                &["2026-06-18 03:00:00"],
            ),
            (
                "no longer than so many days",
                2,
                &["2026-06-20 12:00:00", "2026-06-18 03:00:00"],
                &["2026-06-18 03:00:00"],
            ),
            (
                "no days at all",
                0,
                &["2026-06-20 12:00:00", "2026-06-19 13:00:00", "2026-06-19 11:00:00"],
                &["2026-06-19 11:00:00"],
            ),
            ("the newest, however old", 0, &["2020-01-01 00:00:00", "2020-01-02 00:00:00"], &["2020-01-01 00:00:00"]),
            ("those of a clock that was ahead", 0, &["2027-01-01 00:00:00", "2027-01-01 00:00:01"], &[]),
        ];
        for (what, keep_days, all, expected) in table {
            let found = superfluous(&backups(all), now, *keep_days);
            assert_eq!(found, backups(expected), "{what}");
        }
    }

    #[test]
    fn thinned_every_ten_minutes_for_a_month_few_are_left() {
        let start = time("2026-06-01 00:00:00");
        let mut kept: Vec<BackupTime> = Vec::new();
        for minutes in (0..30 * 24 * 60).step_by(10) {
            let now = start + Duration::from_secs(minutes * 60);
            kept.push(BackupTime::after(kept.last().copied(), now));
            let gone = superfluous(&kept, now, 30);
            kept.retain(|backup| !gone.contains(backup));
        }
        // 7 of the last hour, 23 or 24 more of the last day, 29 more days.
        assert!((58..=61).contains(&kept.len()), "{}", kept.len());
        assert_eq!(kept[0].name(), "2026-06-01T23-50-00.000Z", "the last of the first day");
    }
}
