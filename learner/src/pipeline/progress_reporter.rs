//! Reports how far the run is, always from one snapshot: to the bar, the status page and the log.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use samples::buffer::SharedReplay;
use shared::encoding::Encoding;
use shared::gate::{GateScore, Verdict};
use tracing::info;

use super::cost_meter::format_pflop;
use super::progress_log::{format_test, log_line};
use super::progress_snapshot::{InferenceRates, PhaseProgress, PhaseStart, ProgressSnapshot, format_time_to_go};
use super::yardstick::YardstickReport;
use crate::best::CurrentBest;
use crate::games::{GameRegistry, GateReport};
use crate::inference::{InferenceCounters, InferenceCounts};
use crate::services::RunStatus;
use crate::store::{GameStatistics, IterationCost, IterationRow};
use crate::supervised::percent;
use crate::trainer::{HeldOutComparison, PredictionPair, round};

/// Time between two progress lines, over which rates are measured.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Where the reporter reads how far the run is.
pub struct ProgressSources<E: Encoding> {
    /// The games.
    pub registry: Arc<GameRegistry<E>>,
    /// The positions that can be sampled.
    pub replay: Arc<SharedReplay>,
    /// The leaves that were answered.
    pub inference: Arc<InferenceCounters>,
    /// Leaves evaluated together at most.
    pub batch_leaf_count_max: u32,
}

/// Reports how far the run is.
pub struct ProgressReporter<E: Encoding> {
    sources: ProgressSources<E>,
    status: Arc<RunStatus>,
    bar: ProgressBar,
    phase_start: PhaseStart,
    rates: InferenceRates,
    line_at: Instant,
    counts_at_line: InferenceCounts,
    /// What the run cost as far as it is in the store, `None` if unknown.
    run_cost: Option<IterationCost>,
    /// Score of the newest generations against network 1, `None` before it was looked at.
    yardstick: Option<GateScore>,
}

impl<E: Encoding> ProgressReporter<E> {
    /// Makes a reporter that keeps `status` up to date.
    #[must_use]
    pub fn new(sources: ProgressSources<E>, status: Arc<RunStatus>) -> Self {
        Self {
            sources,
            status,
            bar: runtime::logging::bar(),
            phase_start: PhaseStart::now(),
            rates: InferenceRates::default(),
            line_at: Instant::now(),
            counts_at_line: InferenceCounts::default(),
            run_cost: None,
            yardstick: None,
        }
    }

    /// Takes note of what the run cost so far, `None` if that is not known.
    pub(super) fn show_cost(&mut self, run_cost: Option<IterationCost>) {
        self.run_cost = run_cost;
    }

    /// Starts to measure a new phase.
    pub(super) fn begin_phase(&mut self, iteration: u32) {
        self.phase_start = PhaseStart::now();
        self.status.update(|status| status.iteration = iteration);
    }

    /// Reports how far the phase is: to bar and status page at each call, to the log now and then.
    pub(super) fn report(&mut self, iteration: u32, phase: PhaseProgress) {
        let inference = self.sources.inference.counts();
        let elapsed = self.line_at.elapsed();
        let is_line_due = elapsed >= LINE_INTERVAL;
        if is_line_due {
            let batch_max = self.sources.batch_leaf_count_max;
            self.rates = InferenceRates::between(&self.counts_at_line, &inference, elapsed, batch_max);
            (self.line_at, self.counts_at_line) = (Instant::now(), inference);
        }
        let snapshot = ProgressSnapshot {
            iteration,
            phase,
            time_to_go: self.phase_start.time_to_go(&phase),
            waiting_for: self.waiting_for(&phase),
            rates: self.rates,
            position_count: self.sources.replay.position_count(),
            games: self.sources.registry.progress(),
            inference,
            run_cost: self.run_cost,
            yardstick: self.yardstick,
        };
        show_bar(&self.bar, &snapshot);
        show_status(&self.status, &snapshot);
        if is_line_due {
            log_line(&snapshot);
        }
    }

