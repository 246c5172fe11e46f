//! Where the training thread reports: its last step, and how each job ended.

use tokio::sync::{mpsc, watch};

use super::TrainingOutcome;

/// Where the training thread reports.
pub(super) struct TrainerReports {
    pub(super) outcomes: mpsc::Sender<TrainingOutcome>,
    pub(super) training_step: watch::Sender<Option<u64>>,
}

impl TrainerReports {
    /// Reports how many steps are behind the network.
    pub(super) fn report_step(&self, training_step: u64) {
        self.training_step.send_replace(Some(training_step));
    }

    /// Reports the end of a job. The pipeline may have gone.
    pub(super) fn end_job(&self, outcome: TrainingOutcome) {
        let _ = self.outcomes.blocking_send(outcome);
    }
}
