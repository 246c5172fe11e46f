//! Reports a supervised training: a bar on a terminal or log lines elsewhere, and a log line for each epoch.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use runtime::logging;
use tracing::info;

use super::supervised_progress::EpochRow;
use crate::losses::LossSum;
use crate::numbers::{percent, round};

/// Time between two lines where there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(15);

/// How much there is to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrainingSize {
    pub(super) epochs: u32,
    pub(super) epoch_steps: u64,
    pub(super) batch_size: u64,
}

/// Shows how far a supervised training is.
pub(super) struct EpochReporter {
    size: TrainingSize,
    bar: ProgressBar,
    shown: LossSum,
    shown_at: Instant,
    /// Steps of this process, and how long they took.
    step_count: u64,
    step_time: Duration,
    /// How long the last measurement on the held-out games took.
    measure_time: Duration,
}

impl EpochReporter {
    pub(super) fn new(size: TrainingSize) -> Self {
        let bar = logging::bar();
        bar.set_length(size.epoch_steps);
        Self {
            size,
            bar,
            shown: LossSum::default(),
            shown_at: Instant::now(),
            step_count: 0,
            step_time: Duration::ZERO,
            measure_time: Duration::ZERO,
        }
    }

    /// Shows a step: the `step`th of `epoch`, both from 1.
    pub(super) fn step(&mut self, epoch: u32, step: u64, losses: &net::StepLosses, learning_rate: f64, took: Duration) {
        self.shown.add(losses, learning_rate);
        self.step_count += 1;
        self.step_time += took;
        let is_last = step == self.size.epoch_steps;
        if !self.bar.is_hidden() {
            self.bar.set_prefix(format!("epoch {epoch} of {}", self.size.epochs));
            self.bar.set_position(step);
            let losses = format!("policy {:.3} value {:.3}", losses.policy_loss, losses.value_loss);
            self.bar.set_message(format!("{losses}  {}", self.time_to_go(epoch, step)));
        } else if self.shown_at.elapsed() >= LINE_INTERVAL || is_last {
            let means = self.shown.means();
            info!(
                epoch,
                step,
                steps = self.size.epoch_steps,
                policy_loss = round(means.policy_loss),
                value_loss = round(means.value_loss),
                learning_rate = round(learning_rate),
                samples_per_second = self.samples_per_second().round(),
                to_go = self.time_to_go(epoch, step),
                "learning"
            );
            self.shown = LossSum::default();
            self.shown_at = Instant::now();
        }
    }

    /// Shows that the held-out games are being evaluated.
    pub(super) fn measuring(&self, position_count: u64) {
        self.bar.set_message(format!("measuring on {position_count} positions of held-out games"));
    }

    /// Shows an epoch that is done.
    pub(super) fn epoch(&mut self, row: &EpochRow, measure_time: Duration) {
        self.measure_time = measure_time;
        let (means, [top1, top3, top5]) = (row.losses.means(), row.held_out.top_shares());
        info!(
            epoch = row.epoch,
            policy_loss = round(means.policy_loss),
            value_loss = round(means.value_loss),
            held_out_policy_loss = round(row.held_out.policy_loss()),
            top1 = percent(top1),
            top3 = percent(top3),
            top5 = percent(top5),
            value_error = round(row.held_out.value_error()),
            right_sign = percent(row.held_out.sign_share()),
            learning_rate = round(row.learning_rate),
            samples_per_second = row.samples_per_second.round(),
            is_best = row.is_best,
            to_go = self.time_to_go(row.epoch, self.size.epoch_steps),
            "epoch done"
        );
    }

    fn samples_per_second(&self) -> f64 {
        (self.step_count * self.size.batch_size) as f64 / self.step_time.as_secs_f64().max(1e-9)
    }

    /// Returns how long the rest will take at the speed so far.
    fn time_to_go(&self, epoch: u32, step: u64) -> String {
        if self.step_count == 0 {
            return "?".to_owned();
        }
        let epochs_left = self.size.epochs.saturating_sub(epoch);
        let steps_left = u64::from(epochs_left) * self.size.epoch_steps + self.size.epoch_steps - step;
        let seconds = self.step_time.as_secs_f64() / self.step_count as f64 * steps_left as f64
            + self.measure_time.as_secs_f64() * f64::from(epochs_left);
        // Whole minutes are precise enough for an estimate.
        let seconds = if seconds < 120.0 { seconds as u64 } else { (seconds / 60.0) as u64 * 60 };
        format!("{} to go", humantime::format_duration(Duration::from_secs(seconds)))
    }
}