    /// Reports what the games of an iteration were like.
    pub(super) fn report_games(&self, iteration: u32, games: &GameStatistics) {
        let share = |count: u64| format!("{:.3}", count as f64 / games.game_count.max(1) as f64);
        info!(
            iteration,
            games = games.game_count,
            positions = games.sample_count,
            plies_per_game = format!("{:.1}", games.mean_ply_count),
            draw_share = share(games.draw_count),
            cut_off_share = share(games.cut_off_count),
            distinct_openings = games.distinct_opening_count,
            games_going_on = self.sources.registry.progress().open_self_play_count,
            "self-play done"
        );
    }

    /// Reports how candidate and best network predict games that were held out.
    pub(super) fn report_held_out(&self, iteration: u32, held_out: &HeldOutComparison) {
        for (games, PredictionPair { candidate, best }) in held_out.pairs() {
            info!(
                iteration,
                games,
                positions = candidate.position_count,
                policy_loss = round(candidate.policy_loss()),
                policy_loss_best = round(best.policy_loss()),
                value_error = round(candidate.value_error()),
                value_error_best = round(best.value_error()),
                right_sign = percent(candidate.sign_share()),
                right_sign_best = percent(best.sign_share()),
                "held-out games"
            );
        }
    }

    /// Reports how a gate was decided, which network is the best now, and what the iteration cost.
    pub(super) fn report_verdict(
        &self,
        iteration: &IterationRow,
        report: &GateReport,
        verdict: Verdict,
        best: CurrentBest,
    ) {
        let (score, interval, elo) = (report.score, report.score.confidence_interval(), report.score.elo_interval());
        let message = match verdict {
            Verdict::Promoted => "promoted",
            Verdict::Rejected => "rejected",
        };
        let cost = iteration.cost.as_ref();
        info!(
            iteration = iteration.number,
            network_id = report.candidate_id.get(),
            generation = best.generation.get(),
            decided_after = format!("{} of {}", score.game_count(), report.settings.game_count),
            score = format!("{:.3}", score.score()),
            wins = score.wins,
            draws = score.draws,
            losses = score.losses,
            interval = format!("{:.3}..{:.3}", interval.low, interval.high),
            elo = format!("{:+.0} ({:+.0}..{:+.0})", score.elo_difference(), elo.low, elo.high),
            test = format_test(report),
            distinct_openings = format!("{} of {}", report.distinct_opening_count, report.pair_count),
            distinct_games = format!("{} of {}", report.distinct_game_count, score.game_count()),
            evaluations = cost.map(|cost| cost.evaluation_count),
            training_samples = cost.map(|cost| cost.training_sample_count),
            pflop = format_pflop(cost),
            run_pflop = format_pflop(self.run_cost.as_ref()),
            "{message}"
        );
        self.status.update(|status| {
            status.generation = best.generation.get();
            status.best_network_id = best.network_id.get();
        });
    }

    /// Reports how the newest network that was measured fares against earlier ones.
    pub(super) fn report_yardstick(&mut self, iteration: u32, report: &YardstickReport) {
        let score = |score: &GateScore| {
            let interval = score.confidence_interval();
            format!("{:.3} ({:.3}..{:.3}) of {}", score.score(), interval.low, interval.high, score.game_count())
        };
        let later = report.against_later.iter().map(|(network_id, it)| format!("network {network_id}: {}", score(it)));
        info!(
            iteration,
            network_id = report.network_id.get(),
            generation = report.generation.get(),
            against_first = score(&report.against_first),
            against_later = later.collect::<Vec<_>>().join(", "),
            newest_against_first = score(&report.pooled),
            "yardstick"
        );
        self.yardstick = Some(report.pooled);
    }

