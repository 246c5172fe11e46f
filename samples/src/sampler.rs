//! Batches drawn from a buffer: uniform over the window, each position transformed by a random symmetry.
//!
//! What is drawn follows from the buffer and a seed. So training that is stopped and resumed samples exactly what it
//! would have sampled.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::encoding::{Encoding, Outlook, Symmetry, TrainingBatch};
use shared::record::batch::{SampleError, SampleScratch, StoredSample, push_sample};
use shared::seed::mix_seed;

use crate::buffer::compact::unpack_target;
use crate::buffer::{HeldSample, SampleBuffer, SharedReplay, Window};

/// Draws batches, for one thread. It reuses its memory.
pub struct BatchSampler<E: Encoding> {
    encoding: E,
    scratch: SampleScratch<E>,
    bytes: Vec<u8>,
    drawn: Vec<Drawn>,
}

/// A position that was drawn: where its bytes end in `BatchSampler::bytes`.
struct Drawn {
    packed_end: usize,
    target_end: usize,
    value_target: f32,
    outlook: Option<Outlook>,
    symmetry: Symmetry,
}

/// Returns the seed of the batch of one training step: to resume exactly, no state of the sampling has to be saved.
#[must_use]
pub fn seed_of_step(run_seed: u64, training_step: u64) -> u64 {
    mix_seed(run_seed ^ 0x7361_6d70_6c65, training_step)
}

impl<E: Encoding> BatchSampler<E> {
    /// Makes a sampler.
    #[must_use]
    pub fn new(encoding: E) -> Self {
        Self { scratch: SampleScratch::new(&encoding), encoding, bytes: Vec::new(), drawn: Vec::new() }
    }

    /// Returns the encoding of positions.
    #[must_use]
    pub const fn encoding(&self) -> &E {
        &self.encoding
    }

    /// Fills `batch` with `batch_size` positions of `window`, drawn with replacement. The same window and seed give
    /// the same batch. The batch stays empty if the window is.
    ///
    /// # Errors
    /// [`SampleError`] if a position does not decode, which means that the buffer is damaged.
    pub fn sample(
        &mut self,
        replay: &SharedReplay,
        window: Window,
        batch_size: usize,
        seed: u64,
        batch: &mut TrainingBatch,
    ) -> Result<(), SampleError> {
        self.draw(replay, window, batch_size, seed);
        batch.clear();
        let mut start = 0;
        for drawn in &self.drawn {
            let sample = StoredSample {
                packed: &self.bytes[start..drawn.packed_end],
                policy_target: &self.bytes[drawn.packed_end..drawn.target_end],
                value_target: drawn.value_target,
                outlook: drawn.outlook,
            };
            push_sample(&self.encoding, &sample, drawn.symmetry, batch, &mut self.scratch)?;
            start = drawn.target_end;
        }
        Ok(())
    }

    /// Fills `batch` with these positions of `buffer`, each transformed by its symmetry. Numbers that
    /// are not in the buffer are skipped.
    ///
    /// # Errors
    /// As [`BatchSampler::sample`].
    pub(crate) fn fill(
        &mut self,
        buffer: &SampleBuffer,
        draws: impl Iterator<Item = (u64, Symmetry)>,
        batch: &mut TrainingBatch,
    ) -> Result<(), SampleError> {
        batch.clear();
        self.append(buffer, draws, batch)
    }

    /// Appends such positions to `batch`.
    pub(crate) fn append(
        &mut self,
        buffer: &SampleBuffer,
        draws: impl Iterator<Item = (u64, Symmetry)>,
        batch: &mut TrainingBatch,
    ) -> Result<(), SampleError> {
        for (number, symmetry) in draws {
            let Some(HeldSample { packed, compact_target, value_target, outlook }) = buffer.get(number) else {
                continue;
            };
            self.bytes.clear();
            unpack_target(compact_target, &mut self.bytes);
            let sample = StoredSample { packed, policy_target: &self.bytes, value_target, outlook };
            push_sample(&self.encoding, &sample, symmetry, batch, &mut self.scratch)?;
        }
        Ok(())
    }

    /// Copies the drawn positions out of the buffer, under its lock.
    fn draw(&mut self, replay: &SharedReplay, window: Window, batch_size: usize, seed: u64) {
        self.bytes.clear();
        self.drawn.clear();
        if window.is_empty() {
            return;
        }
        let mut rng = Pcg64::seed_from_u64(seed);
        let symmetry_count = self.encoding.symmetry_count();
        let sets = replay.lock();
        let buffer = &sets.learned;
        // A window that was outgrown has lost its oldest positions; any other is whole.
        let first = window.start.max(buffer.first_number()).min(window.end - 1);
        while self.drawn.len() < batch_size {
            let number = rng.random_range(first..window.end);
            let symmetry = Symmetry(rng.random_range(0..symmetry_count));
            let Some(HeldSample { packed, compact_target, value_target, outlook }) = buffer.get(number) else { return };
            self.bytes.extend_from_slice(packed);
            let packed_end = self.bytes.len();
            unpack_target(compact_target, &mut self.bytes);
            self.drawn.push(Drawn { packed_end, target_end: self.bytes.len(), value_target, outlook, symmetry });
        }
    }
}
