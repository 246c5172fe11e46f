//! Tells people how far the run is: log lines, the status page, and always what is being waited for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use samples::buffer::SharedReplay;
use shared::encoding::Encoding;
use shared::gate::Verdict;
use std::sync::atomic::Ordering;
use tracing::info;

use crate::best::CurrentBest;
use crate::games::{GameRegistry, GateReport};
use crate::inference::InferenceHandle;
use crate::services::RunStatus;
use crate::store::{GameStatistics, IterationRow};

/// Time between two progress lines.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Watches the run and tells of it.
pub struct Narrator<E: Encoding> {
    status: Arc<RunStatus>,
    registry: Arc<GameRegistry<E>>,
    replay: Arc<SharedReplay>,
    inference: InferenceHandle,
    batch_leaf_count_max: u32,
    phase: Phase,
    shown: Shown,
    bar: ProgressBar,
}

/// When the phase began, and how far it was then: the rate of what was done since gives the time to go.
struct Phase {
    started_at: Instant,
    done_at_start: Option<u64>,
}

/// What the last line counted from.
struct Shown {
    at: Instant,
    evaluation_count: u64,
    batch_count: u64,
}

impl<E: Encoding> Narrator<E> {
    /// Makes a narrator.
    #[must_use]
    pub fn new(
        status: Arc<RunStatus>,
        registry: Arc<GameRegistry<E>>,
        replay: Arc<SharedReplay>,
        inference: InferenceHandle,
        batch_leaf_count_max: u32,
    ) -> Self {
        let now = Instant::now();
        let phase = Phase { started_at: now, done_at_start: None };
        let shown = Shown { at: now, evaluation_count: 0, batch_count: 0 };
        let bar = runtime::logging::bar();
        Self { status, registry, replay, inference, batch_leaf_count_max, phase, shown, bar }
    }

    /// Returns the number of positions that can be sampled.
    #[must_use]
    pub fn position_count(&self) -> u64 {
        self.replay.position_count()
    }

    pub(super) fn begin_phase(&mut self, iteration: &IterationRow) {
        self.phase = Phase { started_at: Instant::now(), done_at_start: None };
        let iteration = iteration.number;
        self.status.update(|shown| shown.iteration = iteration);
    }

    pub(super) fn show_self_play(&mut self, iteration: u32, games: &GameStatistics, needed: u64) {
        let is_alone = self.status.worker_count(proto::WorkerKind::Actor, Instant::now()) == 0;
        let waiting_for = match (is_alone, games.game_count >= needed) {
            (true, _) => "an actor: start `actor --learner ADDRESS`",
            (false, false) => "self-play games",
            (false, true) => "replay.position_count_min positions",
        };
        let mean_ply_count = games.mean_ply_count;
        self.show("self-play", iteration, games.game_count, needed, waiting_for, |line| {
            info!(
                phase = line.phase,
                iteration,
                done = line.done,
                total = line.total,
                eta = line.eta,
                plies_per_game = format!("{mean_ply_count:.1}"),
                evaluations_per_second = line.evaluations_per_second,
                batch_fill = line.batch_fill,
                positions = line.positions,
                waiting_for,
                "progress"
            );
        });
    }

    pub(super) fn show_training(&mut self, iteration: &IterationRow, training_step: Option<u64>, step_end: u64) {
        let Some(training_step) = training_step else { return };
        self.status.update(|shown| shown.training_step = training_step);
        let (start, number) = (iteration.training_step_start, iteration.number);
        let (done, total) = (training_step - start.min(training_step), step_end - start);
        self.show("training", number, done, total, "training steps", |line| {
            info!(
                phase = line.phase,
                iteration = number,
                done,
                total,
                eta = line.eta,
                evaluations_per_second = line.evaluations_per_second,
                positions = line.positions,
                "progress"
            );
        });
    }

    pub(super) fn show_gate(&mut self, iteration: u32, report: &GateReport) {
        let is_alone = self.status.worker_count(proto::WorkerKind::Evaluator, Instant::now()) == 0;
        let waiting_for = if is_alone { "an evaluator: start `evaluator --learner ADDRESS`" } else { "gate games" };
        let score = report.score;
        let (done, total) = (u64::from(score.game_count()), u64::from(report.settings.game_count));
        self.show("gate", iteration, done, total, waiting_for, |line| {
            info!(
                phase = line.phase,
                iteration,
                done,
                total,
                eta = line.eta,
                score = format!("{:.3}", score.score()),
                wins = score.wins,
                draws = score.draws,
                losses = score.losses,
                evaluations_per_second = line.evaluations_per_second,
                batch_fill = line.batch_fill,
                waiting_for,
                "progress"
            );
        });
    }

    /// Tells what the games of an iteration were like.
    pub(super) fn show_games(&self, iteration: u32, games: &GameStatistics) {
        let share = |count: u64| format!("{:.3}", count as f64 / games.game_count.max(1) as f64);
        info!(
            iteration,
            games = games.game_count,
            positions = games.sample_count,
            plies_per_game = format!("{:.1}", games.mean_ply_count),
            draw_share = share(games.draw_count),
            cut_off_share = share(games.cut_off_count),
            distinct_openings = games.distinct_opening_count,
            "self-play done"
        );
    }

