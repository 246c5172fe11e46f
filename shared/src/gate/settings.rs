//! How many games a gate has, and what decides it.

use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::sequential::SequentialTest;
use crate::setting::{SettingError, check_range, check_that};

/// What decides a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateRule {
    /// The score of all games.
    #[default]
    Score,
    /// A sequential test, as soon as it knows; the score where it does not know after all games.
    Sequential,
}

/// How many games a gate has and what the candidate needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GateSettings {
    /// What decides.
    pub rule: GateRule,
    /// Games of a gate, even, 2..=1,000,000: two with swapped colours from each opening.
    pub game_count: u32,
    /// Share of the points from which the candidate is promoted, above 0 and at most 1; a draw is half a point.
    pub promotion_score: f64,
    /// The test of [`GateRule::Sequential`].
    pub test: SequentialTest,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self { rule: GateRule::Score, game_count: 400, promotion_score: 0.55, test: SequentialTest::default() }
    }
}

impl GateSettings {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`SettingError`] with the first key that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        let game_count = self.game_count;
        check_range("game_count", game_count, 2..=1_000_000)?;
        check_that("game_count", game_count.is_multiple_of(2), || format!("{game_count} is odd: games come in pairs"))?;
        check_range("promotion_score", self.promotion_score, (Bound::Excluded(0.0), Bound::Included(1.0)))?;
        self.test.check()
    }

    /// Returns the number of pairs.
    #[must_use]
    pub const fn pair_count(&self) -> u32 {
        self.game_count / 2
    }

    /// Returns the fewest half points that promote. 0.55 of 400 games are 440 half points, not 441 for a rounding error.
    pub(super) fn half_points_needed(&self) -> u64 {
        let exact = self.promotion_score * 2.0 * f64::from(self.game_count);
        (exact - 1e-6).ceil().max(0.0) as u64
    }
}
