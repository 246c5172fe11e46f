//! Samples in two sets: those to learn from, and those held out to measure with.
//!
//! Positions of one game are much alike, so all of a game is on one side. The side follows from the game's key and a
//! seed alone, whatever other games there are; equal games have equal keys, so they are on the same side.

use std::ops::Bound;

use sha2::{Digest, Sha256};
use shared::record::ValueTargetRule;
use shared::seed::mix_seed;

use crate::buffer::{SampleBuffer, SampledGame};

/// How games are split in two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Another seed holds out other games.
    pub seed: u64,
    /// Share of the games that is held out, 0..=1.
    pub held_out_share: f64,
}

impl Split {
    /// Shares that a user may hold out: some games to learn from, some to measure with.
    pub const HELD_OUT_SHARES: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Excluded(1.0));

    /// Returns whether the game with this key is held out.
    #[must_use]
    pub fn is_held_out(self, key: u64) -> bool {
        let drawn = mix_seed(self.seed ^ 0x0073_706c_6974, key) >> 11;
        (drawn as f64) < self.held_out_share * (1_u64 << 53) as f64
    }
}

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
