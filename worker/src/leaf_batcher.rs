//! Evaluations for the leaves of one thread's games: answered at once from the cache, or collected in one batch for each
//! network and sent to the learner.

use std::sync::Arc;

use shared::encoding::{Encoding, Mv, Pos};
use shared::game::Value;
use shared::ids::{NetworkId, NetworkRef};
use shared::search::{Added, EvaluationError, LeafAnswers};
use shared::wire::LeafBatchBuilder;

use crate::cache::{Cache, PositionKey};
use crate::channels::{BatchRequest, Evaluations, TaskSenders, WorkerState};
use crate::counters::count;

/// Most batch builders that are kept: those of replaced networks are dropped.
const BUILDER_COUNT_MAX: usize = 8;

/// The process is stopping: the tasks no longer take messages of the threads.
#[derive(Debug)]
pub(crate) struct Stopping;

/// Why a leaf was not added.
#[derive(Debug)]
pub(crate) enum AddLeafError {
    /// The leaf cannot be sent.
    Evaluation(EvaluationError),
    /// The process is stopping.
    Stopping(Stopping),
}

/// The game of a leaf, by its index in its half, and the leaf's index in that game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeafOrigin {
    pub(crate) game_index: usize,
    pub(crate) leaf_index: usize,
}

/// A leaf in a batch.
#[derive(Debug)]
pub(crate) struct BatchedLeaf {
    pub(crate) origin: LeafOrigin,
    pub(crate) move_count: usize,
    key: PositionKey,
}

/// A batch whose answer is awaited.
#[derive(Debug)]
pub(crate) struct SentBatch {
    pub(crate) batch_id: u64,
    pub(crate) leaves: Vec<BatchedLeaf>,
    network: NetworkRef,
}

impl SentBatch {
    /// Returns each leaf with its priors and value.
    pub(crate) fn answered<'a>(
        &'a self,
        evaluations: &'a Evaluations,
    ) -> impl Iterator<Item = (&'a BatchedLeaf, (&'a [f32], Value))> {
        let answers = LeafAnswers::new(&evaluations.priors, &evaluations.values);
        self.leaves.iter().zip(answers.leaves(self.leaves.iter().map(|leaf| leaf.move_count)))
    }
}

/// A batch that is being collected.
#[derive(Debug, Default)]
struct OpenBatch {
    network: NetworkRef,
    builder: LeafBatchBuilder,
    leaves: Vec<BatchedLeaf>,
}

/// The leaf batcher of one thread.
pub(crate) struct LeafBatcher<E: Encoding> {
    pub(crate) encoding: E,
    pub(crate) thread: usize,
    pub(crate) state: Arc<WorkerState>,
    pub(crate) senders: TaskSenders,
    /// The best network, as of the last answer.
    pub(crate) best_network_id: NetworkId,
    batch_leaves_max: usize,
    cache: Cache,
    open: Vec<OpenBatch>,
    sent: Vec<SentBatch>,
    sent_count: u64,
    lookup_count: u64,
    hit_count: u64,
    packed: Vec<u8>,
    policy_indices: Vec<u16>,
}

/// Settings of a [`LeafBatcher`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeafBatcherSettings {
    pub(crate) thread: usize,
    pub(crate) cache_bytes: usize,
    pub(crate) batch_leaves_max: usize,
    pub(crate) best_network_id: NetworkId,
}

impl<E: Encoding> LeafBatcher<E> {
    pub(crate) fn new(
        encoding: E,
        settings: LeafBatcherSettings,
        state: Arc<WorkerState>,
        senders: TaskSenders,
    ) -> Self {
        Self {
            encoding,
            thread: settings.thread,
            state,
            senders,
            best_network_id: settings.best_network_id,
            batch_leaves_max: settings.batch_leaves_max,
            cache: Cache::new(settings.cache_bytes),
            open: vec![],
            sent: vec![],
            sent_count: 0,
            lookup_count: 0,
            hit_count: 0,
            packed: vec![],
            policy_indices: vec![],
        }
    }

