//! Plies on their way to the learner's disk. A ply stays here until it is acknowledged; sending it twice does no harm.

use std::collections::VecDeque;
use std::sync::Arc;

use proto::ply_status::Code as PlyCode;
use proto::{PlyStatus, ReportPliesReply, ReportPliesRequest};
use tokio::sync::mpsc;
use tonic::Code;
use tracing::{error, info, warn};

use crate::backoff::Backoff;
use crate::connect::{Connected, SessionError, with_deadline};
use crate::counters::count;
use crate::messages::{Report, Shared};
use crate::settings::WorkerSettings;

/// Most plies in one report; as many wait here at most, the rest in the channel.
const PLY_COUNT_MAX: usize = 256;

/// The task that owns the plies.
pub(crate) struct Reports {
    inlet: mpsc::Receiver<Report>,
    pending: VecDeque<Report>,
    shared: Arc<Shared>,
    backoff: Backoff,
    /// Plies in the next report, at most: one by one after a report was refused as a whole.
    ply_count_max: usize,
}

impl Reports {
    pub(crate) fn new(inlet: mpsc::Receiver<Report>, shared: Arc<Shared>, backoff: Backoff) -> Self {
        Self { inlet, pending: VecDeque::new(), shared, backoff, ply_count_max: PLY_COUNT_MAX }
    }

    /// Reports plies until the session is over; returns why.
    pub(crate) async fn serve(&mut self, connected: &Connected, settings: &WorkerSettings) -> SessionError {
        match self.drain(connected, settings).await {
            Err(error) => error,
            // The threads are gone; their last plies are reported when the process drains.
            Ok(()) => std::future::pending().await,
        }
    }

    /// Reports plies until the threads are gone and everything is acknowledged.
    ///
    /// # Errors
    /// [`SessionError`] if the session is over before.
    pub(crate) async fn drain(&mut self, connected: &Connected, settings: &WorkerSettings) -> Result<(), SessionError> {
        while self.fill().await {
            self.send(connected, settings).await?;
        }
        Ok(())
    }

    /// Returns how many plies are not acknowledged.
    pub(crate) fn unacknowledged_count(&self) -> usize {
        self.pending.len() + self.inlet.len()
    }

    /// Waits until there is something to report. Returns false if nothing will come any more.
    async fn fill(&mut self) -> bool {
        loop {
            while self.pending.len() < PLY_COUNT_MAX {
                let Ok(report) = self.inlet.try_recv() else { break };
                self.pending.push_back(report);
            }
            self.pending.retain(|report| !report.ticket.is_lost());
            if !self.pending.is_empty() {
                return true;
            }
            match self.inlet.recv().await {
                Some(report) => self.pending.push_back(report),
                None => return false,
            }
        }
    }

    async fn send(&mut self, connected: &Connected, settings: &WorkerSettings) -> Result<(), SessionError> {
        let ply_count = self.pending.len().min(self.ply_count_max);
        let plies = self.pending.iter().take(ply_count).map(|report| report.ply.clone()).collect();
        let request = ReportPliesRequest { worker_id: connected.worker_id.clone(), plies };
        let mut client = connected.workers.clone();
        match with_deadline("report plies", settings, client.report_plies(request)).await {
            Ok(reply) => self.take_reply(ply_count, &reply),
            Err(SessionError::Call { status, .. }) if status.code() == Code::ResourceExhausted => {
                warn!(reason = status.message(), "the learner takes no plies at the moment");
                tokio::time::sleep(self.backoff.pause()).await;
                Ok(())
            }
            Err(SessionError::Call { status, .. }) if status.code() == Code::InvalidArgument => {
                self.split(status.message());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn take_reply(&mut self, ply_count: usize, reply: &ReportPliesReply) -> Result<(), SessionError> {
        let reported = self.pending.iter().take(ply_count);
        let is_answer = reply.statuses.len() == ply_count
            && reported
                .zip(&reply.statuses)
                .all(|(report, status)| (report.ply.game_id, report.ply.ply) == (status.game_id, status.ply));
        if !is_answer {
            return Err(SessionError::Unusable("the statuses are not those of the plies reported".into()));
        }
        for (report, status) in self.pending.drain(..ply_count).zip(&reply.statuses) {
            take_status(&self.shared, &report, status);
        }
        self.backoff.reset();
        self.ply_count_max = PLY_COUNT_MAX;
        Ok(())
    }

    /// After a report that was refused as a whole: find the ply that is to blame, and drop its game.
    fn split(&mut self, reason: &str) {
        if self.ply_count_max > 1 {
            self.ply_count_max = 1;
        } else if let Some(report) = self.pending.pop_front() {
            error!(game_id = report.ply.game_id, ply = report.ply.ply, reason, "ply refused");
            report.ticket.set_lost();
            count(&self.shared.counters.refused_ply_count, 1);
        }
    }
}

fn take_status(shared: &Shared, report: &Report, status: &PlyStatus) {
    let (game_id, ply) = (report.ply.game_id, report.ply.ply);
    match PlyCode::try_from(status.code) {
        Ok(PlyCode::Accepted) => count(&shared.counters.acknowledged_ply_count, 1),
        Ok(PlyCode::LeaseLost) => {
            if report.ticket.set_lost() {
                info!(game_id, ply, reason = status.reason, "lease lost");
            }
        }
        Ok(PlyCode::Refused | PlyCode::Unspecified) | Err(_) => {
            count(&shared.counters.refused_ply_count, 1);
            if report.ticket.set_lost() {
                error!(game_id, ply, move_text = report.ply.move_text, reason = status.reason, "ply refused");
            }
        }
    }
}
