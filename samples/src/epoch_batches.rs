//! The batches of an epoch, made ahead by threads of their own, so that no training step waits for one.
//!
//! Which samples make a batch follows from the seed and the batch's number alone. The threads take turns, so the order
//! is the same with any number of them. Each is at most two batches ahead, then it waits.

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::encoding::{Encoding, Symmetry, TrainingBatch};
use shared::record::batch::SampleError;
use shared::seed::mix_seed;

use crate::buffer::SampleBuffer;
use crate::sampler::BatchSampler;

/// Batches that a thread makes ahead.
const AHEAD_COUNT: usize = 2;

/// The order of one epoch: every sample once, shuffled by (seed, epoch), each transformed by a random
/// symmetry.
pub struct EpochOrder {
    numbers: Vec<u32>,
    batch_size: usize,
    symmetry_count: u8,
    seed: u64,
}

impl EpochOrder {
    /// Shuffles `sample_count` samples.
    #[must_use]
    pub fn shuffled(sample_count: u64, batch_size: usize, symmetry_count: u8, (seed, epoch): (u64, u32)) -> Self {
        let seed = mix_seed(seed ^ 0x0065_706f_6368, u64::from(epoch));
        let mut numbers: Vec<u32> = (0..u32::try_from(sample_count).unwrap_or(u32::MAX)).collect();
        numbers.shuffle(&mut Pcg64::seed_from_u64(seed));
        Self { numbers, batch_size, symmetry_count, seed }
    }

    /// Takes all samples in their order, untransformed.
    #[must_use]
    pub fn plain(sample_count: u64, batch_size: usize) -> Self {
        let numbers = (0..u32::try_from(sample_count).unwrap_or(u32::MAX)).collect();
        Self { numbers, batch_size, symmetry_count: 1, seed: 0 }
    }

    /// Returns the number of batches, a last one that is not full included.
    #[must_use]
    pub fn batch_count(&self) -> u64 {
        self.numbers.len().div_ceil(self.batch_size) as u64
    }

    /// Returns the samples of a batch by number.
    fn draws(&self, batch: u64) -> impl Iterator<Item = (u64, Symmetry)> + '_ {
        let start = (batch as usize).saturating_mul(self.batch_size).min(self.numbers.len());
        let end = start.saturating_add(self.batch_size).min(self.numbers.len());
        let mut random = Pcg64::seed_from_u64(mix_seed(self.seed, batch));
        self.numbers[start..end]
            .iter()
            .map(move |number| (u64::from(*number), Symmetry(random.random_range(0..self.symmetry_count))))
    }
}

/// What batches are made of.
pub struct BatchSource<'a, E> {
    /// Encoding of the positions.
    pub encoding: &'a E,
    /// The samples.
    pub samples: &'a SampleBuffer,
    /// Their order.
    pub order: &'a EpochOrder,
    /// Threads that make batches, at least 1.
    pub threads: usize,
}

// A derive would want the encoding to be `Copy`, which only the reference to it is.
impl<E> Clone for BatchSource<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for BatchSource<'_, E> {}

/// Why batches cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The system starts no thread.
    #[error("start a thread that makes batches")]
    Thread(#[source] std::io::Error),
    /// A thread ended before its last batch, by a panic.
    #[error("a thread that makes batches ended early")]
    ThreadEnded,
    /// A sample does not decode: the memory or the program is damaged.
    #[error("a sample does not decode")]
    Sample(#[source] SampleError),
}

type Made = Result<TrainingBatch, SampleError>;

/// Makes the batches `range` ahead and calls `take` with each, in order, until it returns false.
///
/// # Errors
/// A [`BatchError`], or the error of `take`.
pub fn for_each_batch<E: Encoding, F: From<BatchError>>(
    source: BatchSource<'_, E>,
    range: Range<u64>,
    mut take: impl FnMut(u64, &TrainingBatch) -> Result<bool, F>,
) -> Result<(), F> {
    let thread_count = source.threads.max(1) as u64;
    std::thread::scope(|scope| {
        let mut lanes: Vec<(Receiver<Made>, Sender<TrainingBatch>)> = Vec::new();
        for lane in 0..thread_count {
            let (made, taken) = sync_channel(AHEAD_COUNT);
            let (back, used) = channel();
            let batches = (range.start + lane..range.end).step_by(thread_count as usize);
            let thread = std::thread::Builder::new().name(format!("batches {lane}"));
            let spawned = thread.spawn_scoped(scope, move || make_batches(source, batches, &made, &used));
            spawned.map_err(BatchError::Thread)?;
            lanes.push((taken, back));
        }
        for (index, batch) in range.clone().enumerate() {
            let (taken, back) = &lanes[index % lanes.len()];
            let made = taken.recv().map_err(|_| BatchError::ThreadEnded)?.map_err(BatchError::Sample)?;
            if !take(batch, &made)? {
                return Ok(());
            }
            // A thread that has made its last batch needs no memory back.
            let _ = back.send(made);
        }
        Ok(())
    })
}

/// Makes batches until the last, or until the receiver is gone.
fn make_batches<E: Encoding>(
    source: BatchSource<'_, E>,
    batches: impl Iterator<Item = u64>,
    made: &SyncSender<Made>,
    used: &Receiver<TrainingBatch>,
) {
    let mut sampler = BatchSampler::new(source.encoding.clone());
    for batch in batches {
        let mut filled = used.try_recv().unwrap_or_default();
        let result = sampler.fill(source.samples, source.order.draws(batch), &mut filled);
        if made.send(result.map(|()| filled)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_draws(order: &EpochOrder) -> Vec<(u64, Symmetry)> {
        (0..order.batch_count()).flat_map(|batch| order.draws(batch)).collect()
    }

    #[test]
    fn an_epoch_takes_every_sample_once_in_its_own_order() {
        let order = |epoch| EpochOrder::shuffled(1000, 64, 12, (7, epoch));
        let draws = all_draws(&order(1));
        assert_eq!(draws, all_draws(&order(1)));
        assert_ne!(draws, all_draws(&order(2)));
        let mut numbers: Vec<u64> = draws.iter().map(|(number, _)| *number).collect();
        assert!(!numbers.is_sorted());
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..1000));
        assert!((0..12).all(|symmetry| draws.iter().any(|(_, drawn)| drawn.0 == symmetry)));
    }

    #[test]
    fn plain_keeps_the_order() {
        let order = EpochOrder::plain(10, 4);
        assert_eq!(order.batch_count(), 3);
        assert!(all_draws(&order).into_iter().eq((0..10).map(|number| (number, Symmetry(0)))));
    }
}
