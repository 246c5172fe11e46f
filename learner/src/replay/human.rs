//! The part of a batch that comes from games between people who won and lost.
//!
//! Self-play that ends in draws teaches nothing about winning, and learns from itself to draw; games that somebody won
//! keep the attack alive. What is taken follows from the seed of the step alone.

use std::sync::Arc;

use anyhow::Context;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, Symmetry, TrainingBatch};
use shared::record::batch::SampleError;
use tracing::info;

use super::{BatchSampler, ReplayBuffer};
use crate::config::{LearnerConfig, ReplayConfig};
use crate::games::mix_seed;
use crate::people::{ReadSettings, SetSettings, encoding_of, make_sets, read_games};
use crate::split::Split;

/// Samples of people's decided games, without those that a pretraining with the same settings holds out.
#[derive(Debug, Clone)]
pub struct HumanGames {
    encoding: HiveEncoding,
    samples: Arc<ReplayBuffer>,
}

impl HumanGames {
    /// Reads the games that the configuration names; `None` if it wants no share of them.
    ///
    /// # Errors
    /// If a path is not there, or there is no decided game to learn from.
    pub fn read(config: &LearnerConfig) -> anyhow::Result<Option<Self>> {
        if config.replay.human_share == 0.0 {
            return Ok(None);
        }
        let encoding = encoding_of(&config.game)?;
        let read = read_games(&config.replay.human_games, ReadSettings::default()).context("replay.human_games")?;
        let split = Split { seed: config.pretrain.seed, held_out_share: config.pretrain.held_out_share };
        let sets = make_sets(&encoding, &read.games, SetSettings { split, decided_only: true });
        let samples = sets.samples;
        info!(
            games = samples.training_games,
            positions = samples.training.position_count(),
            left_out = read.dropped.len(),
            drawn_games = sets.left_out.drawn_games,
            held_out_games = samples.held_out_games,
            "people's games for a share of each batch"
        );
        anyhow::ensure!(
            samples.training.position_count() > 0,
            "replay.human_games: no decided game of this game type to learn from"
        );
        Ok(Some(Self { encoding, samples: Arc::new(samples.training) }))
    }

    /// Returns a sampler for one thread.
    #[must_use]
    pub fn sampler(&self) -> HumanSampler {
        HumanSampler { sampler: BatchSampler::new(self.encoding.clone()), samples: Arc::clone(&self.samples) }
    }
}

/// Draws from people's games.
pub struct HumanSampler {
    sampler: BatchSampler<HiveEncoding>,
    samples: Arc<ReplayBuffer>,
}

impl HumanSampler {
    /// Appends `count` positions to `batch`, drawn with replacement, each turned by a random symmetry.
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

impl ReplayConfig {
    /// Returns how many of `batch_size` positions come from people's games while the best network is of `generation`:
    /// the share falls in a straight line to nothing.
    #[must_use]
    pub fn human_count(&self, generation: u32, batch_size: u32) -> u32 {
        let left = match self.human_share_generations {
            0 => 1.0,
            end => 1.0 - f64::from(generation.min(end)) / f64::from(end),
        };
        (f64::from(batch_size) * self.human_share * left).round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_falls_in_a_straight_line_or_stays() {
        let mut config =
            ReplayConfig { human_share: 0.5, human_share_generations: 10, ..LearnerConfig::default().replay };
        let counts = [0, 1, 5, 9, 10, 99].map(|generation| config.human_count(generation, 100));
        assert_eq!(counts, [50, 45, 25, 5, 0, 0]);
        config.human_share_generations = 0;
        assert_eq!([0, 99].map(|generation| config.human_count(generation, 100)), [50, 50]);
        config.human_share = 1.0;
        assert_eq!(config.human_count(3, 7), 7);
        config.human_share = 0.0;
        assert_eq!(config.human_count(3, 7), 0);
    }
}
