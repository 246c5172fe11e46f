//! What waits to be evaluated, and which of it goes together.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::Receiver;
use tokio::sync::mpsc::error::TryRecvError;

use super::Job;

/// Batches that have arrived, oldest first.
pub(super) struct Queue {
    arriving: Receiver<Job>,
    waiting: VecDeque<Job>,
}

impl Queue {
    pub(super) fn new(arriving: Receiver<Job>) -> Self {
        Self { arriving, waiting: VecDeque::new() }
    }

    /// Takes jobs of one network, the oldest job's: all that wait, at most `leaf_count_max` leaves together.
    ///
    /// Waits for the first job as long as it takes, then at most `wait_max` for more. `None` once all senders are gone.
    pub(super) fn take(&mut self, leaf_count_max: usize, wait_max: Duration, jobs: &mut Vec<Job>) -> Option<()> {
        if self.waiting.is_empty() {
            self.waiting.push_back(self.arriving.blocking_recv()?);
        }
        let network_id = self.waiting[0].batch.network_id;
        let deadline = Instant::now() + wait_max;
        loop {
            self.drain();
            let leaf_count: usize = self.of_network(network_id).map(|job| job.batch.move_counts.len()).sum();
            if leaf_count >= leaf_count_max || Instant::now() >= deadline {
                break;
            }
            // The queue has no timed receive; a hundredth of the wait is short beside any evaluation.
            std::thread::sleep(wait_max / 100);
        }
        self.split_off(network_id, leaf_count_max, jobs);
        Some(())
    }

    fn drain(&mut self) {
        loop {
            match self.arriving.try_recv() {
                Ok(job) => self.waiting.push_back(job),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    fn of_network(&self, network_id: u32) -> impl Iterator<Item = &Job> {
        self.waiting.iter().filter(move |job| job.batch.network_id == network_id)
    }

    /// Moves jobs of the network to `jobs` until the batch is full; the first fits always.
    fn split_off(&mut self, network_id: u32, leaf_count_max: usize, jobs: &mut Vec<Job>) {
        let mut leaf_count = 0;
        let mut left = VecDeque::with_capacity(self.waiting.len());
        for job in self.waiting.drain(..) {
            let size = job.batch.move_counts.len();
            let fits = jobs.is_empty() || leaf_count + size <= leaf_count_max;
            if job.batch.network_id == network_id && fits {
                leaf_count += size;
                jobs.push(job);
            } else {
                left.push_back(job);
            }
        }
        self.waiting = left;
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    fn job(network_id: u32, leaf_count: usize) -> Job {
        let (answer, _open) = mpsc::channel(1);
        let answer = answer.try_reserve_owned().unwrap();
        Job { batch: proto::LeafBatch { network_id, move_counts: vec![1; leaf_count], ..Default::default() }, answer }
    }

    #[test]
    fn a_batch_is_of_one_network_and_no_larger_than_allowed() {
        let (sender, receiver) = mpsc::channel(16);
        for (network_id, leaf_count) in [(1, 4), (2, 3), (1, 5), (1, 2), (1, 20)] {
            sender.try_send(job(network_id, leaf_count)).unwrap();
        }
        drop(sender);
        let mut queue = Queue::new(receiver);
        let mut sizes = Vec::new();
        let mut jobs = Vec::new();
        while queue.take(10, Duration::ZERO, &mut jobs).is_some() {
            sizes.push(
                jobs.drain(..).map(|job| (job.batch.network_id, job.batch.move_counts.len())).collect::<Vec<_>>(),
            );
        }
        assert_eq!(sizes, [vec![(1, 4), (1, 5)], vec![(2, 3)], vec![(1, 2)], vec![(1, 20)]]);
    }
}
