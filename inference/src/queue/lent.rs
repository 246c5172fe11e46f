//! Batches that are lent to inference servers elsewhere: taken unread, and evaluated here if they come back unanswered.

use shared::wire::network_ref_from_wire;

use super::{LeafQueue, QueuedJob, TakenFor};
use crate::best::{BestNetwork, CurrentBest};
use crate::waiting::WaitingBatch;

impl LeafQueue {
    /// Takes jobs for one network, at most `leaf_limit` leaves together, without waiting. `None` if nothing waits.
    pub(crate) fn lend(&self, best: &BestNetwork, leaf_limit: usize, jobs: &mut Vec<QueuedJob>) -> Option<TakenFor> {
        let mut state = self.lock();
        let CurrentBest { network_id: best_id, generation } = best.get();
        let network_id = state.waiting.take(best_id, leaf_limit, jobs)?;
        if !state.waiting.is_empty() {
            self.arrived_to_lend.notify_one();
        }
        Some(TakenFor { network_id, generation })
    }

    /// Waits until something may have come that can be lent. Whoever waits has looked before.
    pub(crate) async fn until_arrival(&self) {
        self.arrived_to_lend.notified().await;
    }

    /// Returns whether nothing will come any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Takes jobs back that were not answered, the oldest first. They are not lent again, and those that nobody waits for
    /// any more are dropped.
    pub(crate) fn take_back(&self, jobs: impl Iterator<Item = QueuedJob>) {
        let mut state = self.lock();
        if state.is_closed {
            return;
        }
        for job in jobs.filter(|job| !job.closed.is_cancelled()) {
            let (class, leaf_count, stream) = (job.class, job.leaf_count(), job.stream);
            let network = network_ref_from_wire(job.job.batch.network_id);
            state.returned.push(stream, WaitingBatch { class, network, leaf_count, job });
        }
        drop(state);
        self.has_unread.notify_all();
        self.arrived.notify_all();
    }
}
