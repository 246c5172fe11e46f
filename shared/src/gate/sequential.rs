//! A gate that stops when it knows: a sequential probability ratio test over pairs of games.
//!
//! Wald (1945) for the bounds; the likelihood ratio is the generalised one for the mean of a distribution on five values
//! (Van den Bergh, "A practical introduction to the GSPRT", as fishtest uses it): of all distributions of the points of
//! a pair with the mean that a hypothesis names, the likeliest one stands for it. Pairs are counted, not games, because
//! the two games from one opening depend on each other.

use std::ops::Bound::{Excluded, Included};

use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::setting::{SettingError, check_range};

/// Pairs of games by the half points that the candidate won in them, 0 to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PairCounts(pub [u32; 5]);

/// Two hypotheses about the candidate's strength, and how often the test may err.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SequentialTest {
    /// Elo above the best network of a candidate that is to be rejected, -1000..=1000.
    pub elo0: f64,
    /// Elo above the best network of a candidate that is to be promoted, above `elo0` and at most 1000.
    pub elo1: f64,
    /// Share of candidates of strength `elo0` that the test promotes, above 0 and below 0.5.
    pub alpha: f64,
    /// Share of candidates of strength `elo1` that the test rejects, above 0 and below 0.5.
    pub beta: f64,
}

/// Counted for a result of a pair that has not occurred, so that it is not held for impossible.
const UNSEEN: f64 = 1e-3;
/// Halvings of an interval, after which a double has no more digits.
const HALVINGS: u32 = 60;

impl Default for SequentialTest {
    fn default() -> Self {
        Self { elo0: 0.0, elo1: 35.0, alpha: 0.05, beta: 0.05 }
    }
}

impl PairCounts {
    /// Returns the number of pairs.
    #[must_use]
    pub fn pair_count(&self) -> u32 {
        self.0.iter().sum()
    }
}

impl SequentialTest {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`SettingError`] with the first key that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        check_range("elo0", self.elo0, -1000.0..=1000.0)?;
        check_range("elo1", self.elo1, (Excluded(self.elo0), Included(1000.0)))?;
        check_range("alpha", self.alpha, (Excluded(0.0), Excluded(0.5)))?;
        check_range("beta", self.beta, (Excluded(0.0), Excluded(0.5)))
    }

    /// Returns between which log-likelihood ratios the test goes on: Wald's bounds.
    #[must_use]
    pub fn bounds(&self) -> [f64; 2] {
        [(self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln()]
    }

    /// Returns how much likelier the pairs are with a candidate of strength `elo1` than with one of `elo0`, as the
    /// natural logarithm of the ratio.
    #[must_use]
    pub fn log_likelihood_ratio(&self, pairs: &PairCounts) -> f64 {
        if pairs.pair_count() == 0 {
            return 0.0;
        }
        let counts = pairs.0.map(|count| f64::from(count).max(UNSEEN));
        let tilts = [self.elo0, self.elo1].map(|elo| Tilt::towards(score_of(elo), &counts));
        let ratio = |points| (tilts[0].divisor(points) / tilts[1].divisor(points)).ln();
        counts.iter().zip(POINTS).map(|(count, points)| count * ratio(points)).sum()
    }

    /// Returns the verdict of these pairs; `None` if more are needed.
    #[must_use]
    pub fn verdict(&self, pairs: &PairCounts) -> Option<Verdict> {
        let (ratio, [low, high]) = (self.log_likelihood_ratio(pairs), self.bounds());
        if ratio >= high {
            Some(Verdict::Promoted)
        } else if ratio <= low {
            Some(Verdict::Rejected)
        } else {
            None
        }
    }
}

/// Share of the points of each kind of pair.
const POINTS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The likeliest distribution with mean `score`: each observed share divided by `1 + slope (points - score)`.
struct Tilt {
    score: f64,
    slope: f64,
}

impl Tilt {
    /// Finds the slope at which the mean is `score`, between 0 and 1: the sum below falls as the slope rises.
    fn towards(score: f64, counts: &[f64; 5]) -> Self {
        let (mut low, mut high) = (-1.0 / (1.0 - score), 1.0 / score);
        for _ in 0..HALVINGS {
            let tilt = Self { score, slope: f64::midpoint(low, high) };
            let excess: f64 =
                counts.iter().zip(POINTS).map(|(n, points)| n * (points - score) / tilt.divisor(points)).sum();
            if excess > 0.0 {
                low = tilt.slope;
            } else {
                high = tilt.slope;
            }
        }
        Self { score, slope: f64::midpoint(low, high) }
    }

    fn divisor(&self, points: f64) -> f64 {
        1.0 + self.slope * (points - self.score)
    }
}

/// Elo's logistic curve: 400 points are a score of 10 / 11.
fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}
