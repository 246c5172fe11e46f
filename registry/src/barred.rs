//! Workers that get no more games of gates and yardsticks, and for how long. Nothing here reads a clock.

use std::collections::BTreeMap;
use std::time::Instant;

/// How long a worker whose gate games do not count gets no more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bar {
    /// Until the learner is started again: its own plies show that it does not search.
    UntilRestart,
    /// For [`RegistryLimits::pause`](crate::RegistryLimits::pause): its plies show that only together with those of other
    /// names, so it may be one that searches.
    Pause,
}

/// When a bar ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BarEnd {
    At(Instant),
    Restart,
}

impl BarEnd {
    fn is_after(self, now: Instant) -> bool {
        self > Self::At(now)
    }
}

/// The workers that are barred.
#[derive(Debug, Default)]
pub(super) struct BarredWorkers(BTreeMap<String, BarEnd>);

impl BarredWorkers {
    /// Bars a worker, at least until `end`. Forgets those whose time is over: names cost nothing.
    pub(super) fn bar(&mut self, worker_id: &str, end: BarEnd, now: Instant) {
        self.0.retain(|_, end| end.is_after(now));
        let known = self.0.entry(worker_id.to_owned()).or_insert(end);
        *known = end.max(*known);
    }

    /// Returns when the bar of a worker ends; `None` if it may play.
    pub(super) fn end_for(&self, worker_id: &str, now: Instant) -> Option<BarEnd> {
        self.0.get(worker_id).copied().filter(|end| end.is_after(now))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_longer_bar_counts_and_one_that_is_over_is_forgotten() {
        let (mut barred, start) = (BarredWorkers::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        barred.bar("a", BarEnd::At(at(10)), start);
        barred.bar("a", BarEnd::At(at(5)), start);
        assert_eq!((barred.end_for("a", at(9)), barred.end_for("a", at(10))), (Some(BarEnd::At(at(10))), None));
        barred.bar("b", BarEnd::Restart, at(10));
        barred.bar("b", BarEnd::At(at(20)), at(10));
        assert_eq!(barred.end_for("b", at(1_000_000)), Some(BarEnd::Restart));
        assert_eq!((barred.0.len(), barred.end_for("c", start)), (1, None));
    }
}
