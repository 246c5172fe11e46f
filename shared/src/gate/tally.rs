//! Counts the games of a gate and says when it is decided, the same whichever finish first.

use super::Verdict;
use super::score::GateScore;
use super::sequential::PairCounts;
use super::settings::{GateRule, GateSettings};

/// How a gate game ended for the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GateResult {
    /// It won.
    Won,
    /// Nobody won.
    Drawn,
    /// It lost.
    Lost,
}

impl GateResult {
    const fn half_points(self) -> usize {
        match self {
            Self::Won => 2,
            Self::Drawn => 1,
            Self::Lost => 0,
        }
    }
}

/// The games of a gate so far.
///
/// Short games finish first, and who wins short games need not be who wins long ones. So the sequential test looks at
/// pairs in the order of their numbers alone, as far as no game of them or of one before is missing: what it has seen
/// when it stops does not depend on which games finished first.
#[derive(Debug, Clone)]
pub struct GateTally {
    settings: GateSettings,
    score: GateScore,
    /// Results of each pair: the candidate as White, as Black.
    results: Vec<[Option<GateResult>; 2]>,
    /// The first pairs, as far as none is missing and the test went on.
    tested: PairCounts,
    verdict: Option<Verdict>,
}

impl GateTally {
    /// Makes the tally of a gate without games.
    #[must_use]
    pub fn new(settings: GateSettings) -> Self {
        let results = vec![[None; 2]; settings.pair_count() as usize];
        Self { settings, score: GateScore::default(), results, tested: PairCounts::default(), verdict: None }
    }

    /// Counts a finished game; the same game again changes nothing, and neither does a pair that the gate has not.
    pub fn count(&mut self, pair_index: u32, is_candidate_white: bool, result: GateResult) {
        let Some(pair) = self.results.get_mut(pair_index as usize) else { return };
        let place = &mut pair[usize::from(!is_candidate_white)];
        if place.replace(result).is_some() {
            return;
        }
        match result {
            GateResult::Won => self.score.wins += 1,
            GateResult::Drawn => self.score.draws += 1,
            GateResult::Lost => self.score.losses += 1,
        }
        match self.settings.rule {
            GateRule::Score => self.verdict = score_verdict(&self.settings, &self.score),
            GateRule::Sequential => self.test(),
        }
    }

    /// Returns how the gate is decided.
    #[must_use]
    pub const fn settings(&self) -> &GateSettings {
        &self.settings
    }

    /// Returns the score of all finished games.
    #[must_use]
    pub const fn score(&self) -> GateScore {
        self.score
    }

    /// Returns the pairs that the sequential test has looked at; none by the rule of the score.
    #[must_use]
    pub const fn tested_pairs(&self) -> PairCounts {
        self.tested
    }

    /// Returns the decision, as soon as no game that is still to finish can change it.
    #[must_use]
    pub const fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    /// Looks at the pairs that have become complete; after the last one the score decides.
    fn test(&mut self) {
        while self.verdict.is_none() {
            let next = self.results.get(self.tested.pair_count() as usize);
            let Some([Some(as_white), Some(as_black)]) = next else { break };
            self.tested.0[as_white.half_points() + as_black.half_points()] += 1;
            self.verdict = self.settings.test.verdict(&self.tested);
        }
        if self.verdict.is_none() && self.tested.pair_count() as usize == self.results.len() {
            self.verdict = score_verdict(&self.settings, &self.score);
        }
    }
}

/// Returns the verdict of the score as soon as no remaining game can change it. It never depends on which games finish
/// first.
#[must_use]
pub fn score_verdict(settings: &GateSettings, score: &GateScore) -> Option<Verdict> {
    let remaining = u64::from(settings.game_count.saturating_sub(score.game_count()));
    if score.half_points() >= settings.half_points_needed() {
        Some(Verdict::Promoted)
    } else if score.half_points() + 2 * remaining < settings.half_points_needed() {
        Some(Verdict::Rejected)
    } else {
        None
    }
}
