//! Asking the learner's own inference threads, as a worker would: leaves of gates go first there.

use std::time::Duration;

use inference::{InferenceHandle, LocalAnswer, LocalBatch, LocalEvaluator};
use shared::encoding::{Encoding, Mv, Pos};
use shared::game::Value;
use shared::ids::{NetworkId, NetworkRef};
use shared::search::{EvaluationError, LeafAnswers};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::GateCheckError;
use super::ply_search::BatchEvaluator;

/// How long the answer to a batch may take: a busy learner that has to load the network first answers within seconds.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// The inference threads, and how they are asked. Blocks the thread that asks, which must not be one of tokio's.
pub(super) struct OwnInference<E: Encoding> {
    pub(super) encoding: E,
    pub(super) handle: InferenceHandle,
    /// Leaves of a batch at most.
    pub(super) batch_leaf_count_max: usize,
    pub(super) tokio: Handle,
    pub(super) stop: CancellationToken,
}

/// A leaf that was added.
struct AddedLeaf {
    batch_index: usize,
    move_count: usize,
}

/// Collects leaves and has them evaluated.
pub(super) struct LocalBatchEvaluator<'a, E: Encoding> {
    inference: &'a OwnInference<E>,
    evaluator: LocalEvaluator,
    batches: Vec<LocalBatch>,
    added: Vec<AddedLeaf>,
    packed: Vec<u8>,
    policy_indices: Vec<u16>,
}

impl<'a, E: Encoding> LocalBatchEvaluator<'a, E> {
    pub(super) fn new(inference: &'a OwnInference<E>) -> Self {
        let evaluator = LocalEvaluator::new(&inference.handle);
        Self { inference, evaluator, batches: vec![], added: vec![], packed: vec![], policy_indices: vec![] }
    }

    /// Returns the batch for a network that has room for one more leaf.
    fn open_batch(&mut self, network: NetworkRef) -> usize {
        let leaf_count_max = self.inference.batch_leaf_count_max;
        let has_room = |batch: &LocalBatch| batch.network() == network && batch.leaf_count() < leaf_count_max;
        if let Some(index) = self.batches.iter().position(has_room) {
            return index;
        }
        self.batches.push(LocalBatch::new(network));
        self.batches.len() - 1
    }
}

impl<E: Encoding> BatchEvaluator<E> for LocalBatchEvaluator<'_, E> {
    fn add(&mut self, network_id: NetworkId, position: &Pos<E>, moves: &[Mv<E>]) -> Result<(), GateCheckError> {
        let batch_index = self.open_batch(NetworkRef::Id(network_id));
        self.packed.clear();
        self.inference.encoding.pack(position, &mut self.packed);
        self.policy_indices.clear();
        self.inference.encoding.policy_indices(position, moves, &mut self.policy_indices);
        self.batches[batch_index].push(&self.packed, &self.policy_indices)?;
        self.added.push(AddedLeaf { batch_index, move_count: moves.len() });
        Ok(())
    }

    fn evaluate(&mut self) -> Result<Vec<(Vec<f32>, Value)>, GateCheckError> {
        let (batches, added) = (std::mem::take(&mut self.batches), std::mem::take(&mut self.added));
        let asking = async { tokio::time::timeout(ANSWER_TIME_MAX, self.evaluator.evaluate(batches)).await };
        let answered = self.inference.tokio.block_on(self.inference.stop.run_until_cancelled(asking));
        let slow = |_| EvaluationError::Disconnected(format!("no answer within {} s", ANSWER_TIME_MAX.as_secs()));
        let answers = answered.ok_or(GateCheckError::Stopping)?.map_err(slow)??;
        let mut left: Vec<LeafAnswers<'_>> = answers.iter().map(LocalAnswer::leaves).collect();
        let of_leaf = |leaf: &AddedLeaf| {
            let (priors, value) = left.get_mut(leaf.batch_index)?.next_leaf(leaf.move_count)?;
            Some((priors.to_vec(), value))
        };
        let short = || EvaluationError::InvalidAnswer("fewer leaves than were asked for".to_owned());
        Ok(added.iter().map(of_leaf).collect::<Option<_>>().ok_or_else(short)?)
    }
}
