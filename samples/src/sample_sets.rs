//! Samples in memory, in two sets: those to learn from, and those held out to measure with.

use sha2::{Digest, Sha256};
use shared::record::ValueTargetRule;

use crate::buffer::{SampleBuffer, SampledGame};

/// Samples to learn from and to measure with.
#[derive(Debug)]
pub struct SampleSets {
    /// Samples to learn from.
    pub training: SampleBuffer,
    /// Samples to measure with. Their value targets are always outcomes.
    pub held_out: SampleBuffer,
    /// Games to learn from.
    pub training_games: u64,
    /// Games to measure with.
    pub held_out_games: u64,
    hash: Sha256,
}

impl SampleSets {
    /// Makes empty sets; the samples to learn from get their value targets by this rule.
    #[must_use]
    pub fn new(value_target: ValueTargetRule) -> Self {
        Self {
            training: SampleBuffer::new(u64::MAX).with_value_target(value_target),
            held_out: SampleBuffer::new(u64::MAX),
            training_games: 0,
            held_out_games: 0,
            hash: Sha256::new(),
        }
    }

    /// Appends a game.
    pub fn push_game(&mut self, is_held_out: bool, game: SampledGame<'_>) {
        let (set, game_count) = if is_held_out {
            (&mut self.held_out, &mut self.held_out_games)
        } else {
            (&mut self.training, &mut self.training_games)
        };
        *game_count += 1;
        set.push_game(*game_count, game);
        self.hash.update([u8::from(is_held_out)]);
        for sample in game.samples {
            self.hash.update(&sample.packed);
            self.hash.update(sample.policy_target.to_bytes());
            self.hash.update(sample.outcome_value.to_le_bytes());
            if let Some(search_value) = sample.search_value {
                self.hash.update(search_value.to_le_bytes());
            }
        }
    }

    /// Returns the SHA-256 of all samples and of which set they are in: equal for equal sets.
    #[must_use]
    pub fn sha256(&self) -> String {
        self.hash.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
