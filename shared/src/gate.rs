//! When a candidate becomes the best network: results of gate games in, verdict out.
//!
//! Pure arithmetic. Who plays the games and where they are kept is the learner's business.

use std::ops::Bound;

use serde::{Deserialize, Serialize};

use crate::setting::{SettingError, check_range, check_that};

/// How many games a gate has and what the candidate needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GateSettings {
    /// Games of a gate, even, 2..=1,000,000: two with swapped colours from each opening.
    pub game_count: u32,
    /// Share of the points from which the candidate is promoted, above 0 and at most 1; a draw is half a point.
    pub promotion_score: f64,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self { game_count: 400, promotion_score: 0.55 }
    }
}

/// What a gate decided about its candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is the new best network.
    Promoted,
    /// The best network stays.
    Rejected,
}

/// Finished games of a gate, seen from the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct GateScore {
    /// Games the candidate won.
    pub wins: u32,
    /// Games nobody won.
    pub draws: u32,
    /// Games the candidate lost.
    pub losses: u32,
}

/// A range that holds the truth in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Two-sided 95 % quantile of the normal distribution.
const QUANTILE: f64 = 1.959_963_984_540_054;

impl GateSettings {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`SettingError`] with the first key that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        let game_count = self.game_count;
        check_range("game_count", game_count, 2..=1_000_000)?;
        check_that("game_count", game_count.is_multiple_of(2), || format!("{game_count} is odd: games come in pairs"))?;
        check_range("promotion_score", self.promotion_score, (Bound::Excluded(0.0), Bound::Included(1.0)))
    }

    /// Returns the fewest half points that promote. 0.55 of 400 games are 440 half points, not 441 for a rounding error.
    fn half_points_needed(&self) -> u64 {
        let exact = self.promotion_score * 2.0 * f64::from(self.game_count);
        (exact - 1e-6).ceil().max(0.0) as u64
    }
}

impl GateScore {
    /// Returns the number of finished games.
    #[must_use]
    pub const fn game_count(&self) -> u32 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    /// Returns the candidate's share of the points, 0..=1, a draw as half; one half before the first game.
    #[must_use]
    pub fn score(&self) -> f64 {
        if self.game_count() == 0 {
            return 0.5;
        }
        self.half_points() as f64 / (2.0 * f64::from(self.game_count()))
    }

    /// Returns the 95 % interval of the score.
    ///
    /// Wilson's score interval (J. Am. Stat. Assoc. 22, 1927) over single games, a draw counted as half a success:
    /// `(s + z²/2n ± z sqrt(s(1-s)/n + z²/4n²)) / (1 + z²/n)`. Draws and pairs with swapped colours both make the
    /// true spread smaller than that of n coin tosses, so the interval is rather too wide than too narrow.
    #[must_use]
    pub fn confidence_interval(&self) -> Interval {
        if self.game_count() == 0 {
            return Interval { low: 0.0, high: 1.0 };
        }
        let (score, n) = (self.score(), f64::from(self.game_count()));
        let z2_over_n = QUANTILE * QUANTILE / n;
        let middle = score + z2_over_n / 2.0;
        let spread = (z2_over_n * (score * (1.0 - score) + z2_over_n / 4.0)).sqrt();
        let [low, high] = [middle - spread, middle + spread].map(|end| (end / (1.0 + z2_over_n)).clamp(0.0, 1.0));
        Interval { low, high }
    }

    /// Returns the difference in Elo that the score stands for, infinite if every game was won or lost.
    #[must_use]
    pub fn elo_difference(&self) -> f64 {
        elo_of(self.score())
    }

    /// Returns the 95 % interval of the Elo difference: that of the score, translated.
    #[must_use]
    pub fn elo_interval(&self) -> Interval {
        let Interval { low, high } = self.confidence_interval();
        Interval { low: elo_of(low), high: elo_of(high) }
    }

    fn half_points(&self) -> u64 {
        2 * u64::from(self.wins) + u64::from(self.draws)
    }
}

/// Returns the verdict as soon as no remaining game can change it. It never depends on which games finish first.
#[must_use]
pub fn verdict(settings: &GateSettings, score: &GateScore) -> Option<Verdict> {
    let remaining = u64::from(settings.game_count.saturating_sub(score.game_count()));
    if score.half_points() >= settings.half_points_needed() {
        Some(Verdict::Promoted)
    } else if score.half_points() + 2 * remaining < settings.half_points_needed() {
        Some(Verdict::Rejected)
    } else {
        None
    }
}

/// Elo's logistic curve, inverted: a score of 10 / 11 is 400 points.
fn elo_of(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}
