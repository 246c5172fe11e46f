//! One line an hour for whoever reads the log of weeks: what the run did in that time, where it is, and what it has cost.

use std::time::{Duration, Instant};

use tracing::info;

use super::run_observer::RunObservation;
use super::snapshot::format_time_to_go;
use crate::numbers::{disk_words, round};

/// Operations of a PFLOP.
const PFLOP: f64 = 1e15;

/// Sums up a run, interval by interval. Time is passed in.
#[derive(Debug)]
pub(crate) struct RunSummaries {
    /// 0: never.
    interval: Duration,
    /// What there was at the last summary, or at the first look.
    last: Option<Tally>,
}

/// What is counted, at one moment.
#[derive(Debug, Clone, Copy)]
struct Tally {
    at: Instant,
    game_count: u64,
    gate_game_count: u64,
    ply_count: u64,
    evaluation_count: u64,
    /// `None` before the pipeline has said it.
    iteration: Option<u32>,
    generation: u32,
}

/// What a run did in an interval, and where it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunSummary {
    interval: Duration,
    games: u64,
    gate_games: u64,
    plies: u64,
    evaluations_per_second: f64,
    /// Iterations that ended.
    iterations: u32,
    promotions: u32,
    policy_loss: Option<f64>,
    value_loss: Option<f64>,
    /// Score of the newest generations against network 1, as Elo with its interval.
    yardstick_elo: Option<String>,
    disk: Option<String>,
    /// How long learners were at work on the run since it began.
    work_time: Option<Duration>,
    /// What it cost since then.
    run_pflop: Option<f64>,
    run_cost: Option<f64>,
}

impl RunSummaries {
    /// Sums up once in so long; 0: never.
    pub(crate) const fn new(interval: Duration) -> Self {
        Self { interval, last: None }
    }

    /// Logs a summary if one is due.
    pub(super) fn look(&mut self, observation: &RunObservation, now: Instant) {
        if let Some(summary) = self.due(observation, now) {
            summary.log();
        }
    }

    /// Returns the summary that is due; the next one begins here.
    fn due(&mut self, observation: &RunObservation, now: Instant) -> Option<RunSummary> {
        let tally = Tally::of(observation, now);
        let last = *self.last.get_or_insert(tally);
        let is_due = !self.interval.is_zero() && now.saturating_duration_since(last.at) >= self.interval;
        is_due.then(|| {
            self.last = Some(tally);
            RunSummary::between(&last, &tally, observation)
        })
    }
}

impl Tally {
    fn of(observation: &RunObservation, at: Instant) -> Self {
        let counters = &observation.games.counters;
        Self {
            at,
            game_count: counters.self_play.game_count,
            gate_game_count: counters.gate.game_count,
            ply_count: counters.accepted_ply_count,
            evaluation_count: observation.inference.evaluation_count,
            iteration: observation.progress.as_ref().map(|progress| progress.iteration),
            generation: observation.best.generation.get(),
        }
    }
}

impl RunSummary {
    fn between(before: &Tally, now: &Tally, observation: &RunObservation) -> Self {
        let interval = now.at.saturating_duration_since(before.at);
        let evaluations = now.evaluation_count.saturating_sub(before.evaluation_count);
        let progress = observation.progress.as_deref();
        let losses = progress.and_then(|progress| progress.losses.as_ref()).map(|losses| losses.means);
        let totals = progress.map(|progress| progress.totals);
        let elo =
            progress.and_then(|progress| progress.yardstick).filter(|score| score.game_count() > 0).map(|score| {
                let interval = score.elo_interval();
                format!("{:+.0} ({:+.0}..{:+.0})", score.elo_difference(), interval.low, interval.high)
            });
        let iterations = now.iteration.zip(before.iteration).map_or(0, |(now, before)| now.saturating_sub(before));
        Self {
            interval,
            games: now.game_count.saturating_sub(before.game_count),
            gate_games: now.gate_game_count.saturating_sub(before.gate_game_count),
            plies: now.ply_count.saturating_sub(before.ply_count),
            evaluations_per_second: (evaluations as f64 / interval.as_secs_f64()).round(),
            iterations,
            promotions: now.generation.saturating_sub(before.generation),
            policy_loss: losses.map(|means| round(means.policy_loss)),
            value_loss: losses.map(|means| round(means.value_loss)),
            yardstick_elo: elo,
            disk: observation.disk_free_bytes.map(|bytes| disk_words(bytes, observation.disk_full_in)),
            work_time: totals.map(|totals| totals.work_time),
            run_pflop: totals.and_then(|totals| totals.cost).map(|cost| round(cost.flop / PFLOP)),
            run_cost: observation.money().map(|money| (money * 100.0).round() / 100.0),
        }
    }

