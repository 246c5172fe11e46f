//! The score of a gate or a match, its interval, and Elo.

use serde::{Deserialize, Serialize};

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

impl std::iter::Sum for GateScore {
    fn sum<I: Iterator<Item = Self>>(scores: I) -> Self {
        scores.fold(Self::default(), |sum, score| Self {
            wins: sum.wins.saturating_add(score.wins),
            draws: sum.draws.saturating_add(score.draws),
            losses: sum.losses.saturating_add(score.losses),
        })
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

    pub(super) fn half_points(&self) -> u64 {
        2 * u64::from(self.wins) + u64::from(self.draws)
    }
}

/// Elo's logistic curve, inverted: a score of 10 / 11 is 400 points.
fn elo_of(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}
