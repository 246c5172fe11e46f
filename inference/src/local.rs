//! Asking the inference threads within their own process: leaves go in, evaluations come out, as for a worker.

use shared::ids::{Generation, NetworkId, NetworkRef};
use shared::search::{EvaluationError, LeafAnswers};
use shared::wire::{LeafBatchBuilder, read_evaluations};
use tokio::sync::mpsc;

use super::batch::Job;
use super::{InferenceHandle, LeafStream};

/// Leaves for one network that are evaluated together.
#[derive(Debug)]
pub struct LocalBatch {
    network: NetworkRef,
    leaves: LeafBatchBuilder,
    move_count: usize,
}

impl LocalBatch {
    /// Makes a batch without leaves.
    #[must_use]
    pub fn new(network: NetworkRef) -> Self {
        Self { network, leaves: LeafBatchBuilder::default(), move_count: 0 }
    }

    /// Returns the network that is asked.
    #[must_use]
    pub const fn network(&self) -> NetworkRef {
        self.network
    }

    /// Returns the number of leaves.
    #[must_use]
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// Adds a leaf: its packed position and the policy indices of its legal moves.
    ///
    /// # Errors
    /// [`EvaluationError::LeafRefused`] if the leaf or the batch would be too large; the batch is then unchanged.
    pub fn push(&mut self, packed: &[u8], policy_indices: &[u16]) -> Result<(), EvaluationError> {
        let pushed = self.leaves.push(packed, policy_indices);
        pushed.map_err(|error| EvaluationError::LeafRefused(error.to_string()))?;
        self.move_count += policy_indices.len();
        Ok(())
    }
}

/// The evaluations of a [`LocalBatch`].
#[derive(Debug)]
pub struct LocalAnswer {
    /// The network that evaluated the leaves.
    pub network_id: NetworkId,
    /// The generation of the best network at that moment.
    pub generation: Generation,
    priors: Vec<f32>,
    values: Vec<f32>,
}

impl LocalAnswer {
    /// Reads the answer to a batch of so many leaves and moves.
    fn read(answer: &proto::EvaluationBatch, leaf_count: usize, move_count: usize) -> Result<Self, EvaluationError> {
        let (mut priors, mut values) = (Vec::new(), Vec::new());
        let header = read_evaluations(answer, move_count, leaf_count, &mut priors, &mut values)?;
        Ok(Self { network_id: header.network_id, generation: header.generation, priors, values })
    }

    /// Returns the evaluations, in the order in which the leaves were added.
    #[must_use]
    pub fn leaves(&self) -> LeafAnswers<'_> {
        LeafAnswers::new(&self.priors, &self.values)
    }
}

/// A stream of leaves that are evaluated for the process of the inference threads itself.
#[derive(Debug)]
pub struct LocalEvaluator {
    stream: LeafStream,
}

impl LocalEvaluator {
    /// Opens the stream.
    #[must_use]
    pub fn new(inference: &InferenceHandle) -> Self {
        Self { stream: inference.open_stream() }
    }

    /// Has batches evaluated and returns their answers, in the order of the batches. Waits while the queue is full, and
    /// until all are answered: whoever has no time for that drops the future.
    ///
    /// # Errors
    /// [`EvaluationError::Refused`] or [`EvaluationError::InvalidAnswer`] for the first batch that is not evaluated,
    /// [`EvaluationError::Disconnected`] if the inference threads have ended.
    pub async fn evaluate(&self, batches: Vec<LocalBatch>) -> Result<Vec<LocalAnswer>, EvaluationError> {
        let gone = || EvaluationError::Disconnected("the inference threads have ended".to_owned());
        let sizes: Vec<_> = batches.iter().map(|batch| (batch.leaf_count(), batch.move_count)).collect();
        let (sender, mut receiver) = mpsc::channel(batches.len().max(1));
        for (batch_id, LocalBatch { network, mut leaves, .. }) in (0..).zip(batches) {
            let answer = sender.clone().reserve_owned().await.map_err(|_| gone())?;
            if !self.stream.sender().submit(Job { batch: leaves.finish(batch_id, network), answer }).await {
                return Err(gone());
            }
        }
        // Once the threads are gone, nobody holds a place for an answer any more.
        drop(sender);
        let mut answers = Vec::with_capacity(sizes.len());
        while answers.len() < sizes.len() {
            answers.push(receiver.recv().await.ok_or_else(gone)?);
        }
        answers.sort_by_key(|answer| answer.batch_id);
        let read = |(answer, (leaves, moves)): (&proto::EvaluationBatch, (usize, usize))| {
            LocalAnswer::read(answer, leaves, moves)
        };
        answers.iter().zip(sizes).map(read).collect()
    }
}
