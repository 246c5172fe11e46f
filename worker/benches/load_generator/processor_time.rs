//! Processor time of the threads of this process, by name. Linux alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What the kernel counts in: `USER_HZ`, 100 a second on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// Processor time of each thread that lives, by its number, with its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProcessorTimes(BTreeMap<u32, (String, Duration)>);

impl ProcessorTimes {
    /// Returns the times of all threads but the calling one.
    ///
    /// # Panics
    /// Where there is no `/proc`.
    pub fn of_others() -> Self {
        let own = std::fs::read_link("/proc/thread-self").expect("Linux says which thread this is");
        let own = own.file_name().map(ToOwned::to_owned);
        let threads = std::fs::read_dir("/proc/self/task").expect("Linux lists the threads");
        let others = threads.flatten().filter(|thread| Some(thread.file_name()) != own);
        Self(others.filter_map(|thread| read(&thread.path())).collect())
    }

    /// Returns what each group of threads has used since `earlier`, most first: numbered threads count together.
    pub fn since(&self, earlier: &Self) -> Vec<(String, Duration)> {
        let mut groups = BTreeMap::<&str, Duration>::new();
        for (number, (name, time)) in &self.0 {
            let before = earlier.0.get(number).map_or(Duration::ZERO, |(_, time)| *time);
            let group = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
            *groups.entry(group).or_default() += time.saturating_sub(before);
        }
        let mut groups: Vec<_> = groups.into_iter().map(|(name, time)| (name.to_owned(), time)).collect();
        groups.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        groups
    }
}

/// Returns number, name, and user and system time of a thread; `None` if it has ended meanwhile.
fn read(folder: &Path) -> Option<(u32, (String, Duration))> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    // The name stands in brackets and may hold anything.
    let (head, rest) = stat.rsplit_once(") ")?;
    let (number, name) = head.split_once(" (")?;
    let mut fields = rest.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    let time = TICK * (ticks()? + ticks()?);
    Some((number.parse().ok()?, (name.to_owned(), time)))
}
