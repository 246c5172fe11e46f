//! The inference thread: reads batches, evaluates them together, and deals the answers out.

use std::sync::Arc;

use shared::encoding::{Encoding, NetworkInput, Pos};
use shared::game::Game;
use shared::ids::{Generation, NetworkId};
use shared::search::{EvaluationError, LeafAnswers};
use shared::wire::{EvaluationHeader, network_ref_from_wire, read_leaf_batch, write_evaluations};
use tokio::sync::mpsc::Receiver;
use tracing::warn;

use super::queue::Queue;
use super::{BatchSettings, InferenceBackend, InferenceCounters, Job, NetworkOutput};
use crate::best::BestNetwork;

/// Owns the networks and all memory that batches need.
pub(super) struct Batcher<E: Encoding, V> {
    encoding: E,
    backend: V,
    settings: BatchSettings,
    best: Arc<BestNetwork>,
    counters: Arc<InferenceCounters>,
    input: NetworkInput,
    output: NetworkOutput,
    position: Pos<E>,
    policy_indices: Vec<u16>,
    accepted: Vec<Job>,
}

impl<E: Encoding, V: InferenceBackend> Batcher<E, V> {
    pub(super) fn new(
        encoding: E,
        backend: V,
        settings: BatchSettings,
        best: Arc<BestNetwork>,
        counters: Arc<InferenceCounters>,
    ) -> Self {
        let position = encoding.game().initial_position();
        let (input, output) = (NetworkInput::default(), NetworkOutput::default());
        let (policy_indices, accepted) = (Vec::new(), Vec::new());
        Self { encoding, backend, settings, best, counters, input, output, position, policy_indices, accepted }
    }

    /// Answers batches until nobody can send any more.
    pub(super) fn run(mut self, arriving: Receiver<Job>) {
        let mut queue = Queue::new(arriving);
        let mut jobs = Vec::new();
        while queue.take(self.settings.leaf_count_max, self.settings.wait_max, &mut jobs).is_some() {
            self.answer(&mut jobs);
        }
    }

    fn answer(&mut self, jobs: &mut Vec<Job>) {
        self.input.clear();
        let mut accepted = std::mem::take(&mut self.accepted);
        for job in jobs.drain(..) {
            match self.read(&job.batch) {
                Ok(()) => accepted.push(job),
                Err(error) => self.refuse(job, error),
            }
        }
        if let Some(first) = accepted.first() {
            let (network_id, generation) = self.best.resolve(network_ref_from_wire(first.batch.network_id));
            match self.backend.evaluate(network_id, &self.input, &mut self.output) {
                Ok(()) => self.deal_out(&mut accepted, network_id, generation),
                Err(error) => accepted.drain(..).for_each(|job| self.refuse(job, error.clone())),
            }
        }
        self.accepted = accepted;
    }

    /// Appends the leaves of one batch to the input; all of them or none.
    fn read(&mut self, batch: &proto::LeafBatch) -> Result<(), EvaluationError> {
        let (position_count, move_count) = (self.input.len(), self.input.policy_indices.len());
        let view = read_leaf_batch(batch).map_err(|error| EvaluationError::LeafRefused(error.to_string()))?;
        for leaf in view.leaves() {
            self.policy_indices.clear();
            self.policy_indices.extend(leaf.policy_indices());
            let pushed = self
                .encoding
                .unpack(leaf.packed, &mut self.position)
                .and_then(|()| self.input.push(&self.encoding, &self.position, &self.policy_indices));
            if let Err(error) = pushed {
                self.input.truncate(position_count, move_count, self.encoding.plane_shape());
                return Err(EvaluationError::LeafRefused(error.to_string()));
            }
        }
        Ok(())
    }

    fn deal_out(&self, jobs: &mut Vec<Job>, network_id: NetworkId, generation: Generation) {
        InferenceCounters::add(&self.counters.evaluation_count, self.input.len());
        InferenceCounters::add(&self.counters.batch_count, 1);
        InferenceCounters::add(&self.counters.uniform_prior_count, self.output.uniform_prior_count as usize);
        let mut answers = LeafAnswers::new(&self.output.priors, &self.output.values);
        // The count of the whole batch goes to its first answer: sums over workers stay right.
        let mut uniform_prior_count = self.output.uniform_prior_count;
        for job in jobs.drain(..) {
            let own = answers.take(job.batch.move_counts.len(), job.batch.policy_indices.len() / 2);
            let header = EvaluationHeader { batch_id: job.batch.batch_id, network_id, generation, uniform_prior_count };
            uniform_prior_count = 0;
            job.answer.send(write_evaluations(header, own.priors(), own.values()));
        }
    }

    fn refuse(&self, job: Job, error: EvaluationError) {
        InferenceCounters::add(&self.counters.refused_batch_count, 1);
        warn!(batch_id = job.batch.batch_id, network_id = job.batch.network_id, %error, "batch refused");
        let (batch_id, error) = (job.batch.batch_id, error.to_string());
        job.answer.send(proto::EvaluationBatch { batch_id, error, ..Default::default() });
    }
}
