//! Plies on their way to the learner's disk. A ply stays here until it is acknowledged; a ply sent twice is stored once.

use std::collections::VecDeque;
use std::sync::Arc;

use proto::ply_status::Code as PlyCode;
use proto::{PlyStatus, ReportPliesReply, ReportPliesRequest};
use runtime::backoff::Backoff;
use tokio::sync::mpsc;
use tonic::Code;
use tracing::{error, info, warn};

use crate::channels::{PlyReport, WorkerState};
use crate::counters::count;
use crate::learner_connection::{LearnerConnection, LearnerSessionError, with_deadline};
use crate::worker_settings::WorkerSettings;

/// Most plies in one report; as many wait here at most, the rest in the channel.
const PLY_COUNT_MAX: usize = 256;

/// The task that reports plies.
pub(crate) struct PlyReporter {
    inlet: mpsc::Receiver<PlyReport>,
    pending: VecDeque<PlyReport>,
    state: Arc<WorkerState>,
    backoff: Backoff,
    /// Most plies in the next report: 1 after a report was refused as a whole.
    ply_count_max: usize,
}

impl PlyReporter {
    pub(crate) fn new(inlet: mpsc::Receiver<PlyReport>, state: Arc<WorkerState>, backoff: Backoff) -> Self {
        Self { inlet, pending: VecDeque::new(), state, backoff, ply_count_max: PLY_COUNT_MAX }
    }

    /// Reports plies until the session ends; returns why.
    pub(crate) async fn serve(
        &mut self,
        connection: &LearnerConnection,
        settings: &WorkerSettings,
    ) -> LearnerSessionError {
        match self.drain(connection, settings).await {
            Err(error) => error,
            // The threads have ended; their last plies are reported by `drain`.
            Ok(()) => std::future::pending().await,
        }
    }

    /// Reports plies until the threads have ended and everything is acknowledged.
    ///
    /// # Errors
    /// [`LearnerSessionError`] if the session ends first.
    pub(crate) async fn drain(
        &mut self,
        connection: &LearnerConnection,
        settings: &WorkerSettings,
    ) -> Result<(), LearnerSessionError> {
        while self.fill().await {
            self.send(connection, settings).await?;
        }
        Ok(())
    }

    /// Returns the number of plies that are not acknowledged.
    pub(crate) fn unacknowledged_count(&self) -> usize {
        self.pending.len() + self.inlet.len()
    }

    /// Waits for plies to report. Returns false once the threads have ended and none is left.
    async fn fill(&mut self) -> bool {
        loop {
            while self.pending.len() < PLY_COUNT_MAX {
                let Ok(report) = self.inlet.try_recv() else { break };
                self.pending.push_back(report);
            }
            self.pending.retain(|report| !report.lease.is_lost());
            if !self.pending.is_empty() {
                return true;
            }
            match self.inlet.recv().await {
                Some(report) => self.pending.push_back(report),
                None => return false,
            }
        }
    }

    async fn send(
        &mut self,
        connection: &LearnerConnection,
        settings: &WorkerSettings,
    ) -> Result<(), LearnerSessionError> {
        let ply_count = self.pending.len().min(self.ply_count_max);
        let plies = self.pending.iter().take(ply_count).map(|report| report.ply.clone()).collect();
        let request = ReportPliesRequest { worker_id: connection.worker_id.clone(), plies };
        let mut client = connection.workers.clone();
        match with_deadline("report plies", settings, client.report_plies(request)).await {
            Ok(reply) => self.take_reply(ply_count, &reply),
            Err(LearnerSessionError::Call { status, .. }) if status.code() == Code::ResourceExhausted => {
                warn!(reason = status.message(), "the learner accepts no plies at the moment");
                tokio::time::sleep(self.backoff.pause()).await;
                Ok(())
            }
            Err(LearnerSessionError::Call { status, .. }) if status.code() == Code::InvalidArgument => {
                self.isolate_refused(status.message());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn take_reply(&mut self, ply_count: usize, reply: &ReportPliesReply) -> Result<(), LearnerSessionError> {
        let reported = self.pending.iter().take(ply_count);
        let is_answer = reply.statuses.len() == ply_count
            && reported
                .zip(&reply.statuses)
                .all(|(report, status)| (report.ply.game_id, report.ply.ply) == (status.game_id, status.ply));
        if !is_answer {
            return Err(LearnerSessionError::UnusableStatuses);
        }
        for (report, status) in self.pending.drain(..ply_count).zip(&reply.statuses) {
            take_status(&self.state, &report, status);
        }
        self.backoff.reset();
        self.ply_count_max = PLY_COUNT_MAX;
        Ok(())
    }

    /// Finds the invalid ply of a report that was refused as a whole: its plies are sent one by one, and the game of the
    /// one that is refused is dropped.
    fn isolate_refused(&mut self, reason: &str) {
        if self.ply_count_max > 1 {
            self.ply_count_max = 1;
        } else if let Some(report) = self.pending.pop_front() {
            error!(game_id = report.ply.game_id, ply = report.ply.ply, reason, "ply refused");
            report.lease.mark_lost();
            count(&self.state.counters.refused_ply_count, 1);
        }
    }
}

fn take_status(state: &WorkerState, report: &PlyReport, status: &PlyStatus) {
    let (game_id, ply) = (report.ply.game_id, report.ply.ply);
    match PlyCode::try_from(status.code) {
        Ok(PlyCode::Accepted) => {
            count(&state.counters.acknowledged_ply_count, 1);
            if status.is_resigned {
                report.lease.mark_over();
            }
        }
        Ok(PlyCode::LeaseLost) => {
            if report.lease.mark_lost() {
                info!(game_id, ply, reason = status.reason, "lease lost");
            }
        }
        Ok(PlyCode::Refused | PlyCode::Unspecified) | Err(_) => {
            count(&state.counters.refused_ply_count, 1);
            if report.lease.mark_lost() {
                error!(game_id, ply, move_text = report.ply.move_text, reason = status.reason, "ply refused");
            }
        }
    }
}