    /// Adds a leaf. If its evaluation is in the cache, writes `priors` and returns the value; otherwise puts the leaf
    /// into a batch, to be answered for `origin`.
    ///
    /// # Errors
    /// [`AddLeafError::Evaluation`] if the leaf is too large to be sent, [`AddLeafError::Stopping`] if the process is stopping.
    pub(crate) fn add_leaf(
        &mut self,
        network: NetworkRef,
        (position, moves): (&Pos<E>, &[Mv<E>]),
        origin: LeafOrigin,
        priors: &mut [f32],
    ) -> Result<Added, AddLeafError> {
        self.packed.clear();
        self.encoding.pack(position, &mut self.packed);
        let key = PositionKey::new(&self.packed);
        self.lookup_count += 1;
        if let Some(value) = self.cache.get(key.under(self.resolve(network)), priors) {
            self.hit_count += 1;
            return Ok(Added::Answered(Value::new(value)));
        }
        self.policy_indices.clear();
        self.encoding.policy_indices(position, moves, &mut self.policy_indices);
        let index = self.open_batch(network).map_err(AddLeafError::Stopping)?;
        let batch = &mut self.open[index];
        batch
            .builder
            .push(&self.packed, &self.policy_indices)
            .map_err(|error| AddLeafError::Evaluation(EvaluationError::LeafRefused(error.to_string())))?;
        batch.leaves.push(BatchedLeaf { origin, move_count: moves.len(), key });
        Ok(Added::Enqueued)
    }

    /// Returns the id of the network that is asked.
    pub(crate) fn resolve(&self, network: NetworkRef) -> NetworkId {
        network.resolve(self.best_network_id)
    }

    /// Sends the collected batches, updates the counters, and returns all batches sent since the last call.
    ///
    /// # Errors
    /// [`Stopping`] if the process is stopping.
    pub(crate) fn send_all(&mut self) -> Result<Vec<SentBatch>, Stopping> {
        for index in 0..self.open.len() {
            self.send(index)?;
        }
        if self.open.len() > BUILDER_COUNT_MAX {
            self.open.clear();
        }
        count(&self.state.counters.cache_lookup_count, std::mem::take(&mut self.lookup_count));
        count(&self.state.counters.cache_hit_count, std::mem::take(&mut self.hit_count));
        Ok(std::mem::take(&mut self.sent))
    }

    /// Puts the answer to a batch into the cache, and notes the best network.
    pub(crate) fn cache_answer(&mut self, batch: &SentBatch, evaluations: &Evaluations) {
        if batch.network == NetworkRef::Best {
            self.best_network_id = evaluations.network_id;
        }
        for (leaf, (priors, value)) in batch.answered(evaluations) {
            self.cache.insert(leaf.key.under(evaluations.network_id), priors, value.get());
        }
    }

    /// Returns the batch for a network, with room for one more leaf.
    fn open_batch(&mut self, network: NetworkRef) -> Result<usize, Stopping> {
        let found = self.open.iter().position(|batch| batch.network == network);
        let index = found.unwrap_or(self.open.len());
        if found.is_none() {
            self.open.push(OpenBatch { network, ..OpenBatch::default() });
        }
        if self.open[index].builder.len() >= self.batch_leaves_max {
            self.send(index)?;
        }
        Ok(index)
    }

    fn send(&mut self, index: usize) -> Result<(), Stopping> {
        let batch = &mut self.open[index];
        if batch.builder.is_empty() {
            return Ok(());
        }
        // Unique in the process: the high bits are the thread.
        let batch_id = (self.thread as u64) << 40 | self.sent_count;
        self.sent_count += 1;
        let leaves = std::mem::take(&mut batch.leaves);
        count(&self.state.counters.batch_count, 1);
        count(&self.state.counters.evaluation_count, leaves.len() as u64);
        let message = batch.builder.finish(batch_id, batch.network);
        self.sent.push(SentBatch { batch_id, leaves, network: batch.network });
        self.senders.batches.blocking_send(BatchRequest { thread: self.thread, batch: message }).map_err(|_| Stopping)
    }
}
