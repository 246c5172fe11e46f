//! The messages and channels between search threads and tasks. Every channel is bounded; each says who waits when it
//! is full.

use std::sync::Arc;

use shared::ids::NetworkId;
use shared::search::EvaluationError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::counters::Counters;
use crate::held_leases::{HeldLease, HeldLeases};

/// State that all threads and tasks of the process share.
#[derive(Debug)]
pub(crate) struct WorkerState {
    pub(crate) counters: Counters,
    pub(crate) held_leases: HeldLeases,
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
pub(crate) struct PlyReport {
    pub(crate) lease: Arc<HeldLease>,
    pub(crate) ply: proto::Ply,
}

/// A request of a thread for one more game.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GameRequest {
    pub(crate) thread: usize,
    /// The last lease could not be played; asking again at once would bring the same one.
    pub(crate) is_after_failure: bool,
}

/// A message to a thread.
#[derive(Debug)]
pub(crate) enum ThreadMessage {
    /// A game to play.
    Lease(Arc<HeldLease>, Box<proto::Lease>),
    /// The answer to a batch, or why it could not be evaluated.
    Answer { batch_id: u64, result: Result<Evaluations, EvaluationError> },
}

/// A checked answer.
#[derive(Debug)]
pub struct Evaluations {
    /// The network that answered.
    pub network_id: NetworkId,
    /// Priors of the legal moves of all leaves, end to end.
    pub priors: Vec<f32>,
    /// Value of each leaf from its side to move.
    pub values: Vec<f32>,
}

/// The channels from the threads to the tasks, as the threads hold them. A thread waits when one of them is full.
#[derive(Debug, Clone)]
pub(crate) struct TaskSenders {
    pub(crate) batches: mpsc::Sender<BatchRequest>,
    pub(crate) reports: mpsc::Sender<PlyReport>,
    pub(crate) game_requests: mpsc::Sender<GameRequest>,
}

/// The channels from the threads to the tasks, as the tasks hold them.
#[derive(Debug)]
pub(crate) struct TaskReceivers {
    pub(crate) batches: mpsc::Receiver<BatchRequest>,
    pub(crate) reports: mpsc::Receiver<PlyReport>,
    pub(crate) game_requests: mpsc::Receiver<GameRequest>,
}

/// Plies that may wait for the reporting task.
const REPORT_QUEUE_LENGTH: usize = 1024;

/// Makes the channels from `threads` threads with at most `games_max` games each.
pub(crate) fn task_channels(threads: usize, games_max: usize) -> (TaskSenders, TaskReceivers) {
    let (batches, batch_receiver) = mpsc::channel(threads * 4);
    let (reports, report_receiver) = mpsc::channel(REPORT_QUEUE_LENGTH);
    let (game_requests, game_request_receiver) = mpsc::channel(threads * games_max);
    let senders = TaskSenders { batches, reports, game_requests };
    let receivers =
        TaskReceivers { batches: batch_receiver, reports: report_receiver, game_requests: game_request_receiver };
    (senders, receivers)
}

/// Makes the channel to a thread. It never fills up: a game takes one lease, and waits for at most one batch.
pub(crate) fn inbox(games_max: usize) -> (mpsc::Sender<ThreadMessage>, mpsc::Receiver<ThreadMessage>) {
    mpsc::channel(games_max * 2 + 8)
}

/// Puts a message into a thread's inbox. Never waits, so that a task that is cancelled loses no message.
pub(crate) fn deliver(inbox: &mpsc::Sender<ThreadMessage>, message: ThreadMessage) {
    if let Err(mpsc::error::TrySendError::Full(_)) = inbox.try_send(message) {
        error!("the inbox of a search thread is full; a message is lost");
    }
}
