//! How far the run is at one moment: what the log line, the bar, the status, the metrics and the TensorBoard files are all
//! made of.

use std::time::{Duration, Instant};

use inference::InferenceCounts;
use registry::{GameProgress, GateReport};
use shared::gate::GateScore;
use store::{GameStatistics, IterationCost};

use crate::trainer::MeanLosses;

/// How far the run is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProgressSnapshot {
    /// The iteration under way.
    pub iteration: u32,
    /// How far its phase is.
    pub phase: PhaseProgress,
    /// How long the phase will take at its rate so far; `None` before anything of it is done.
    pub time_to_go: Option<Duration>,
    /// What is awaited.
    pub waiting_for: &'static str,
    /// Leaves answered, and how full batches were, over the last interval.
    pub rates: InferenceRates,
    /// Positions that can be sampled.
    pub position_count: u64,
    /// How far the games are.
    pub games: GameProgress,
    /// Training steps behind the network in training, or the candidate.
    pub training_step: u64,
    /// The newest losses, `None` before the first of this process.
    pub losses: Option<MeanLosses>,
    /// The gate under way, else the last one of this process.
    pub gate: Option<GateReport>,
    /// What the whole run took, as far as it is in the store.
    pub totals: RunEffort,
    /// Score of the newest generations against network 1, `None` before it was looked at.
    pub yardstick: Option<GateScore>,
}

/// What a run took since it began, restarts included, as far as it is in the store.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct RunEffort {
    /// What it cost, `None` if unknown.
    pub cost: Option<IterationCost>,
    /// Positions of the self-play games of its iterations.
    pub position_count: u64,
    /// How long learners were at work on it.
    pub work_time: Duration,
}

impl RunEffort {
    /// Returns how often a position was learned from on average; `None` before there is one, or if that is unknown.
    pub(crate) fn uses_per_position(&self) -> Option<f64> {
        let samples = self.cost?.training_sample_count;
        (self.position_count > 0).then(|| samples as f64 / self.position_count as f64)
    }
}

/// How far a phase of an iteration is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PhaseProgress {
    /// Games are awaited.
    SelfPlay {
        /// Those of the iteration that have finished.
        games: GameStatistics,
        /// Games that make an iteration.
        needed: u64,
    },
    /// The candidate trains.
    Training {
        /// Steps behind it.
        training_step: u64,
        /// Steps behind the network that it began as.
        step_start: u64,
        /// Steps when it is done.
        step_end: u64,
    },
    /// The candidate plays the best network.
    Gate(GateReport),
}

impl PhaseProgress {
    /// The names of all phases, in their order.
    pub(crate) const NAMES: [&'static str; 3] = ["self-play", "training", "gate"];

    /// Returns its name.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::SelfPlay { .. } => Self::NAMES[0],
            Self::Training { .. } => Self::NAMES[1],
            Self::Gate(_) => Self::NAMES[2],
        }
    }

    /// Returns the games or steps that are done.
    pub(crate) fn done(&self) -> u64 {
        match self {
            Self::SelfPlay { games, .. } => games.game_count,
            Self::Training { training_step, step_start, .. } => training_step.saturating_sub(*step_start),
            Self::Gate(report) => u64::from(report.score.game_count()),
        }
    }

    /// Returns the games or steps that make the phase.
    pub(crate) fn total(&self) -> u64 {
        match self {
            Self::SelfPlay { needed, .. } => *needed,
            Self::Training { step_start, step_end, .. } => step_end.saturating_sub(*step_start),
            Self::Gate(report) => u64::from(report.settings.game_count),
        }
    }
}

/// How fast leaves are answered.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct InferenceRates {
    /// Leaves a second.
    pub evaluations_per_second: f64,
    /// Leaves a batch as a share of the most that fit, 0..=1.
    pub batch_fill: f64,
    /// Share of the time in which the device computed at least one batch, 0..=1.
    pub device_busy: f64,
    /// Leaves as a share of what was computed, 0..=1: padding counts as empty.
    pub device_fill: f64,
}

impl InferenceRates {
    /// Returns the rates between two counts.
    pub(crate) fn between(before: &InferenceCounts, now: &InferenceCounts, elapsed: Duration, batch_max: u32) -> Self {
        let evaluations = (now.evaluation_count - before.evaluation_count) as f64;
        let computed = now.computed_leaf_count - before.computed_leaf_count;
        let busy_us = now.device_busy_us.saturating_sub(before.device_busy_us);
        let here = evaluations - (now.remote_evaluation_count - before.remote_evaluation_count) as f64;
        let leaves_max = (now.batch_count - before.batch_count) * u64::from(batch_max);
        Self {
            evaluations_per_second: evaluations / elapsed.as_secs_f64(),
            batch_fill: here / leaves_max.max(1) as f64,
            device_busy: (busy_us as f64 / elapsed.as_micros().max(1) as f64).min(1.0),
            // Counters are read one after the other: a batch may be in one of them alone.
            device_fill: (evaluations / computed.max(1) as f64).min(1.0),
        }
    }
}

/// When a phase began and how far it was then: after a restart, its rate counts only what was done since.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PhaseStart {
    at: Instant,
    done: Option<u64>,
}

impl PhaseStart {
    /// Returns the start of a phase that begins now.
    pub(crate) fn now() -> Self {
        Self { at: Instant::now(), done: None }
    }

    /// Returns how long the phase will take at its rate so far; `None` before anything of it is done.
    pub(crate) fn time_to_go(&mut self, phase: &PhaseProgress) -> Option<Duration> {
        let done_at_start = *self.done.get_or_insert(phase.done());
        let left = phase.total().saturating_sub(phase.done());
        time_to_go(phase.done().saturating_sub(done_at_start), left, self.at.elapsed())
    }
}

/// Returns how long `left` more will take, judging by `done` in `elapsed`.
fn time_to_go(done: u64, left: u64, elapsed: Duration) -> Option<Duration> {
    let seconds = elapsed.as_secs_f64() / done as f64 * left as f64;
    (done > 0).then(|| Duration::from_secs_f64(seconds.min(1e9).round()))
}

/// Writes a time to go with two units at most: `30s`, `1m40s`, `2h30m`.
pub(crate) fn format_time_to_go(time: Option<Duration>) -> String {
    match time.map(|time| time.as_secs()) {
        None => "unknown".to_owned(),
        Some(seconds @ 0..60) => format!("{seconds}s"),
        Some(seconds @ 60..3600) => format!("{}m{:02}s", seconds / 60, seconds % 60),
        Some(seconds) => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_tell_the_devices_busy_share_and_what_padding_leaves_empty() {
        let before = InferenceCounts { evaluation_count: 100, computed_leaf_count: 128, ..InferenceCounts::default() };
        let now = InferenceCounts {
            evaluation_count: 400,
            batch_count: 4,
            computed_leaf_count: 528,
            device_busy_us: 3_000_000,
            ..before
        };
        let rates = InferenceRates::between(&before, &now, Duration::from_secs(4), 1024);
        assert_eq!((rates.device_busy, rates.device_fill), (0.75, 0.75));
        assert_eq!(InferenceRates::between(&now, &now, Duration::from_secs(4), 1024).device_busy, 0.0);
    }

    #[test]
    fn the_time_to_go_follows_the_rate() {
        let to_go = |done, left| format_time_to_go(time_to_go(done, left, Duration::from_secs(60)));
        assert_eq!(to_go(0, 10), "unknown");
        assert_eq!(to_go(60, 30), "30s");
        assert_eq!(to_go(6, 10), "1m40s");
        assert_eq!(to_go(1, 150), "2h30m");
    }
}
