//! Reads the leaves of workers: what came over the wire becomes what a network reads.

use shared::encoding::{Encoding, NetworkInput, Pos};
use shared::game::Game;
use shared::search::EvaluationError;
use shared::wire::read_leaf_batch;

use super::counters::InferenceCounters;
use super::queue::LeafQueue;

/// Reads batches. Owns what one thread needs for it.
pub(super) struct LeafReader<E: Encoding> {
    encoding: E,
    position: Pos<E>,
    policy_indices: Vec<u16>,
}

impl<E: Encoding> LeafReader<E> {
    pub(super) fn new(encoding: E) -> Self {
        let position = encoding.game().initial_position();
        Self { encoding, position, policy_indices: Vec::new() }
    }

    /// Appends the leaves of one batch to `input`; all of them or none.
    pub(super) fn read(&mut self, batch: &proto::LeafBatch, input: &mut NetworkInput) -> Result<(), EvaluationError> {
        let (position_count, move_count) = (input.len(), input.policy_indices.len());
        let view = read_leaf_batch(batch).map_err(|error| EvaluationError::LeafRefused(error.to_string()))?;
        for leaf in view.leaves() {
            self.policy_indices.clear();
            self.policy_indices.extend(leaf.policy_indices());
            let pushed = self
                .encoding
                .unpack(leaf.packed, &mut self.position)
                .and_then(|()| input.push(&self.encoding, &self.position, &self.policy_indices));
            if let Err(error) = pushed {
                input.truncate(position_count, move_count);
                return Err(EvaluationError::LeafRefused(error.to_string()));
            }
        }
        Ok(())
    }

    /// Reads batches ahead of the threads that evaluate them, until the queue is closed.
    pub(super) fn run(mut self, queue: &LeafQueue, counters: &InferenceCounters) {
        while let Some((job, mut input)) = queue.take_unread() {
            input.clear();
            match self.read(&job.batch.job.job.batch, &mut input) {
                Ok(()) => queue.put_read(job, input),
                Err(error) => counters.refuse(queue.drop_unread(job, input).job, &error),
            }
        }
    }
}
