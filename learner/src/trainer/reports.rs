//! Where the training thread reports: its last step, what it measured, and how each job ended.

use net::StepLosses;
use tokio::sync::{mpsc, watch};

use super::TrainingOutcome;

/// Mean losses of some steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanLosses {
    /// The last of the steps.
    pub training_step: u64,
    /// The means.
    pub means: StepLosses,
    /// Learning rate of the last step.
    pub learning_rate: f64,
}

/// What there is to tell of a training under way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TrainerNews {
    /// The newest losses, `None` before the first of this process.
    pub losses: Option<MeanLosses>,
    /// How often the job under way, or the last one, went back to a checkpoint since a loss was not finite.
    pub rollback_count: u32,
}

/// Where the training thread reports.
pub(super) struct TrainerReports {
    pub(super) outcomes: mpsc::Sender<TrainingOutcome>,
    pub(super) training_step: watch::Sender<Option<u64>>,
    pub(super) news: watch::Sender<TrainerNews>,
}

impl TrainerReports {
    /// Reports how many steps are behind the network.
    pub(super) fn report_step(&self, training_step: u64) {
        self.training_step.send_replace(Some(training_step));
    }

    /// Reports the losses of the last steps.
    pub(super) fn report_losses(&self, losses: MeanLosses) {
        self.news.send_modify(|news| news.losses = Some(losses));
    }

    /// Reports how often the job went back to a checkpoint.
    pub(super) fn report_rollbacks(&self, rollback_count: u32) {
        self.news.send_if_modified(|news| {
            let is_new = news.rollback_count != rollback_count;
            news.rollback_count = rollback_count;
            is_new
        });
    }

    /// Reports the end of a job. The pipeline may have gone.
    pub(super) fn end_job(&self, outcome: TrainingOutcome) {
        let _ = self.outcomes.blocking_send(outcome);
    }
}
