//! What threads and tasks tell each other. Every channel is bounded; each says who waits when it is full.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::counters::Counters;
use crate::tickets::{Ticket, Tickets};

/// What every thread and task of the process sees.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) counters: Counters,
    pub(crate) tickets: Tickets,
    /// Cancelled when the threads are to stop.
    pub(crate) stop: CancellationToken,
}

/// A batch on its way to the learner.
#[derive(Debug, Clone)]
pub(crate) struct BatchRequest {
    /// The thread that waits for the answer.
    pub(crate) thread: usize,
    /// Its id is unique in the process.
    pub(crate) batch: proto::LeafBatch,
}

/// A ply on its way to the learner.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) ticket: Arc<Ticket>,
    pub(crate) ply: proto::Ply,
}

/// A thread could play one more game.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Want {
    pub(crate) thread: usize,
    /// The last lease was of no use: asking again at once would bring the same.
    pub(crate) is_after_failure: bool,
}

/// What a thread hears.
#[derive(Debug)]
pub(crate) enum ToThread {
    /// A game to play.
    Lease(Arc<Ticket>, Box<proto::Lease>),
    /// The answer to a batch.
    Answer {
        batch_id: u64,
        /// Why there is none, otherwise.
        result: Result<Evaluations, String>,
    },
}

/// A checked answer.
#[derive(Debug)]
pub struct Evaluations {
    /// The network that answered.
    pub network_id: u32,
    /// Priors of the legal moves of all leaves, end to end.
    pub priors: Vec<f32>,
    /// Value of each leaf from its side to move.
    pub values: Vec<f32>,
}

/// The way from the threads to the tasks. A thread waits when one of them is full.
#[derive(Debug, Clone)]
pub(crate) struct Outlets {
    pub(crate) batches: mpsc::Sender<BatchRequest>,
    pub(crate) reports: mpsc::Sender<Report>,
    pub(crate) wants: mpsc::Sender<Want>,
}

/// The tasks' ends of [`Outlets`].
#[derive(Debug)]
pub(crate) struct Inlets {
    pub(crate) batches: mpsc::Receiver<BatchRequest>,
    pub(crate) reports: mpsc::Receiver<Report>,
    pub(crate) wants: mpsc::Receiver<Want>,
}

/// Plies that wait for the reporting task.
const REPORT_QUEUE_LENGTH: usize = 1024;

/// Makes the ways from `threads` threads with `games_per_thread` games each.
pub(crate) fn outlets(threads: usize, games_per_thread: usize) -> (Outlets, Inlets) {
    let (batches, batch_inlet) = mpsc::channel(threads * 4);
    let (reports, report_inlet) = mpsc::channel(REPORT_QUEUE_LENGTH);
    let (wants, want_inlet) = mpsc::channel(threads * games_per_thread);
    (Outlets { batches, reports, wants }, Inlets { batches: batch_inlet, reports: report_inlet, wants: want_inlet })
}

/// Makes the way to a thread. It never fills up: a game brings at most one lease, and waits in at most one batch.
pub(crate) fn inbox(games_per_thread: usize) -> (mpsc::Sender<ToThread>, mpsc::Receiver<ToThread>) {
    mpsc::channel(games_per_thread * 2 + 8)
}

/// Puts a message into a thread's inbox. Never waits, so that no task can be cut off between taking and giving.
pub(crate) fn hand_over(inbox: &mpsc::Sender<ToThread>, message: ToThread) {
    if let Err(mpsc::error::TrySendError::Full(_)) = inbox.try_send(message) {
        error!("the inbox of a search thread is full: a message is lost");
    }
}
