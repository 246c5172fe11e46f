//! The line of progress in the log.

use registry::GateReport;
use shared::gate::GateRule;
use tracing::info;

use super::snapshot::{PhaseProgress, ProgressSnapshot, format_time_to_go};
use crate::numbers::percent;

/// Writes how far the run is to the log.
pub(crate) fn log_line(snapshot: &ProgressSnapshot) {
    let ProgressSnapshot { iteration, phase, rates, position_count, waiting_for, .. } = snapshot;
    let (name, done, total) = (phase.name(), phase.done(), phase.total());
    let eta = format_time_to_go(snapshot.time_to_go);
    let evaluations_per_second = rates.evaluations_per_second.round();
    let batch_fill = format!("{:.2}", rates.batch_fill);
    let (device_busy, device_fill) = (percent(rates.device_busy), percent(rates.device_fill));
    match phase {
        PhaseProgress::SelfPlay { games, .. } => info!(
            phase = name,
            iteration,
            done,
            total,
            eta,
            plies_per_game = format!("{:.1}", games.mean_ply_count),
            evaluations_per_second,
            batch_fill,
            device_busy,
            device_fill,
            positions = position_count,
            waiting_for,
            "progress"
        ),
        PhaseProgress::Training { .. } => info!(
            phase = name,
            iteration,
            done,
            total,
            eta,
            evaluations_per_second,
            device_busy,
            device_fill,
            positions = position_count,
            "progress"
        ),
        PhaseProgress::Gate(report) => info!(
            phase = name,
            iteration,
            done,
            total,
            eta,
            score = format!("{:.3}", report.score.score()),
            wins = report.score.wins,
            draws = report.score.draws,
            losses = report.score.losses,
            test = format_test(report),
            evaluations_per_second,
            batch_fill,
            device_busy,
            device_fill,
            waiting_for,
            "progress"
        ),
    }
}

/// Writes how far the sequential test is: log-likelihood ratio, the bounds at which it ends, and the pairs it looked at,
/// by the candidate's points in them. `None` by the rule of the score.
pub(crate) fn format_test(report: &GateReport) -> Option<String> {
    let (test, pairs) = (report.settings.test, report.tested_pairs);
    let [low, high] = test.bounds();
    let ratio = test.log_likelihood_ratio(&pairs);
    let is_tested = report.settings.rule == GateRule::Sequential;
    is_tested.then(|| format!("{ratio:.2} ({low:.2}..{high:.2}), pairs of 0 to 2 points {:?}", pairs.0))
}
