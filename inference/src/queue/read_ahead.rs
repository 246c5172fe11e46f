//! Batches that other threads than the device's have read: as many as the next evaluations need, and no more.
//!
//! A batch is read alone and joined with others only when the device takes it, so that reading ahead decides nothing:
//! what is evaluated together is chosen at the last moment, as it is without.

use std::sync::PoisonError;

use shared::encoding::NetworkInput;

use super::{LeafQueue, QueuedJob, State, TakenFor};
use crate::batch::BatchSettings;
use crate::best::{BestNetwork, CurrentBest};
use crate::waiting::{LeafClass, StreamId, Waiting, WaitingBatch};

/// Evaluations that are read ahead for each one that is under way: while one is computed, the next is read.
const EVALUATIONS_AHEAD: usize = 2;

/// Memory of batches that is kept for the next ones at most: large batches are few, small ones need little.
const SPARE_COUNT_MAX: usize = 64;

/// A batch on its way to be read.
#[derive(Debug)]
pub(crate) struct UnreadJob {
    pub(crate) batch: WaitingBatch<QueuedJob>,
    stream: StreamId,
}

/// A batch that is read.
#[derive(Debug)]
pub(crate) struct ReadJob {
    pub(crate) queued: QueuedJob,
    /// Its leaves.
    pub(crate) input: NetworkInput,
}

/// What is read, and how much of it there may be.
#[derive(Debug, Default)]
pub(super) struct ReadAhead {
    is_used: bool,
    ready: Waiting<ReadJob>,
    /// Leaves that are read or being read, of gates and of self-play. Each has room of its own, so that leaves of a gate
    /// never wait for those of self-play.
    leaf_counts: [usize; 2],
    /// Below this, one more batch of the class is read.
    leaf_count_enough: usize,
    /// Memory of batches that were evaluated.
    spare: Vec<NetworkInput>,
}

impl ReadAhead {
    pub(super) fn new(settings: &BatchSettings) -> Self {
        let leaf_count_enough = EVALUATIONS_AHEAD * settings.batch_count.max(1) * settings.leaf_count_max;
        Self { is_used: settings.encode_thread_count > 0, leaf_count_enough, ..Self::default() }
    }

    /// Returns whether other threads than the device's read.
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    pub(super) fn remove_stream(&mut self, stream: StreamId) {
        for (class, leaf_count) in self.ready.remove_stream(stream) {
            self.leaf_counts[class.index()] -= leaf_count;
        }
    }

    pub(super) fn clear(&mut self) {
        self.ready = Waiting::default();
    }

    fn has_room(&self, class: LeafClass) -> bool {
        self.leaf_counts[class.index()] < self.leaf_count_enough
    }
}

impl LeafQueue {
    /// Takes the next batch to be read, and memory to read it into. Waits until there is one, and room for it; `None` once
    /// the queue is closed.
    pub(crate) fn take_unread(&self) -> Option<(UnreadJob, NetworkInput)> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            let State { waiting, returned, read, .. } = &mut *state;
            let take_one = |unread: &mut Waiting<QueuedJob>| unread.take_one(|class| read.has_room(class));
            if let Some((stream, batch)) = take_one(returned).or_else(|| take_one(waiting)) {
                read.leaf_counts[batch.job.class.index()] += batch.leaf_count;
                return Some((UnreadJob { batch, stream }, read.spare.pop().unwrap_or_default()));
            }
            state = self.has_unread.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds a batch that was read into `input`; drops it if nobody waits for the answer any more.
    pub(crate) fn put_read(&self, job: UnreadJob, input: NetworkInput) {
        let UnreadJob { batch: WaitingBatch { class, network, leaf_count, job: queued }, stream } = job;
        let mut state = self.lock();
        // Under the lock, so that a batch never comes after its stream was closed.
        if state.is_closed || queued.closed.is_cancelled() {
            state.read.leaf_counts[queued.class.index()] -= leaf_count;
            state.read.spare.push(input);
            return;
        }
        state.read.ready.push(stream, WaitingBatch { class, network, leaf_count, job: ReadJob { queued, input } });
        self.arrived.notify_one();
    }

    /// Takes back the memory of a batch that could not be read, and returns the job.
    pub(crate) fn drop_unread(&self, job: UnreadJob, input: NetworkInput) -> QueuedJob {
        let WaitingBatch { leaf_count, job: queued, .. } = job.batch;
        let mut state = self.lock();
        state.read.leaf_counts[queued.class.index()] -= leaf_count;
        state.read.spare.push(input);
        drop(state);
        self.has_unread.notify_one();
        queued
    }

    /// As [`LeafQueue::take`], of batches that are read.
    pub(crate) fn take_read(&self, best: &BestNetwork, leaf_limit: usize, jobs: &mut Vec<ReadJob>) -> Option<TakenFor> {
        let is_idle = |state: &mut State| state.read.ready.is_empty() && !state.is_closed;
        let mut state = self.arrived.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
        let CurrentBest { network_id: best_id, generation } = best.get();
        let network_id = state.read.ready.take(best_id, leaf_limit, jobs)?;
        for job in &*jobs {
            state.read.leaf_counts[job.queued.class.index()] -= job.queued.leaf_count();
        }
        drop(state);
        self.has_unread.notify_all();
        Some(TakenFor { network_id, generation })
    }

    /// Takes back memory that batches were read into; `inputs` is empty then.
    pub(crate) fn give_back(&self, inputs: &mut Vec<NetworkInput>) {
        let mut state = self.lock();
        inputs.truncate(SPARE_COUNT_MAX - state.read.spare.len().min(SPARE_COUNT_MAX));
        state.read.spare.append(inputs);
    }
}
