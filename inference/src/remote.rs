//! An inference server elsewhere, as the learner sees it: it is lent batches that wait, as many as it takes at once, and
//! its answers are dealt out as if they had been computed here. What it does not answer is evaluated here.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

use shared::wire::{EvaluationHeader, WireError, read_evaluations, read_leaf_batch, write_evaluations};

use super::InferenceHandle;
use super::answer_meter::SAMPLE_LEAVES_MAX;
use super::counters::InferenceCounters;
use super::queue::{QueuedJob, TakenFor};
use super::waiting::LeafClass;
use shared::search::LeafAnswers;

/// Leaves that an inference server may ask for at once: two of the largest evaluations.
const LEAVES_IN_FLIGHT_MAX: u32 = 2 * 65_536;

/// Why an inference server cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RemoteError {
    /// It answered a batch that it does not have.
    #[error("it answered batch {0}, which it was not sent or has answered already")]
    UnknownBatch(u64),
    /// An answer does not fit its batch, or holds numbers out of range.
    #[error("answer to batch {batch_id}")]
    Unusable {
        /// The batch.
        batch_id: u64,
        /// What is wrong.
        #[source]
        source: WireError,
    },
}

/// A batch that is lent.
#[derive(Debug)]
struct Lent {
    queued: QueuedJob,
    taken_for: TakenFor,
    lent_at: Instant,
}

/// An inference server that is connected. When it is dropped, what it has not answered is evaluated here.
#[derive(Debug)]
pub struct RemoteServer {
    handle: InferenceHandle,
    /// By number: the oldest first.
    lent: BTreeMap<u64, Lent>,
    last_number: u64,
    lent_leaf_count: usize,
    leaf_count_max: u32,
    answered_count: u64,
    jobs: Vec<QueuedJob>,
    priors: Vec<f32>,
    values: Vec<f32>,
}

impl RemoteServer {
    pub(super) fn new(handle: InferenceHandle) -> Self {
        InferenceCounters::add(&handle.counters.remote_server_count, 1);
        Self {
            handle,
            lent: BTreeMap::new(),
            last_number: 0,
            lent_leaf_count: 0,
            leaf_count_max: 0,
            answered_count: 0,
            jobs: Vec::new(),
            priors: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Returns whether it takes more leaves.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.lent_leaf_count < self.leaf_count_max as usize
    }

    /// Returns since when it has owed the answer that it has owed longest.
    #[must_use]
    pub fn owes_since(&self) -> Option<Instant> {
        self.lent.first_key_value().map(|(_, lent)| lent.lent_at)
    }

    /// Returns how many leaves it has answered.
    #[must_use]
    pub const fn answered_count(&self) -> u64 {
        self.answered_count
    }

    /// Returns whether no leaves will come any more.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.handle.queue.0.is_closed()
    }

    /// Waits until there may be leaves to lend. Whoever waits has called [`Self::lend`] before.
    pub async fn until_leaves(&self) {
        self.handle.queue.0.until_arrival().await;
    }

    /// Lends batches that wait, for one network, as many as it takes. `None` if nothing waits or it takes none.
    pub fn lend(&mut self, now: Instant) -> Option<proto::LeafBatches> {
        let room = (self.leaf_count_max as usize).checked_sub(self.lent_leaf_count).filter(|room| *room > 0)?;
        let taken_for = self.handle.queue.0.lend(&self.handle.best, room, &mut self.jobs)?;
        let mut batches = Vec::with_capacity(self.jobs.len());
        for queued in self.jobs.drain(..) {
            self.last_number += 1;
            self.lent_leaf_count += queued.leaf_count();
            let (batch_id, network_id) = (self.last_number, taken_for.network_id.get());
            batches.push(proto::LeafBatch { batch_id, network_id, ..queued.job.batch.clone() });
            self.lent.insert(batch_id, Lent { queued, taken_for, lent_at: now });
        }
        Some(proto::LeafBatches { batches })
    }

