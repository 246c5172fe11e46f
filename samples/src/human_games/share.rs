//! The part of a batch that comes from human games.
//!
//! Self-play that ends in draws teaches nothing about winning, and learns from itself to draw; decided games keep the
//! attack alive. What is drawn follows from the seed of the step alone.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, Symmetry, TrainingBatch};
use shared::record::batch::SampleError;
use shared::seed::mix_seed;

use crate::buffer::SampleBuffer;
use crate::sampler::BatchSampler;

/// Samples of human games, shared by the samplers that draw from them.
#[derive(Debug, Clone)]
pub struct HumanGames {
    encoding: HiveEncoding,
    samples: Arc<SampleBuffer>,
}

impl HumanGames {
    /// Takes the samples of games, made by `encoding`; `None` if there are none.
    #[must_use]
    pub fn new(encoding: HiveEncoding, samples: SampleBuffer) -> Option<Self> {
        (samples.position_count() > 0).then(|| Self { encoding, samples: Arc::new(samples) })
    }

    /// Returns the encoding of the samples.
    #[must_use]
    pub const fn encoding(&self) -> &HiveEncoding {
        &self.encoding
    }

    /// Returns the samples.
    #[must_use]
    pub fn samples(&self) -> &SampleBuffer {
        &self.samples
    }

    /// Returns a sampler for one thread.
    #[must_use]
    pub fn sampler(&self) -> HumanSampler {
        HumanSampler { sampler: BatchSampler::new(self.encoding.clone()), samples: Arc::clone(&self.samples) }
    }
}

/// Draws from human games.
pub struct HumanSampler {
    sampler: BatchSampler<HiveEncoding>,
    samples: Arc<SampleBuffer>,
}

impl HumanSampler {
    /// Appends `count` positions to `batch`, drawn with replacement, each transformed by a random symmetry.
    ///
    /// # Errors
    /// [`SampleError`] if a position does not decode, which means that memory is damaged.
    pub fn append(&mut self, count: usize, seed: u64, batch: &mut TrainingBatch) -> Result<(), SampleError> {
        let mut random = Pcg64::seed_from_u64(mix_seed(seed ^ 0x7065_6f70_6c65, 0));
        let symmetry_count = self.sampler.encoding().symmetry_count();
        let position_count = self.samples.position_count();
        let draws = (0..count).map(|_| {
            let number = random.random_range(0..position_count);
            (number, Symmetry(random.random_range(0..symmetry_count)))
        });
        self.sampler.append(&self.samples, draws, batch)
    }
}
