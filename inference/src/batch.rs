//! A batch of leaves on its way to its evaluation, and how batches are made.

use std::time::Duration;

use tokio::sync::mpsc;

/// One batch of a worker, and where its answer goes.
#[derive(Debug)]
pub struct Job {
    /// The leaves.
    pub batch: proto::LeafBatch,
    /// The place that is kept for the answer in the worker's stream: sending never waits.
    pub answer: mpsc::OwnedPermit<proto::EvaluationBatch>,
}

/// How batches are made.
#[derive(Debug, Clone)]
pub struct BatchSettings {
    /// Batches evaluated at once by all devices together, at least 1, each by a thread of its own.
    pub batch_count: usize,
    /// Threads that read leaves ahead of the evaluations; as many more as there are batches write answers then. 0: the
    /// threads that evaluate do both.
    pub encode_thread_count: usize,
    /// Leaves evaluated together at most.
    pub leaf_count_max: usize,
    /// Leaves of one batch at most; a larger one is refused. If it is above `leaf_count_max`, such batches are evaluated alone.
    pub batch_leaf_count_max: usize,
    /// How long one evaluation may take: smaller batches are made where it would take longer.
    pub time_max: Duration,
    /// Sizes that batches are padded to, rising; none: not padded.
    pub padded_sizes: Vec<usize>,
    /// Leaves of self-play that may wait, and as many of gates; senders wait when it is full.
    pub queue_leaf_count_max: usize,
}