    pub(super) fn show_verdict(&self, iteration: u32, report: &GateReport, verdict: Verdict, best: CurrentBest) {
        let (score, interval, elo) = (report.score, report.score.confidence_interval(), report.score.elo_interval());
        let message = match verdict {
            Verdict::Promoted => "promoted",
            Verdict::Rejected => "rejected",
        };
        info!(
            iteration,
            network_id = report.candidate_id.get(),
            generation = best.generation.get(),
            score = format!("{:.3}", score.score()),
            wins = score.wins,
            draws = score.draws,
            losses = score.losses,
            interval = format!("{:.3}..{:.3}", interval.low, interval.high),
            elo = format!("{:+.0} ({:+.0}..{:+.0})", score.elo_difference(), elo.low, elo.high),
            distinct_openings = format!("{} of {}", report.distinct_opening_count, report.pair_count),
            distinct_games = format!("{} of {}", report.distinct_game_count, score.game_count()),
            "{message}"
        );
        self.status.update(|shown| {
            shown.generation = best.generation.get();
            shown.best_network_id = best.network_id.get();
        });
    }

    /// Updates the status page; every now and then, makes a line and has it written.
    fn show(
        &mut self,
        phase: &'static str,
        iteration: u32,
        done: u64,
        total: u64,
        waiting_for: &str,
        write: impl FnOnce(&Line),
    ) {
        let done_at_start = *self.phase.done_at_start.get_or_insert(done);
        self.bar.set_prefix(format!("iteration {iteration} {phase}"));
        self.bar.set_length(total);
        self.bar.set_position(done.min(total));
        if self.shown.at.elapsed() < PROGRESS_INTERVAL {
            return;
        }
        let counters = self.inference.counters();
        let evaluation_count = counters.evaluation_count.load(Ordering::Relaxed);
        let batch_count = counters.batch_count.load(Ordering::Relaxed);
        let seconds = self.shown.at.elapsed().as_secs_f64();
        let evaluations = evaluation_count - self.shown.evaluation_count;
        let leaves_max = (batch_count - self.shown.batch_count) * u64::from(self.batch_leaf_count_max);
        let evaluations_per_second = evaluations as f64 / seconds;
        let batch_fill = evaluations as f64 / leaves_max.max(1) as f64;
        self.shown = Shown { at: Instant::now(), evaluation_count, batch_count };
        let eta =
            time_to_go(done - done_at_start.min(done), total.saturating_sub(done), self.phase.started_at.elapsed());
        self.bar.set_message(format!("{evaluations_per_second:.0} evaluations/s, {eta} to go"));
        let positions = self.replay.position_count();
        write(&Line {
            phase,
            done,
            total,
            eta,
            evaluations_per_second: evaluations_per_second.round(),
            batch_fill: format!("{batch_fill:.2}"),
            positions,
        });
        let progress = self.registry.progress();
        self.status.update(|shown| {
            shown.iteration = iteration;
            shown.waiting_for = waiting_for.to_owned();
            shown.evaluations_per_second = evaluations_per_second;
            shown.batch_fill = batch_fill;
            shown.replay_position_count = positions;
            shown.finished_game_count = progress.finished_self_play_count;
            shown.counters = counters_of(&progress.counters, counters);
        });
    }
}

/// What every progress line has.
struct Line {
    phase: &'static str,
    done: u64,
    total: u64,
    eta: String,
    evaluations_per_second: f64,
    batch_fill: String,
    positions: u64,
}

fn counters_of(
    games: &crate::games::Counters,
    inference: &crate::inference::InferenceCounters,
) -> std::collections::HashMap<String, u64> {
    [
        ("accepted_ply_count", games.accepted_ply_count),
        ("duplicate_ply_count", games.duplicate_ply_count),
        ("refused_ply_count", games.refused_ply_count),
        ("lease_lost_ply_count", games.lease_lost_ply_count),
        ("expired_lease_count", games.expired_lease_count),
        ("quarantined_game_count", games.quarantined_game_count),
        ("failed_write_count", games.failed_write_count),
        ("evaluation_count", inference.evaluation_count.load(Ordering::Relaxed)),
        ("batch_count", inference.batch_count.load(Ordering::Relaxed)),
        ("uniform_prior_count", inference.uniform_prior_count.load(Ordering::Relaxed)),
        ("refused_batch_count", inference.refused_batch_count.load(Ordering::Relaxed)),
    ]
    .map(|(name, count)| (name.to_owned(), count))
    .into()
}

/// Returns how long `left` more will take, judging by `done` in `elapsed`.
fn time_to_go(done: u64, left: u64, elapsed: Duration) -> String {
    if done == 0 {
        return "unknown".to_owned();
    }
    let seconds = elapsed.as_secs_f64() / done as f64 * left as f64;
    let seconds = seconds.min(1e9).round() as u64;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_go_follows_the_rate() {
        let minute = Duration::from_secs(60);
        assert_eq!(time_to_go(0, 10, minute), "unknown");
        assert_eq!(time_to_go(60, 30, minute), "30s");
        assert_eq!(time_to_go(6, 10, minute), "1m40s");
        assert_eq!(time_to_go(1, 150, minute), "2h30m");
    }
}
