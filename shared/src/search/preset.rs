//! Ways to search that have a name.

use std::fmt;
use std::str::FromStr;

use super::evaluator::Evaluator;
use super::evaluators::{HeuristicEvaluator, RolloutEvaluator, UniformEvaluator};
use super::parallel::Rule;
use super::search_settings::SearchSettings;
use crate::game::Heuristic;

/// A way to search. How each works and where it comes from: `docs/training.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPreset {
    /// UCB1 with random rollouts: knows nothing but the rules.
    Vanilla,
    /// UCB1 with the rules of thumb of the game, [`Heuristic`].
    Grandmaster,
    /// PUCT with priors and values from a network, or uniform ones.
    AlphaZero,
}

/// A text that names no preset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not one of vanilla, grandmaster, alphazero")]
pub struct SearchPresetError(pub String);

impl SearchPreset {
    /// All presets.
    pub const ALL: [Self; 3] = [Self::Vanilla, Self::Grandmaster, Self::AlphaZero];

    /// Returns what it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vanilla => "vanilla",
            Self::Grandmaster => "grandmaster",
            Self::AlphaZero => "alphazero",
        }
    }

    /// Returns the formula by which simulations go down.
    #[must_use]
    pub const fn rule(self) -> Rule {
        match self {
            Self::Vanilla | Self::Grandmaster => Rule::Ucb1,
            Self::AlphaZero => Rule::Puct,
        }
    }

    /// Returns whether one evaluation of a position is as good as two. Rollouts differ: the mean of two says more.
    #[must_use]
    pub const fn shares_evaluations(self) -> bool {
        !matches!(self, Self::Vanilla)
    }

    /// Returns the evaluator of its leaves without a network. Rollouts draw from `seed`.
    #[must_use]
    pub fn evaluator<G: Heuristic>(self, seed: u64) -> Box<dyn Evaluator<G> + Send> {
        match self {
            Self::Vanilla => Box::new(RolloutEvaluator::new(seed)),
            Self::Grandmaster => Box::new(HeuristicEvaluator::default()),
            Self::AlphaZero => Box::new(UniformEvaluator::default()),
        }
    }

    /// Returns the settings of a search for a result: no noise, always the most visited move.
    #[must_use]
    pub fn settings(self, simulation_count: u32) -> SearchSettings {
        let defaults = SearchSettings::default().for_match(simulation_count);
        match self.rule() {
            Rule::Puct => defaults,
            Rule::Ucb1 => SearchSettings { exploration: std::f32::consts::SQRT_2, leaves_per_game: 1, ..defaults },
        }
    }
}

impl fmt::Display for SearchPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SearchPreset {
    type Err = SearchPresetError;

    fn from_str(text: &str) -> Result<Self, SearchPresetError> {
        let found = Self::ALL.into_iter().find(|preset| preset.name() == text);
        found.ok_or_else(|| SearchPresetError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_read_by_their_names_and_can_be_searched_with() {
        for preset in SearchPreset::ALL {
            assert_eq!(preset.to_string().parse(), Ok(preset));
            assert_eq!(preset.settings(400).check(), Ok(()));
        }
        let error = "stockfish".parse::<SearchPreset>().expect_err("no preset");
        assert_eq!(error.to_string(), "\"stockfish\" is not one of vanilla, grandmaster, alphazero");
    }
}
