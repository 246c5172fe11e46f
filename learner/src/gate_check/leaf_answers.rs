//! Asking the learner's own inference threads, as a worker would: leaves of gates go first there.

use inference::{Job, LeafStream};
use shared::encoding::{Encoding, Mv, Pos};
use shared::game::Value;
use shared::ids::{NetworkId, NetworkRef};
use shared::search::{EvaluationError, LeafAnswers};
use shared::wire::{LeafBatchBuilder, read_evaluations};
use tokio::sync::mpsc;

use super::ply_search::AnswersLeaves;
use super::{ANSWER_TIME_MAX, GateCheck, GateCheckError};

/// A leaf that was added.
struct AddedLeaf {
    batch_index: usize,
    move_count: usize,
}

/// Leaves for one network that are evaluated together.
struct AskedBatch {
    network_id: NetworkId,
    builder: LeafBatchBuilder,
    move_count: usize,
}

/// Collects leaves and has them evaluated.
pub(super) struct LeafAsker<'a, E: Encoding> {
    check: &'a GateCheck<E>,
    stream: LeafStream,
    batches: Vec<AskedBatch>,
    added: Vec<AddedLeaf>,
    packed: Vec<u8>,
    policy_indices: Vec<u16>,
}

impl<'a, E: Encoding> LeafAsker<'a, E> {
    pub(super) fn new(check: &'a GateCheck<E>) -> Self {
        let stream = check.inference.open_stream();
        Self { check, stream, batches: vec![], added: vec![], packed: vec![], policy_indices: vec![] }
    }

    /// Returns the batch for a network that has room for one more leaf.
    fn open_batch(&mut self, network_id: NetworkId) -> usize {
        let has_room = |batch: &AskedBatch| {
            batch.network_id == network_id && batch.builder.len() < self.check.batch_leaf_count_max
        };
        if let Some(index) = self.batches.iter().position(has_room) {
            return index;
        }
        self.batches.push(AskedBatch { network_id, builder: LeafBatchBuilder::default(), move_count: 0 });
        self.batches.len() - 1
    }

    /// Hands in all batches, and returns the answers in their order.
    async fn ask(&self, batches: Vec<proto::LeafBatch>) -> Result<Vec<proto::EvaluationBatch>, EvaluationError> {
        let gone = || EvaluationError::Disconnected("the inference threads have ended".to_owned());
        let count = batches.len();
        let (sender, mut receiver) = mpsc::channel(count.max(1));
        for batch in batches {
            let answer = sender.clone().reserve_owned().await.map_err(|_| gone())?;
            if !self.stream.sender().submit(Job { batch, answer }).await {
                return Err(gone());
            }
        }
        // Once the threads are gone, nobody holds a place for an answer any more.
        drop(sender);
        let mut answers = Vec::with_capacity(count);
        while answers.len() < count {
            answers.push(receiver.recv().await.ok_or_else(gone)?);
        }
        answers.sort_by_key(|answer| answer.batch_id);
        Ok(answers)
    }
}

impl<E: Encoding> AnswersLeaves<E> for LeafAsker<'_, E> {
    fn add(&mut self, network_id: NetworkId, position: &Pos<E>, moves: &[Mv<E>]) -> Result<(), GateCheckError> {
        let batch_index = self.open_batch(network_id);
        self.packed.clear();
        self.check.encoding.pack(position, &mut self.packed);
        self.policy_indices.clear();
        self.check.encoding.policy_indices(position, moves, &mut self.policy_indices);
        let batch = &mut self.batches[batch_index];
        let pushed = batch.builder.push(&self.packed, &self.policy_indices);
        pushed.map_err(|error| EvaluationError::LeafRefused(error.to_string()))?;
        batch.move_count += moves.len();
        self.added.push(AddedLeaf { batch_index, move_count: moves.len() });
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<(Vec<f32>, Value)>, GateCheckError> {
        let mut asked = std::mem::take(&mut self.batches);
        let added = std::mem::take(&mut self.added);
        let sizes: Vec<(usize, usize)> = asked.iter().map(|batch| (batch.builder.len(), batch.move_count)).collect();
        let messages = (0..).zip(&mut asked);
        let messages = messages.map(|(id, batch)| batch.builder.finish(id, NetworkRef::Id(batch.network_id))).collect();
        let asking = async { tokio::time::timeout(ANSWER_TIME_MAX, self.ask(messages)).await };
        let answered = self.check.tokio.block_on(self.check.stop.run_until_cancelled(asking));
        let slow = |_| EvaluationError::Disconnected(format!("no answer within {} s", ANSWER_TIME_MAX.as_secs()));
        let answers = answered.ok_or(GateCheckError::Stopping)?.map_err(slow)??;
        let mut read = Vec::with_capacity(answers.len());
        for (answer, (leaf_count, move_count)) in answers.iter().zip(sizes) {
            let (mut priors, mut values) = (Vec::new(), Vec::new());
            read_evaluations(answer, move_count, leaf_count, &mut priors, &mut values)
                .map_err(|error| EvaluationError::Refused(error.to_string()))?;
            read.push((priors, values));
        }
        let mut left: Vec<LeafAnswers<'_>> =
            read.iter().map(|(priors, values)| LeafAnswers::new(priors, values)).collect();
        let of_leaf = |leaf: &AddedLeaf| {
            let (priors, value) = left.get_mut(leaf.batch_index)?.next_leaf(leaf.move_count)?;
            Some((priors.to_vec(), value))
        };
        let short = || EvaluationError::InvalidAnswer("fewer leaves than were asked for".to_owned());
        Ok(added.iter().map(of_leaf).collect::<Option<_>>().ok_or_else(short)?)
    }
}
