//! Answers the leaves of all workers: a bounded queue, and threads that each own tensors and evaluate one batch at a time.
//!
//! A batch takes what waits, never mixes networks, and never waits for more: while it is evaluated, the next one gathers.
//! The threads read leaves and write answers themselves, or have both done by others (`encode_thread_count`).
//! Leaves of gates go first, workers take turns, and a batch is no larger than `batch_time_max` allows.
//! What a worker sends is checked here; a bad batch is answered with an error and costs no other worker anything.

mod answer_meter;
mod answers;
mod backend;
mod batch;
mod batch_times;
mod batcher;
pub mod best;
mod counters;
mod device_time;
#[cfg(feature = "instant")]
mod instant;
mod local;
mod networks;
mod pace;
mod queue;
mod reader;
mod remote;
#[cfg(test)]
mod tests;
mod waiting;

use std::sync::Arc;
use std::thread::JoinHandle;

use net::NetError;
use shared::encoding::Encoding;
use shared::wire::network_ref_from_wire;

pub use answer_meter::{AnswerFault, AnswerMeter};
pub use backend::InferenceBackend;
pub use batch::{BatchSettings, Job};
pub use batch_times::BatchTimes;
pub use counters::{InferenceCounters, InferenceCounts};
#[cfg(feature = "instant")]
pub use instant::InstantBackend;
pub use local::{LocalAnswer, LocalBatch, LocalEvaluator};
pub use net::NetworkOutput;
pub use networks::NetworkBackend;
pub use queue::{TooManyStreams, WaitingLeaves};
pub use remote::{RemoteError, RemoteServer};

use answers::answer_channel;
use batcher::Batcher;
use best::BestNetwork;
use pace::BatchPace;
use queue::{LeafQueue, QueueError, QueueStream};
use reader::LeafReader;
use waiting::LeafClass;

