//! How games are split in two: those to learn from, and those held out to measure with.
//!
//! Positions of one game are much alike, so all of a game is on one side. The side follows from the game's key and a
//! seed alone, whatever other games there are; equal games have equal keys, so they are on the same side.

use std::ops::Bound;

use shared::seed::mix_seed;

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
