//! An inference server elsewhere, as the learner sees it: it is lent batches that wait, as many as it takes at once, and
//! its answers are dealt out as if they had been computed here. What it does not answer is evaluated here.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use shared::ids::NetworkId;
use shared::wire::{EvaluationHeader, WireError, read_evaluations, read_leaf_batch, write_evaluations};

use super::InferenceHandle;
use super::answers::sample_answers;
use super::counters::InferenceCounters;
use super::queue::{QueuedJob, TakenFor};
use super::waiting::LeafClass;

/// Leaves that an inference server may ask for at once: two of the largest evaluations.
const LEAVES_IN_FLIGHT_MAX: u32 = 2 * 65_536;
/// Leaves that a server is lent at once before it has answered any, and that a slow one is lent always.
const LEAVES_FIRST: u32 = 64;
/// How long an answer may take, for the server to be lent as many leaves or more: the games of these leaves wait for it.
const ANSWER_TIME_GOOD: Duration = Duration::from_millis(500);
/// More active cells than a position of any game has.
const ACTIVE_CELLS_MAX: u64 = 1024;

/// Why an inference server cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RemoteError {
    /// It answered a batch that it does not have.
    #[error("it answered batch {0}, which it was not sent or has answered already")]
    UnknownBatch(u64),
    /// An answer is another network's.
    #[error("answer to batch {batch_id} by network {found}, not {asked}")]
    OtherNetwork {
        /// The batch.
        batch_id: u64,
        /// Who answered.
        found: NetworkId,
        /// Who was asked.
        asked: NetworkId,
    },
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
    /// Leaves that it is lent at once, as its answers' times say.
    earned_leaf_count: u32,
    /// The same, but no more than it takes, as it says.
    leaf_count_max: u32,
    answered_count: u64,
    cell_count: u64,
    returned_count: u64,
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
            earned_leaf_count: LEAVES_FIRST,
            leaf_count_max: 0,
            answered_count: 0,
            cell_count: 0,
            returned_count: 0,
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

    /// Returns how many leaves it has given back.
    #[must_use]
    pub const fn returned_count(&self) -> u64 {
        self.returned_count
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
            // It would come back, and cost the server time.
            if let Err(error) = read_leaf_batch(&queued.job.batch) {
                self.handle.counters.refuse(queued.job, &error);
                continue;
            }
            self.last_number += 1;
            self.lent_leaf_count += queued.leaf_count();
            let (batch_id, network_id) = (self.last_number, taken_for.network_id.get());
            batches.push(proto::LeafBatch { batch_id, network_id, ..queued.job.batch.clone() });
            self.lent.insert(batch_id, Lent { queued, taken_for, lent_at: now });
        }
        (!batches.is_empty()).then_some(proto::LeafBatches { batches })
    }

    /// Notes what it says: deals an answer out, takes a batch back, and changes how many leaves it is lent.
    ///
    /// # Errors
    /// [`RemoteError`]: it cannot be used any more.
    pub fn note(&mut self, offer: &proto::InferenceOffer) -> Result<(), RemoteError> {
        if let Some(answer) = &offer.answer {
            self.take_answer(answer, offer.active_cell_count)?;
        }
        self.set_leaf_count_max(offer.leaves_in_flight_max.min(self.earned_leaf_count));
        Ok(())
    }

    fn take_answer(&mut self, answer: &proto::EvaluationBatch, active_cell_count: u64) -> Result<(), RemoteError> {
        let batch_id = answer.batch_id;
        let lent = self.lent.remove(&batch_id).ok_or(RemoteError::UnknownBatch(batch_id))?;
        let leaf_count = lent.queued.leaf_count();
        self.lent_leaf_count -= leaf_count;
        let move_count = lent.queued.job.batch.policy_indices.len() / 2;
        let asked = lent.taken_for.network_id;
        match read_evaluations(answer, move_count, leaf_count, &mut self.priors, &mut self.values) {
            Ok(EvaluationHeader { network_id: found, .. }) if found != asked => {
                self.handle.queue.0.take_back(std::iter::once(lent.queued));
                Err(RemoteError::OtherNetwork { batch_id, found, asked })
            }
            Ok(header) => {
                self.answered_count += leaf_count as u64;
                self.earn(lent.lent_at.elapsed(), leaf_count);
                self.count(&lent, &header, active_cell_count);
                self.deal_out(lent, header.uniform_prior_count);
                Ok(())
            }
            Err(error) => {
                self.returned_count += leaf_count as u64;
                self.handle.queue.0.take_back(std::iter::once(lent.queued));
                match error {
                    WireError::Refused(_) => Ok(()),
                    source => Err(RemoteError::Unusable { batch_id, source }),
                }
            }
        }
    }

    /// Lends more to a server whose answers come soon, and less to one that lets games wait.
    fn earn(&mut self, answer_time: Duration, leaf_count: usize) {
        let leaf_count = u32::try_from(leaf_count).unwrap_or(u32::MAX);
        self.earned_leaf_count = if answer_time <= ANSWER_TIME_GOOD {
            self.earned_leaf_count.saturating_add(leaf_count).min(LEAVES_IN_FLIGHT_MAX)
        } else {
            self.earned_leaf_count.saturating_sub(leaf_count).max(LEAVES_FIRST)
        };
    }

    fn count(&mut self, lent: &Lent, header: &EvaluationHeader, active_cell_count: u64) {
        let (counters, leaf_count) = (&self.handle.counters, lent.queued.leaf_count());
        InferenceCounters::add(&counters.evaluation_count, leaf_count);
        InferenceCounters::add(&counters.remote_evaluation_count, leaf_count);
        InferenceCounters::add(&counters.computed_leaf_count, leaf_count);
        InferenceCounters::add(&counters.uniform_prior_count, leaf_count.min(header.uniform_prior_count as usize));
        // Those of one answer may be said with another.
        let cell_count_max = (self.answered_count * ACTIVE_CELLS_MAX).saturating_sub(self.cell_count);
        let active_cell_count = active_cell_count.min(cell_count_max);
        self.cell_count += active_cell_count;
        counters.active_cell_count.fetch_add(active_cell_count, Ordering::Relaxed);
        if lent.queued.class == LeafClass::SelfPlay {
            let wait_us = lent.queued.submitted_at.elapsed().as_micros() as usize;
            InferenceCounters::add(&counters.self_play_wait_us, wait_us * leaf_count);
        }
        let jobs = std::slice::from_ref(&lent.queued);
        sample_answers(jobs, lent.taken_for.network_id, &self.priors, &self.values, &counters.answers);
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
