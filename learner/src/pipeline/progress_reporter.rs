//! Reports how far the run is, always from one snapshot: to the bar, the log, the status with its metrics, and the
//! TensorBoard files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use inference::best::CurrentBest;
use inference::{InferenceCounters, InferenceCounts};
use registry::{GameRegistry, GateReport};
use samples::buffer::SharedReplay;
use shared::encoding::Encoding;
use shared::gate::{GateScore, Verdict};
use store::{GameStatistics, IterationRow, IterationState, PlayedOn};
use tracing::info;

use super::cost_meter::format_pflop;
use super::yardstick::YardstickReport;
use crate::numbers::{percent, round};
use crate::progress::{
    InferenceRates, PhaseProgress, PhaseStart, ProgressSnapshot, RunEffort, RunStatus, format_test, format_time_to_go,
    log_line,
};
use crate::tensorboard::{IterationPoint, TensorBoardLog};
use crate::trainer::{HeldOutComparison, MeanLosses, PredictionPair};

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
    /// Number of the iteration, and what had been answered when it began or was taken up.
    iteration_start: (u32, Instant, u64),
    training_step: u64,
    losses: Option<MeanLosses>,
    /// The gate under way, or the last one.
    gate: Option<GateReport>,
    totals: RunEffort,
    tensorboard: TensorBoardLog,
    /// Score of the newest generations against network 1, `None` before it was looked at.
    yardstick: Option<GateScore>,
}

impl<E: Encoding> ProgressReporter<E> {
    /// Makes a reporter that keeps `status` up to date, and the files that TensorBoard reads.
    #[must_use]
    pub fn new(sources: ProgressSources<E>, status: Arc<RunStatus>, tensorboard: TensorBoardLog) -> Self {
        Self {
            iteration_start: (0, Instant::now(), sources.inference.counts().evaluation_count),
            tensorboard,
            sources,
            status,
            bar: runtime::logging::bar(),
            phase_start: PhaseStart::now(),
            rates: InferenceRates::default(),
            line_at: Instant::now(),
            counts_at_line: InferenceCounts::default(),
            training_step: 0,
            losses: None,
            gate: None,
            totals: RunEffort::default(),
            yardstick: None,
        }
    }

    /// Takes note of what the run took so far.
    pub(super) fn show_totals(&mut self, totals: RunEffort) {
        self.totals = totals;
    }

    /// Starts to measure a new phase.
    pub(super) fn begin_phase(&mut self, iteration: &IterationRow) {
        self.phase_start = PhaseStart::now();
        if self.iteration_start.0 != iteration.number {
            let evaluation_count = self.sources.inference.counts().evaluation_count;
            self.iteration_start = (iteration.number, Instant::now(), evaluation_count);
        }
        self.training_step = match iteration.state {
            IterationState::SelfPlay | IterationState::Training => iteration.training_step_start,
            _ => iteration.training_step_end.unwrap_or(iteration.training_step_start),
        };
    }

    /// Takes note of the newest losses, the last of a training or not.
    pub(super) fn report_losses(&mut self, losses: Option<MeanLosses>, is_last: bool) {
        self.losses = losses;
        if let Some(losses) = &losses {
            self.tensorboard.note_losses(losses, is_last);
        }
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
        match phase {
            PhaseProgress::Training { training_step, .. } => self.training_step = training_step,
            PhaseProgress::Gate(report) => self.gate = Some(report),
            PhaseProgress::SelfPlay { .. } => {}
        }
        let snapshot = ProgressSnapshot {
            iteration,
            phase,
            time_to_go: self.phase_start.time_to_go(&phase),
            waiting_for: self.waiting_for(&phase),
            rates: self.rates,
            position_count: self.sources.replay.position_count(),
            games: self.sources.registry.progress(),
            training_step: self.training_step,
            losses: self.losses,
            gate: self.gate,
            totals: self.totals,
            yardstick: self.yardstick,
        };
        show_bar(&self.bar, &snapshot);
        if is_line_due {
            log_line(&snapshot);
        }
        self.status.put_progress(snapshot);
    }

    /// Reports what the games of an iteration were like.
    pub(super) fn report_games(&mut self, iteration: u32, games: &GameStatistics, may_resign: bool) {
        self.tensorboard.note_games(iteration, games);
        let share = |count: u64| format!("{:.3}", count as f64 / games.game_count.max(1) as f64);
        let PlayedOn { game_count, false_count } = games.played_on;
        info!(
            iteration,
            games = games.game_count,
            positions = games.sample_count,
            plies_per_game = format!("{:.1}", games.mean_ply_count),
            draw_share = share(games.draw_count),
            cut_off_share = share(games.cut_off_count),
            resigned_share = may_resign.then(|| share(games.resigned_count)),
            false_resignations = may_resign.then(|| format!("{false_count} of {game_count}")),
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
        &mut self,
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
            run_pflop = format_pflop(self.totals.cost.as_ref()),
            "{message}"
        );
        self.gate = Some(GateReport { verdict: Some(verdict), ..*report });
        let (_, started_at, evaluation_count) = self.iteration_start;
        let evaluations = self.sources.inference.counts().evaluation_count - evaluation_count;
        self.tensorboard.note_iteration(&IterationPoint {
            iteration: iteration.number,
            score: report.score,
            generation: best.generation,
            evaluations_per_second: evaluations as f64 / started_at.elapsed().as_secs_f64().max(1e-3),
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