    /// Notes what it says: deals an answer out, takes a batch back, and changes how many leaves it is lent.
    ///
    /// # Errors
    /// [`RemoteError`]: it cannot be used any more.
    pub fn note(&mut self, offer: &proto::InferenceOffer) -> Result<(), RemoteError> {
        let is_willing = match &offer.answer {
            Some(answer) => self.take_answer(answer, offer.active_cell_count)?,
            None => true,
        };
        let leaf_count_max = if is_willing { offer.leaves_in_flight_max.min(LEAVES_IN_FLIGHT_MAX) } else { 0 };
        self.set_leaf_count_max(leaf_count_max);
        Ok(())
    }

    /// Returns whether the batch was answered, and not given back.
    fn take_answer(&mut self, answer: &proto::EvaluationBatch, active_cell_count: u64) -> Result<bool, RemoteError> {
        let batch_id = answer.batch_id;
        let lent = self.lent.remove(&batch_id).ok_or(RemoteError::UnknownBatch(batch_id))?;
        let leaf_count = lent.queued.leaf_count();
        self.lent_leaf_count -= leaf_count;
        let move_count = lent.queued.job.batch.policy_indices.len() / 2;
        match read_evaluations(answer, move_count, leaf_count, &mut self.priors, &mut self.values) {
            Ok(header) => {
                self.answered_count += leaf_count as u64;
                self.count(&lent, &header, active_cell_count);
                self.deal_out(lent, header.uniform_prior_count);
                Ok(true)
            }
            Err(error) => {
                self.handle.queue.0.take_back(std::iter::once(lent.queued));
                match error {
                    WireError::Refused(_) => Ok(false),
                    source => Err(RemoteError::Unusable { batch_id, source }),
                }
            }
        }
    }

    fn count(&self, lent: &Lent, header: &EvaluationHeader, active_cell_count: u64) {
        let (counters, leaf_count) = (&self.handle.counters, lent.queued.leaf_count());
        InferenceCounters::add(&counters.evaluation_count, leaf_count);
        InferenceCounters::add(&counters.remote_evaluation_count, leaf_count);
        InferenceCounters::add(&counters.computed_leaf_count, leaf_count);
        InferenceCounters::add(&counters.uniform_prior_count, header.uniform_prior_count as usize);
        counters.active_cell_count.fetch_add(active_cell_count, Ordering::Relaxed);
        if lent.queued.class == LeafClass::SelfPlay {
            let wait_us = lent.queued.submitted_at.elapsed().as_micros() as usize;
            InferenceCounters::add(&counters.self_play_wait_us, wait_us * leaf_count);
        }
        if !counters.answers.is_due() {
            return;
        }
        let Ok(view) = read_leaf_batch(&lent.queued.job.batch) else { return };
        let mut answers = LeafAnswers::new(&self.priors, &self.values);
        let answered = view.leaves().take(SAMPLE_LEAVES_MAX).map_while(|leaf| {
            let (priors, value) = answers.next_leaf(leaf.policy_indices().len())?;
            Some((leaf.packed, priors, value.get()))
        });
        counters.answers.note(lent.taken_for.network_id, answered);
    }

    fn deal_out(&self, lent: Lent, uniform_prior_count: u32) {
        let TakenFor { network_id, generation } = lent.taken_for;
        let job = lent.queued.job;
        let header = EvaluationHeader { batch_id: job.batch.batch_id, network_id, generation, uniform_prior_count };
        job.answer.send(write_evaluations(header, &self.priors, &self.values));
    }

    fn set_leaf_count_max(&mut self, leaf_count_max: u32) {
        let lent_max = &self.handle.counters.remote_leaf_count_max;
        // Two steps: whoever reads between them sees too few for a moment.
        lent_max.fetch_sub(u64::from(self.leaf_count_max), Ordering::Relaxed);
        lent_max.fetch_add(u64::from(leaf_count_max), Ordering::Relaxed);
        self.leaf_count_max = leaf_count_max;
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        self.set_leaf_count_max(0);
        self.handle.counters.remote_server_count.fetch_sub(1, Ordering::Relaxed);
        let lent = std::mem::take(&mut self.lent);
        self.handle.queue.0.take_back(lent.into_values().map(|lent| lent.queued));
    }
}
