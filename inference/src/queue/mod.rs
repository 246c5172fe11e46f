//! The batches that wait to be evaluated: bounded in leaves, for each worker and in all, and dropped with their stream.
//!
//! Where threads of their own read them, they wait twice: unread, then read (`read_ahead`).

mod batch_size;
mod lent;
mod read_ahead;
#[cfg(test)]
mod tests;
mod worker_places;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use shared::ids::{Generation, NetworkId};
use shared::wire::network_ref_from_wire;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::batch::{BatchSettings, Job};
use super::best::{BestNetwork, CurrentBest};
use super::waiting::{LeafClass, StreamId, Waiting, WaitingBatch};
use batch_size::{check_size, without_message};
use read_ahead::ReadAhead;
pub use worker_places::TooManyStreams;
use worker_places::WorkerPlaces;

/// Workers whose leaves fill the queue together: a single one is bounded to this part of it.
const FULL_WORKER_COUNT: usize = 4;

/// A job in the queue.
#[derive(Debug)]
pub(super) struct QueuedJob {
    pub(super) job: Job,
    pub(super) class: LeafClass,
    pub(super) submitted_at: Instant,
    stream: StreamId,
    /// Its stream's: nobody waits for the answer any more.
    closed: CancellationToken,
    /// Its leaves' room in the queue, that of its worker and that of its class, until it is answered.
    _room: [OwnedSemaphorePermit; 2],
}

impl QueuedJob {
    pub(super) fn leaf_count(&self) -> usize {
        self.job.batch.move_counts.len()
    }
}

/// The network that evaluates the jobs taken together, and the generation of the best one at that moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct TakenFor {
    pub(super) network_id: NetworkId,
    pub(super) generation: Generation,
}

/// Why a batch was not taken into the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum QueueError {
    /// It has more leaves than may be evaluated together.
    #[error("batch of {leaf_count} leaves: more than {max}, the learner's inference.batch_leaves_max")]
    TooLarge { leaf_count: usize, max: usize },
    /// It has no leaves, or positions and moves of different numbers of leaves.
    #[error("batch with move counts of {leaf_count} leaves and lengths of {length_count} positions")]
    UnequalLengths { leaf_count: usize, length_count: usize },
    /// Its positions and moves take more bytes than so many leaves may.
    #[error("batch of {byte_count} bytes: more than the {max} that its leaves may take")]
    TooManyBytes { byte_count: usize, max: usize },
    /// Its stream, or the inference thread, is gone.
    #[error("nobody waits for the answer, or nobody gives one")]
    Closed,
}

/// Leaves that wait for their evaluation or are being evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitingLeaves {
    /// Of gates.
    pub gate: u64,
    /// Of self-play.
    pub self_play: u64,
}

/// The queue between the streams and the inference threads.
#[derive(Debug)]
pub(super) struct LeafQueue {
    state: Mutex<State>,
    /// A batch has come that nobody has read, or there is room for another one that is read.
    has_unread: Condvar,
    /// A batch has come that can be evaluated: a read one, where others read.
    arrived: Condvar,
    /// A batch has come that an inference server may take.
    arrived_to_lend: Notify,
    gate_room: Arc<Semaphore>,
    self_play_room: Arc<Semaphore>,
    /// Leaves of each class at most.
    class_leaf_count_max: usize,
    batch_leaf_count_max: usize,
}

#[derive(Debug)]
struct State {
    waiting: Waiting<QueuedJob>,
    /// What inference servers gave back, or lost: it is evaluated here, before all else.
    returned: Waiting<QueuedJob>,
    read: ReadAhead,
    workers: WorkerPlaces,
    /// Whether nothing will come any more, or nobody will take it.
    is_closed: bool,
}

impl State {
    /// Returns what comes next of what nobody has read.
    fn unread(&mut self) -> &mut Waiting<QueuedJob> {
        if self.returned.is_empty() { &mut self.waiting } else { &mut self.returned }
    }
}

impl LeafQueue {
    pub(super) fn new(settings: &BatchSettings) -> Self {
        let leaf_count_max = settings.queue_leaf_count_max.clamp(settings.batch_leaf_count_max, Semaphore::MAX_PERMITS);
        let worker_leaf_count_max = (leaf_count_max / FULL_WORKER_COUNT).max(settings.batch_leaf_count_max);
        Self {
            state: Mutex::new(State {
                waiting: Waiting::default(),
                returned: Waiting::default(),
                read: ReadAhead::new(settings),
                workers: WorkerPlaces::new(worker_leaf_count_max),
                is_closed: false,
            }),
            has_unread: Condvar::new(),
            arrived: Condvar::new(),
            arrived_to_lend: Notify::new(),
            gate_room: Arc::new(Semaphore::new(leaf_count_max)),
            self_play_room: Arc::new(Semaphore::new(leaf_count_max)),
            class_leaf_count_max: leaf_count_max,
            batch_leaf_count_max: settings.batch_leaf_count_max,
        }
    }