    fn waiting_for(&self, phase: &PhaseProgress) -> &'static str {
        let is_missing = |kind| self.status.worker_count(kind, Instant::now()) == 0;
        match phase {
            PhaseProgress::SelfPlay { .. } if is_missing(proto::WorkerKind::Actor) => {
                "an actor: start `actor --learner ADDRESS`"
            }
            PhaseProgress::SelfPlay { games, needed } if games.game_count < *needed => "self-play games",
            PhaseProgress::SelfPlay { .. } => "replay.position_count_min positions",
            PhaseProgress::Training { .. } => "training steps",
            PhaseProgress::Gate(_) if is_missing(proto::WorkerKind::Evaluator) => {
                "an evaluator: start `evaluator --learner ADDRESS`"
            }
            PhaseProgress::Gate(_) => "gate games",
        }
    }
}

fn show_bar(bar: &ProgressBar, snapshot: &ProgressSnapshot) {
    let (phase, total) = (&snapshot.phase, snapshot.phase.total());
    let time_to_go = format_time_to_go(snapshot.time_to_go);
    bar.set_prefix(format!("iteration {} {}", snapshot.iteration, phase.name()));
    bar.set_length(total);
    bar.set_position(phase.done().min(total));
    bar.set_message(format!("{:.0} evaluations/s, {time_to_go} to go", snapshot.rates.evaluations_per_second));
}

fn show_status(status: &RunStatus, snapshot: &ProgressSnapshot) {
    let counters = counters_of(snapshot);
    status.update(|status| {
        status.iteration = snapshot.iteration;
        status.waiting_for = snapshot.waiting_for.to_owned();
        status.evaluations_per_second = snapshot.rates.evaluations_per_second;
        status.batch_fill = snapshot.rates.batch_fill;
        status.replay_position_count = snapshot.position_count;
        status.finished_game_count = snapshot.games.finished_self_play_count;
        status.counters = counters;
        if let PhaseProgress::Training { training_step, .. } = snapshot.phase {
            status.training_step = training_step;
        }
    });
}

fn counters_of(snapshot: &ProgressSnapshot) -> HashMap<String, u64> {
    let (progress, games, inference) = (&snapshot.games, &snapshot.games.counters, &snapshot.inference);
    let run_costs = snapshot.run_cost.map(|cost| {
        [
            ("run_evaluation_count", cost.evaluation_count),
            ("run_training_sample_count", cost.training_sample_count),
            ("run_gflop", (cost.flop / 1e9) as u64),
        ]
    });
    let yardstick = snapshot.yardstick.map(|score| {
        [
            ("yardstick_win_count", score.wins),
            ("yardstick_draw_count", score.draws),
            ("yardstick_loss_count", score.losses),
        ]
        .map(|(name, count)| (name, u64::from(count)))
    });
    let counters = [
        ("accepted_ply_count", games.accepted_ply_count),
        ("duplicate_ply_count", games.duplicate_ply_count),
        ("refused_ply_count", games.refused_ply_count),
        ("lease_lost_ply_count", games.lease_lost_ply_count),
        ("expired_lease_count", games.expired_lease_count),
        ("quarantined_game_count", games.quarantined_game_count),
        ("failed_write_count", games.failed_write_count),
        ("open_self_play_count", progress.open_self_play_count),
        ("held_self_play_count", progress.held_self_play_count),
        ("allowed_self_play_count", progress.allowed_self_play_count),
        ("evaluation_count", inference.evaluation_count),
        ("batch_count", inference.batch_count),
        ("uniform_prior_count", inference.uniform_prior_count),
        ("refused_batch_count", inference.refused_batch_count),
        ("computed_leaf_count", inference.computed_leaf_count),
        ("device_busy_us", inference.device_busy_us),
        ("device_busy_percent", (snapshot.rates.device_busy * 100.0).round() as u64),
        ("device_fill_percent", (snapshot.rates.device_fill * 100.0).round() as u64),
    ];
    let added = run_costs.into_iter().flatten().chain(yardstick.into_iter().flatten());
    counters.into_iter().chain(added).map(|(name, count)| (name.to_owned(), count)).collect()
}
