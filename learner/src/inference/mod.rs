//! Answers the leaves of all workers: a bounded queue, a batcher, and one thread that owns the tensors.
//!
//! A batch takes all that is queued, waits at most `batch_wait_us_max` for more, and never mixes networks.
//! What a worker sends is checked here; a bad batch is answered with an error and costs no other worker anything.

mod batcher;
mod networks;
mod queue;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use shared::encoding::{Encoding, NetworkInput};
use shared::ids::NetworkId;
use shared::search::EvaluationError;
use tokio::sync::mpsc;

use net::NetError;
pub use net::NetworkOutput;
pub use networks::NetworkBackend;

use crate::best::BestNetwork;
use batcher::Batcher;

/// Computes batches of positions by one of several networks: tensors in, tensors out. Owned by one thread.
pub trait InferenceBackend {
    /// Evaluates `input` with network `network_id` into `output`, whatever that held before.
    ///
    /// # Errors
    /// [`EvaluationError::NetworkUnavailable`], or [`EvaluationError::DeviceFailed`].
    fn evaluate(
        &mut self,
        network_id: NetworkId,
        input: &NetworkInput,
        output: &mut NetworkOutput,
    ) -> Result<(), EvaluationError>;
}

/// One batch of a worker, and where its answer goes.
#[derive(Debug)]
pub struct Job {
    /// The leaves.
    pub batch: proto::LeafBatch,
    /// The place that is kept for the answer in the worker's stream: sending never waits.
    pub answer: mpsc::OwnedPermit<proto::EvaluationBatch>,
}

/// How batches are made.
#[derive(Debug, Clone, Copy)]
pub struct BatchSettings {
    /// Leaves evaluated together at most.
    pub leaf_count_max: usize,
    /// How long a batch waits for more leaves at most.
    pub wait_max: Duration,
    /// Batches that may wait; senders wait when it is full.
    pub queue_length_max: usize,
}

/// What has been answered so far.
#[derive(Debug, Default)]
pub struct InferenceCounters {
    /// Leaves answered.
    pub evaluation_count: AtomicU64,
    /// Evaluations of batches.
    pub batch_count: AtomicU64,
    /// Leaves whose priors became uniform.
    pub uniform_prior_count: AtomicU64,
    /// Batches refused: unreadable, or for a network that is not there.
    pub refused_batch_count: AtomicU64,
}

/// The values of [`InferenceCounters`] at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InferenceCounts {
    /// Leaves answered.
    pub evaluation_count: u64,
    /// Evaluations of batches.
    pub batch_count: u64,
    /// Leaves whose priors became uniform.
    pub uniform_prior_count: u64,
    /// Batches refused.
    pub refused_batch_count: u64,
}

impl InferenceCounters {
    /// Returns the counts as of now.
    #[must_use]
    pub fn counts(&self) -> InferenceCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        InferenceCounts {
            evaluation_count: read(&self.evaluation_count),
            batch_count: read(&self.batch_count),
            uniform_prior_count: read(&self.uniform_prior_count),
            refused_batch_count: read(&self.refused_batch_count),
        }
    }

    fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }
}

/// Why leaves cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum InferenceStartError {
    /// The system refuses the thread.
    #[error("start the inference thread")]
    Thread(#[source] std::io::Error),
    /// The device is not there.
    #[error(transparent)]
    Backend(#[from] NetError),
    /// The thread panicked.
    #[error("the inference thread ended while it started")]
    Ended,
}

/// Where batches are handed in. The inference thread ends when the last handle is gone.
#[derive(Debug, Clone)]
pub struct InferenceHandle {
    jobs: mpsc::Sender<Job>,
    counters: Arc<InferenceCounters>,
}

impl InferenceHandle {
    /// Starts the inference thread. `make_backend` runs on it, since one thread owns the tensors.
    ///
    /// The thread must have ended before the process does: libtorch does not survive its own clean-up in use.
    ///
    /// # Errors
    /// [`InferenceStartError`].
    pub fn start<E: Encoding, V: InferenceBackend>(
        encoding: E,
        settings: BatchSettings,
        best: Arc<BestNetwork>,
        make_backend: impl FnOnce() -> Result<V, NetError> + Send + 'static,
    ) -> Result<(Self, JoinHandle<()>), InferenceStartError> {
        let (jobs, queue) = mpsc::channel(settings.queue_length_max);
        let counters = Arc::new(InferenceCounters::default());
        let (ready, is_ready) = std::sync::mpsc::sync_channel(1);
        let thread_counters = Arc::clone(&counters);
        let thread = std::thread::Builder::new()
            .name("inference".to_owned())
            .spawn(move || match make_backend() {
                Ok(backend) => {
                    let _ = ready.send(Ok(()));
                    Batcher::new(encoding, backend, settings, best, thread_counters).run(queue);
                }
                Err(error) => {
                    let _ = ready.send(Err(error));
                }
            })
            .map_err(InferenceStartError::Thread)?;
        is_ready.recv().map_err(|_| InferenceStartError::Ended)??;
        Ok((Self { jobs, counters }, thread))
    }

    /// Hands in a batch; waits while the queue is full. Returns false if the thread has ended.
    pub async fn submit(&self, job: Job) -> bool {
        self.jobs.send(job).await.is_ok()
    }

    /// Returns what has been answered so far.
    #[must_use]
    pub fn counters(&self) -> Arc<InferenceCounters> {
        Arc::clone(&self.counters)
    }
}