/// Why leaves cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum InferenceStartError {
    /// The system refuses the thread.
    #[error("start an inference thread")]
    Thread(#[source] std::io::Error),
    /// The device is not there.
    #[error(transparent)]
    Backend(#[from] NetError),
    /// The thread panicked.
    #[error("an inference thread ended while it started")]
    Ended,
}

/// Where streams are opened. The inference threads end when the last handle and stream are gone.
#[derive(Debug, Clone)]
pub struct InferenceHandle {
    queue: Arc<QueueCloser>,
    best: Arc<BestNetwork>,
    counters: Arc<InferenceCounters>,
}

impl InferenceHandle {
    /// Starts the inference threads. `make_backend` runs on each, since one thread owns the tensors of a backend, and is
    /// given its number, from 0 on.
    ///
    /// The threads must have ended before the process does: libtorch does not survive its own clean-up in use.
    ///
    /// # Errors
    /// [`InferenceStartError`].
    pub fn start<E: Encoding, V: InferenceBackend>(
        encoding: &E,
        settings: &BatchSettings,
        best: &Arc<BestNetwork>,
        make_backend: impl Fn(usize) -> Result<V, NetError> + Clone + Send + 'static,
    ) -> Result<(Self, Vec<JoinHandle<()>>), InferenceStartError> {
        let queue = Arc::new(LeafQueue::new(settings));
        let handle = Self { queue: Arc::new(QueueCloser(queue)), best: Arc::clone(best), counters: Arc::default() };
        let mut threads = Vec::with_capacity(2 * settings.batch_count.max(1) + settings.encode_thread_count);
        let is_read_ahead = settings.encode_thread_count > 0;
        for number in 0..settings.batch_count.max(1) {
            let (queue, reader) = (handle.close_with_thread(), LeafReader::new(encoding.clone()));
            let (best, counters, make_backend) = (Arc::clone(best), handle.counters(), make_backend.clone());
            let pace = BatchPace::new(settings.leaf_count_max, settings.padded_sizes.clone(), settings.time_max);
            let answers = is_read_ahead.then(answer_channel);
            let (sender, writer) = answers.map_or((None, None), |(sender, writer)| (Some(sender), Some(writer)));
            let (ready, is_ready) = std::sync::mpsc::sync_channel(1);
            threads.push(spawn(format!("inference-{number}"), move || match make_backend(number) {
                Ok(backend) => {
                    let _ = ready.send(Ok(()));
                    let batcher = Batcher::new(backend, pace, best, counters);
                    match sender {
                        Some(answers) => batcher.run_between(&queue.0, &answers),
                        None => batcher.run(&queue.0, reader),
                    }
                }
                Err(error) => {
                    let _ = ready.send(Err(error));
                }
            })?);
            is_ready.recv().map_err(|_| InferenceStartError::Ended)??;
            if let Some(writer) = writer {
                let counters = handle.counters();
                threads.push(spawn(format!("answers-{number}"), move || writer.run(&counters))?);
            }
        }
        for number in 0..settings.encode_thread_count {
            let (queue, reader) = (handle.close_with_thread(), LeafReader::new(encoding.clone()));
            let counters = handle.counters();
            threads.push(spawn(format!("encode-{number}"), move || reader.run(&queue.0, &counters))?);
        }
        Ok((handle, threads))
    }

    /// Returns what closes the queue when the thread that has it ends.
    fn close_with_thread(&self) -> QueueCloser {
        QueueCloser(Arc::clone(&self.queue.0))
    }

    /// Opens a stream of batches of the learner's own.
    #[must_use]
    pub fn open_stream(&self) -> LeafStream {
        self.stream(self.queue.0.open_own_stream())
    }

    /// Opens a stream of a worker: its streams share one turn and one part of the queue.
    ///
    /// # Errors
    /// [`TooManyStreams`] if the worker has as many as it may.
    pub fn open_stream_of(&self, worker_id: &str) -> Result<LeafStream, TooManyStreams> {
        Ok(self.stream(self.queue.0.open_stream_of(worker_id)?))
    }

    /// Connects an inference server, which takes no leaves before it says so.
    #[must_use]
    pub fn open_remote(&self) -> RemoteServer {
        RemoteServer::new(self.clone())
    }

    fn stream(&self, stream: QueueStream) -> LeafStream {
        LeafStream { sender: LeafSender { handle: self.clone(), stream: Arc::new(stream) } }
    }

    /// Returns a view of the queue.
    #[must_use]
    pub fn queue(&self) -> QueueView {
        QueueView(Arc::clone(&self.queue.0))
    }

    /// Returns what has been answered so far.
    #[must_use]
    pub fn counters(&self) -> Arc<InferenceCounters> {
        Arc::clone(&self.counters)
    }
}

fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, InferenceStartError> {
    std::thread::Builder::new().name(name).spawn(work).map_err(InferenceStartError::Thread)
}

/// Looks at the queue without keeping it open.
#[derive(Debug, Clone)]
pub struct QueueView(Arc<LeafQueue>);

impl QueueView {
    /// Returns how many leaves wait or are being evaluated.
    #[must_use]
    pub fn waiting_leaves(&self) -> WaitingLeaves {
        self.0.waiting_leaves()
    }
}

/// Closes the queue when one of its two ends is gone.
#[derive(Debug)]
struct QueueCloser(Arc<LeafQueue>);

impl Drop for QueueCloser {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A stream of batches. When it is dropped, what waits of it is dropped too: nobody wants the answers any more.
#[derive(Debug)]
pub struct LeafStream {
    sender: LeafSender,
}

impl LeafStream {
    /// Returns what hands in its batches.
    #[must_use]
    pub fn sender(&self) -> LeafSender {
        self.sender.clone()
    }
}

impl Drop for LeafStream {
    fn drop(&mut self) {
        self.sender.handle.queue.0.close_stream(&self.sender.stream);
    }
}

/// Hands in the batches of a [`LeafStream`].
#[derive(Debug, Clone)]
pub struct LeafSender {
    handle: InferenceHandle,
    stream: Arc<QueueStream>,
}

impl LeafSender {
    /// Hands in a batch; waits while there is no room for it. A batch of an impossible size is answered with
    /// the reason. Returns false if the stream is closed or an inference thread has ended.
    ///
    /// [`Self::refuse`] is for what the caller itself does not want.
    pub async fn submit(&self, job: Job) -> bool {
        let class = LeafClass::of(network_ref_from_wire(job.batch.network_id), &self.handle.best);
        match self.handle.queue.0.push(&self.stream, class, job).await {
            Ok(()) => true,
            Err((QueueError::Closed, _)) => false,
            Err((error, job)) => {
                self.handle.counters.refuse(job, &error);
                true
            }
        }
    }

    /// Answers a batch with the reason why it is not evaluated, and counts it.
    pub fn refuse(&self, job: Job, reason: &dyn std::fmt::Display) {
        self.handle.counters.refuse(job, reason);
    }
}
