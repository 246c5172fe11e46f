//! Deals the answers of an evaluation out to the streams that asked, on the thread that evaluated or on another.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use net::NetworkOutput;
use shared::ids::NetworkId;
use shared::search::LeafAnswers;
use shared::wire::{EvaluationHeader, read_leaf_batch, write_evaluations};

use super::answer_meter::{AnswerMeter, SAMPLE_LEAVES_MAX};
use super::counters::InferenceCounters;
use super::queue::{QueuedJob, TakenFor};
use super::waiting::LeafClass;

/// Evaluations that may wait until their answers are written; then the thread that evaluates waits.
const EVALUATIONS_UNWRITTEN_MAX: usize = 2;

/// An evaluation whose answers are to be written.
#[derive(Debug, Default)]
pub(super) struct Evaluated {
    /// Whose leaves they are, in the order of `output`. Empty again once they have their answers.
    pub(super) jobs: Vec<QueuedJob>,
    pub(super) output: NetworkOutput,
}

impl Evaluated {
    /// Sends each job its answers, and counts them.
    pub(super) fn deal_out(&mut self, taken_for: TakenFor, counters: &InferenceCounters) {
        let TakenFor { network_id, generation } = taken_for;
        sample_answers(&self.jobs, network_id, &self.output.priors, &self.output.values, &counters.answers);
        let mut answers = LeafAnswers::new(&self.output.priors, &self.output.values);
        // The count of the whole batch goes to its first answer: sums over workers stay right.
        let mut uniform_prior_count = self.output.uniform_prior_count;
        InferenceCounters::add(&counters.uniform_prior_count, uniform_prior_count as usize);
        InferenceCounters::add(&counters.zeroed_value_count, self.output.zeroed_value_count as usize);
        for QueuedJob { job, class, submitted_at, .. } in self.jobs.drain(..) {
            let leaf_count = job.batch.move_counts.len();
            let own = answers.take(leaf_count, job.batch.policy_indices.len() / 2);
            let header = EvaluationHeader { batch_id: job.batch.batch_id, network_id, generation, uniform_prior_count };
            uniform_prior_count = 0;
            job.answer.send(write_evaluations(header, own.priors(), own.values()));
            if class == LeafClass::SelfPlay {
                let wait_us = submitted_at.elapsed().as_micros() as usize;
                InferenceCounters::add(&counters.self_play_wait_us, wait_us * leaf_count);
            }
        }
    }
}

/// Shows the first answers to these jobs now and then to whoever looks whether they say something.
pub(super) fn sample_answers(
    jobs: &[QueuedJob],
    network_id: NetworkId,
    priors: &[f32],
    values: &[f32],
    meter: &AnswerMeter,
) {
    if !meter.is_due() {
        return;
    }
    let views = jobs.iter().filter_map(|queued| read_leaf_batch(&queued.job.batch).ok());
    let leaves = views.flat_map(|view| view.leaves()).take(SAMPLE_LEAVES_MAX);
    let mut answers = LeafAnswers::new(priors, values);
    let answered = leaves.map_while(|leaf| {
        let (priors, value) = answers.next_leaf(leaf.policy_indices().len())?;
        Some((leaf.packed, priors, value.get()))
    });
    meter.note(network_id, answered);
}

/// Where a thread that evaluates hands its answers to the thread that writes them.
#[derive(Debug)]
pub(super) struct AnswerSender {
    evaluated: SyncSender<(Evaluated, TakenFor)>,
    /// What was written, to be used again.
    written: Receiver<Evaluated>,
}

/// The thread's end of an [`AnswerSender`].
#[derive(Debug)]
pub(super) struct AnswerWriter {
    evaluated: Receiver<(Evaluated, TakenFor)>,
    /// As many wait here as were sent before, which the other channel bounds.
    written: Sender<Evaluated>,
}

/// Connects a thread that evaluates with one that writes.
pub(super) fn answer_channel() -> (AnswerSender, AnswerWriter) {
    let (evaluated, to_write) = sync_channel(EVALUATIONS_UNWRITTEN_MAX);
    let (written, to_reuse) = channel();
    (AnswerSender { evaluated, written: to_reuse }, AnswerWriter { evaluated: to_write, written })
}

impl AnswerSender {
    /// Hands an evaluation over, in exchange for the memory of one that is written. Returns false if nobody writes.
    pub(super) fn send(&self, evaluated: &mut Evaluated, taken_for: TakenFor) -> bool {
        let next = self.written.try_recv().unwrap_or_default();
        self.evaluated.send((std::mem::replace(evaluated, next), taken_for)).is_ok()
    }
}

impl AnswerWriter {
    /// Writes until the thread that evaluates has ended.
    pub(super) fn run(self, counters: &InferenceCounters) {
        for (mut evaluated, taken_for) in self.evaluated {
            evaluated.deal_out(taken_for, counters);
            // Nobody takes it once the other thread has ended.
            let _ = self.written.send(evaluated);
        }
    }
}
