//! The inference thread: evaluates what waits, together. It reads the batches and deals the answers out itself, or leaves
//! both to threads of their own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use shared::encoding::{Encoding, NetworkInput};

use super::answers::{AnswerSender, Evaluated};
use super::backend::InferenceBackend;
use super::best::BestNetwork;
use super::counters::InferenceCounters;
use super::pace::BatchPace;
use super::queue::{LeafQueue, TakenFor};
use super::reader::LeafReader;

/// Owns the networks and all memory that evaluations need.
pub(super) struct Batcher<V> {
    backend: V,
    pace: BatchPace,
    best: Arc<BestNetwork>,
    counters: Arc<InferenceCounters>,
    input: NetworkInput,
    evaluated: Evaluated,
}

impl<V: InferenceBackend> Batcher<V> {
    pub(super) fn new(backend: V, pace: BatchPace, best: Arc<BestNetwork>, counters: Arc<InferenceCounters>) -> Self {
        Self { backend, pace, best, counters, input: NetworkInput::default(), evaluated: Evaluated::default() }
    }

    /// Reads, evaluates and answers batches until the queue is closed.
    pub(super) fn run<E: Encoding>(mut self, queue: &LeafQueue, mut reader: LeafReader<E>) {
        let mut jobs = Vec::new();
        while let Some(taken_for) = queue.take(&self.best, self.leaf_limit(), &mut jobs) {
            let started_at = Instant::now();
            self.input.clear();
            for queued in jobs.drain(..) {
                match reader.read(&queued.job.batch, &mut self.input) {
                    Ok(()) => self.evaluated.jobs.push(queued),
                    Err(error) => self.counters.refuse(queued.job, &error),
                }
            }
            if self.evaluate(taken_for, started_at) {
                self.evaluated.deal_out(taken_for, &self.counters);
            }
        }
    }

    /// Evaluates batches that others read, and hands the answers over, until the queue is closed or nobody writes answers.
    pub(super) fn run_between(mut self, queue: &LeafQueue, answers: &AnswerSender) {
        let (mut jobs, mut spare) = (Vec::new(), Vec::new());
        while let Some(taken_for) = queue.take_read(&self.best, self.leaf_limit(), &mut jobs) {
            let started_at = Instant::now();
            self.input.clear();
            for mut job in jobs.drain(..) {
                self.input.append(&mut job.input);
                spare.push(job.input);
                self.evaluated.jobs.push(job.queued);
            }
            queue.give_back(&mut spare);
            if self.evaluate(taken_for, started_at) && !answers.send(&mut self.evaluated, taken_for) {
                return;
            }
        }
    }

    fn leaf_limit(&self) -> usize {
        let leaf_limit = self.pace.leaf_limit();
        self.counters.batch_leaf_limit.store(leaf_limit as u64, Ordering::Relaxed);
        leaf_limit
    }

    /// Evaluates the input, if there is any. Returns whether there are answers; otherwise no job is left.
    fn evaluate(&mut self, taken_for: TakenFor, started_at: Instant) -> bool {
        if self.evaluated.jobs.is_empty() {
            return false;
        }
        let computed_leaf_count = self.backend.computed_leaf_count(self.input.len());
        let Self { counters, backend, input, evaluated, .. } = self;
        let evaluated_from = Instant::now();
        let result =
            counters.device_time.during(|| backend.evaluate(taken_for.network_id, input, &mut evaluated.output));
        counters.batch_times.note(evaluated_from.elapsed());
        if let Err(error) = result {
            evaluated.jobs.drain(..).for_each(|queued| counters.refuse(queued.job, &error));
            return false;
        }
        InferenceCounters::add(&counters.computed_leaf_count, computed_leaf_count);
        InferenceCounters::add(&counters.evaluation_count, input.len());
        InferenceCounters::add(&counters.active_cell_count, input.active_cells.len());
        InferenceCounters::add(&counters.batch_count, 1);
        self.pace.note(input.len(), started_at.elapsed());
        true
    }
}
