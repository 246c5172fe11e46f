//! The inference thread: reads batches, evaluates them together, and deals the answers out.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use shared::encoding::{Encoding, NetworkInput, Pos};
use shared::game::Game;
use shared::search::{EvaluationError, LeafAnswers};
use shared::wire::{EvaluationHeader, read_leaf_batch, write_evaluations};

use super::pace::BatchPace;
use super::queue::{LeafQueue, QueuedJob, TakenFor};
use super::waiting::LeafClass;
use super::{InferenceBackend, InferenceCounters, NetworkOutput};
use crate::best::BestNetwork;

/// Owns the networks and all memory that batches need.
pub(super) struct Batcher<E: Encoding, V> {
    encoding: E,
    backend: V,
    pace: BatchPace,
    best: Arc<BestNetwork>,
    counters: Arc<InferenceCounters>,
    input: NetworkInput,
    output: NetworkOutput,
    position: Pos<E>,
    policy_indices: Vec<u16>,
    accepted: Vec<QueuedJob>,
}

impl<E: Encoding, V: InferenceBackend> Batcher<E, V> {
    pub(super) fn new(
        encoding: E,
        backend: V,
        pace: BatchPace,
        best: Arc<BestNetwork>,
        counters: Arc<InferenceCounters>,
    ) -> Self {
        let position = encoding.game().initial_position();
        let (input, output) = (NetworkInput::default(), NetworkOutput::default());
        let (policy_indices, accepted) = (Vec::new(), Vec::new());
        Self { encoding, backend, pace, best, counters, input, output, position, policy_indices, accepted }
    }

    /// Answers batches until the queue is closed.
    pub(super) fn run(mut self, queue: &LeafQueue) {
        let mut jobs = Vec::new();
        loop {
            let leaf_limit = self.pace.leaf_limit();
            self.counters.batch_leaf_limit.store(leaf_limit as u64, Ordering::Relaxed);
            let Some(taken_for) = queue.take(&self.best, leaf_limit, &mut jobs) else { return };
            self.answer(&mut jobs, taken_for);
        }
    }

    fn answer(&mut self, jobs: &mut Vec<QueuedJob>, taken_for: TakenFor) {
        let started_at = Instant::now();
        self.input.clear();
        let mut accepted = std::mem::take(&mut self.accepted);
        for queued in jobs.drain(..) {
            match self.read(&queued.job.batch) {
                Ok(()) => accepted.push(queued),
                Err(error) => self.counters.refuse(queued.job, &error),
            }
        }
        if !accepted.is_empty() {
            let computed_leaf_count = self.backend.computed_leaf_count(self.input.len());
            let Self { counters, backend, input, output, .. } = self;
            let evaluated_from = Instant::now();
            let evaluated = counters.device_time.during(|| backend.evaluate(taken_for.network_id, input, output));
            counters.batch_times.note(evaluated_from.elapsed());
            match evaluated {
                Ok(()) => {
                    InferenceCounters::add(&self.counters.computed_leaf_count, computed_leaf_count);
                    self.pace.note(self.input.len(), started_at.elapsed());
                    self.deal_out(&mut accepted, taken_for);
                }
                Err(error) => accepted.drain(..).for_each(|queued| self.counters.refuse(queued.job, &error)),
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
                self.input.truncate(position_count, move_count);
                return Err(EvaluationError::LeafRefused(error.to_string()));
            }
        }
        Ok(())
    }

    fn deal_out(&self, jobs: &mut Vec<QueuedJob>, taken_for: TakenFor) {
        InferenceCounters::add(&self.counters.evaluation_count, self.input.len());
        InferenceCounters::add(&self.counters.active_cell_count, self.input.active_cells.len());
        InferenceCounters::add(&self.counters.batch_count, 1);
        InferenceCounters::add(&self.counters.uniform_prior_count, self.output.uniform_prior_count as usize);
        let mut answers = LeafAnswers::new(&self.output.priors, &self.output.values);
        let TakenFor { network_id, generation } = taken_for;
        // The count of the whole batch goes to its first answer: sums over workers stay right.
        let mut uniform_prior_count = self.output.uniform_prior_count;
        for QueuedJob { job, class, submitted_at, .. } in jobs.drain(..) {
            let leaf_count = job.batch.move_counts.len();
            let own = answers.take(leaf_count, job.batch.policy_indices.len() / 2);
            let header = EvaluationHeader { batch_id: job.batch.batch_id, network_id, generation, uniform_prior_count };
            uniform_prior_count = 0;
            job.answer.send(write_evaluations(header, own.priors(), own.values()));
            if class == LeafClass::SelfPlay {
                let wait_us = submitted_at.elapsed().as_micros() as usize;
                InferenceCounters::add(&self.counters.self_play_wait_us, wait_us * leaf_count);
            }
        }
    }
}