    fn log(&self) {
        info!(
            interval = format_time_to_go(Some(self.interval)),
            games = self.games,
            gate_games = self.gate_games,
            plies = self.plies,
            evaluations_per_second = self.evaluations_per_second,
            iterations = self.iterations,
            promotions = self.promotions,
            policy_loss = self.policy_loss,
            value_loss = self.value_loss,
            yardstick_elo = self.yardstick_elo,
            disk = self.disk,
            work_time = self.work_time.map(|time| format_time_to_go(Some(time))),
            run_pflop = self.run_pflop,
            run_cost = self.run_cost,
            "summary"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use shared::ids::Generation;

    use super::super::run_observer::tests::{observation, snapshot};
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    /// The observation after so many minutes of a run that does the same in each.
    fn after(minutes: u32) -> RunObservation {
        let (mut observation, mut progress) = (observation(), snapshot());
        observation.games.counters.self_play.game_count += u64::from(2 * minutes);
        observation.games.counters.gate.game_count += u64::from(minutes / 2);
        observation.games.counters.accepted_ply_count += u64::from(100 * minutes);
        observation.inference.evaluation_count += u64::from(60_000 * minutes);
        observation.best.generation = Generation::new(2 + minutes / 50);
        progress.iteration += minutes / 20;
        observation.progress = Some(Arc::new(progress));
        observation
    }

    #[test]
    fn an_hour_is_summed_up_once_and_the_next_one_from_there() {
        let (mut summaries, start) = (RunSummaries::new(HOUR), Instant::now());
        let mut found = Vec::new();
        for minutes in 0..=130 {
            let now = start + minutes * Duration::from_secs(60);
            found.extend(summaries.due(&after(minutes), now).map(|summary| (minutes, summary)));
        }
        let expected = |promotions| RunSummary {
            interval: HOUR,
            games: 120,
            gate_games: 30,
            plies: 6000,
            evaluations_per_second: 1000.0,
            iterations: 3,
            promotions,
            policy_loss: Some(2.5),
            value_loss: Some(0.75),
            yardstick_elo: found[0].1.yardstick_elo.clone(),
            disk: Some("5.0 GiB free, full in 12 days".into()),
            work_time: Some(2 * HOUR),
            run_pflop: Some(5.0),
            run_cost: Some(1.0),
        };
        assert_eq!(found, [(60, expected(1)), (120, expected(1))]);
        let elo = found[0].1.yardstick_elo.as_deref().expect("it was measured");
        assert!(elo.starts_with("+191 ("), "three of four points: {elo}");
    }

    #[test]
    fn an_interval_of_zero_is_never_over_and_what_is_not_known_is_left_out() {
        let (mut never, start) = (RunSummaries::new(Duration::ZERO), Instant::now());
        assert_eq!(never.due(&after(0), start), None);
        assert_eq!(never.due(&after(600), start + 10 * HOUR), None);
        let mut summaries = RunSummaries::new(HOUR);
        let unknown = || RunObservation { progress: None, disk_free_bytes: None, ..observation() };
        assert_eq!(summaries.due(&unknown(), start), None);
        let summary = summaries.due(&unknown(), start + HOUR).expect("due");
        assert_eq!((summary.iterations, summary.policy_loss, summary.disk, summary.run_cost), (0, None, None, None));
    }
}