    /// Returns how many leaves of each class wait or are being evaluated.
    pub(super) fn waiting_leaves(&self) -> WaitingLeaves {
        let taken = |room: &Semaphore| (self.class_leaf_count_max - room.available_permits()) as u64;
        WaitingLeaves { gate: taken(&self.gate_room), self_play: taken(&self.self_play_room) }
    }

    /// Opens a stream of a worker.
    ///
    /// # Errors
    /// [`TooManyStreams`] if the worker has as many as it may.
    pub(super) fn open_stream_of(&self, worker_id: &str) -> Result<QueueStream, TooManyStreams> {
        let (id, room) = self.lock().workers.open(worker_id)?;
        Ok(QueueStream { id, worker_id: Some(worker_id.to_owned()), room, closed: CancellationToken::new() })
    }

    /// Opens a stream of the learner's own.
    pub(super) fn open_own_stream(&self) -> QueueStream {
        let (id, room) = self.lock().workers.open_own();
        QueueStream { id, worker_id: None, room, closed: CancellationToken::new() }
    }

    /// Closes a stream and drops what waits of it.
    pub(super) fn close_stream(&self, stream: &QueueStream) {
        stream.closed.cancel();
        let mut state = self.lock();
        state.waiting.remove_stream(stream.id);
        state.returned.remove_stream(stream.id);
        state.read.remove_stream(stream.id);
        if let Some(worker_id) = &stream.worker_id {
            state.workers.close(worker_id);
        }
        self.has_unread.notify_all();
    }

    /// Adds a job of a stream; waits while its worker's part of the queue, or all of it, is full.
    ///
    /// # Errors
    /// [`QueueError`] with the job, which is not added.
    pub(super) async fn push(
        &self,
        stream: &QueueStream,
        class: LeafClass,
        mut job: Job,
    ) -> Result<(), (QueueError, Job)> {
        let leaf_count = match check_size(&job.batch, self.batch_leaf_count_max) {
            Ok(leaf_count) => leaf_count,
            Err(error) => return Err((error, job)),
        };
        without_message(&mut job.batch);
        let submitted_at = Instant::now();
        let network = network_ref_from_wire(job.batch.network_id);
        let room = stream.closed.run_until_cancelled(self.room(stream, class, leaf_count));
        let Some(Some(room)) = room.await else { return Err((QueueError::Closed, job)) };
        let mut state = self.lock();
        // Under the lock, so that a job never comes after its stream was closed.
        if state.is_closed || stream.closed.is_cancelled() {
            return Err((QueueError::Closed, job));
        }
        let closed = stream.closed.clone();
        let job = QueuedJob { job, class, submitted_at, stream: stream.id, closed, _room: room };
        state.waiting.push(stream.id, WaitingBatch { class, network, leaf_count, job });
        if state.read.is_used() {
            self.has_unread.notify_one()
        } else {
            self.arrived.notify_one()
        }
        drop(state);
        self.arrived_to_lend.notify_one();
        Ok(())
    }

    /// Takes jobs that nobody has read, for one network, at most `leaf_limit` leaves together. Waits for the first as long
    /// as it takes, and not at all for more: while they are evaluated, the next ones gather. `None` once the queue is closed.
    pub(super) fn take(&self, best: &BestNetwork, leaf_limit: usize, jobs: &mut Vec<QueuedJob>) -> Option<TakenFor> {
        let is_idle = |state: &mut State| state.unread().is_empty() && !state.is_closed;
        let mut state = self.arrived.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
        let CurrentBest { network_id: best_id, generation } = best.get();
        let network_id = state.unread().take(best_id, leaf_limit, jobs)?;
        Some(TakenFor { network_id, generation })
    }

    /// Ends the queue: what waits is dropped, and nothing more is taken in.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.waiting = Waiting::default();
        state.returned = Waiting::default();
        state.read.clear();
        self.gate_room.close();
        self.self_play_room.close();
        self.has_unread.notify_all();
        self.arrived.notify_all();
        self.arrived_to_lend.notify_waiters();
    }

    /// Waits until there is room for so many leaves; `None` if the queue is closed.
    async fn room(
        &self,
        stream: &QueueStream,
        class: LeafClass,
        leaf_count: usize,
    ) -> Option<[OwnedSemaphorePermit; 2]> {
        let class_room = match class {
            LeafClass::Gate => &self.gate_room,
            LeafClass::SelfPlay => &self.self_play_room,
        };
        // At most `batch_leaves_max`, which is a u32. Semaphores serve whoever asks first: each stream asks once at a time,
        // and for room in all only once its worker has room.
        let leaf_count = u32::try_from(leaf_count).ok()?;
        let of_worker = Arc::clone(&stream.room).acquire_many_owned(leaf_count).await.ok()?;
        let of_class = Arc::clone(class_room).acquire_many_owned(leaf_count).await.ok()?;
        Some([of_worker, of_class])
    }

    /// Locks the queue. Every change under the lock is complete before anything in it can panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream as the queue knows it.
#[derive(Debug)]
pub(super) struct QueueStream {
    id: StreamId,
    /// `None` if it is the learner's own.
    worker_id: Option<String>,
    /// Its worker's.
    room: Arc<Semaphore>,
    closed: CancellationToken,
}
