//! How a game is searched: plain numbers, checked once.

use std::ops::Bound::{Excluded, Included};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::seed::mix_seed;
use crate::setting::{SettingError, check_range};

/// Tells what is drawn for the effort of a ply from all else that a game's seed is for.
const EFFORT_SEED: u64 = 0x6566_666f_7274;

/// Most simulations that a tree counts.
pub const SIMULATION_COUNT_MAX: u32 = 100_000_000;

/// How the root shares out its simulations, and what follows from it: the move played and what the policy learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RootSelection {
    /// As every other node, with Dirichlet noise; the policy learns the visits (AlphaZero).
    #[default]
    Puct,
    /// By sequential halving among moves drawn without replacement; the policy learns the priors, changed by what the
    /// values say (Gumbel AlphaZero, Danihelka et al. 2022). Improves the policy with 2 simulations as with 800.
    Gumbel,
}

/// What PUCT takes for the value of a move that has no visit yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FirstPlayUrgency {
    /// The value of its parent, less `first_play_urgency_reduction` times the root of the prior visited (KataGo).
    #[default]
    Reduced,
    /// That of a draw, 0, whatever its parent is worth (AlphaGo Zero).
    Zero,
}

/// How thoroughly a position is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchEffort {
    /// With all simulations and the noise: the policy learns from it.
    #[default]
    Full,
    /// With few simulations and no Dirichlet noise, to get on with the game: nothing is learned from it.
    Fast,
}

/// How a game is searched. Defaults are those of self-play.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Simulations a move, visits kept from the move before included; 2..=100,000,000.
    pub simulation_count: u32,
    /// Weight of prior and visits against value (c_puct), 0..=1000; AlphaZero about 1.25 and rising, KataGo 1.1.
    pub exploration: f32,
    /// What an unvisited move is worth.
    pub first_play_urgency: FirstPlayUrgency,
    /// With `reduced`: how far below its parent an unvisited move is valued, times the root of the prior visited, 0..=2; KataGo 0.2.
    /// Counts as 0 at a root with noise, as in KataGo's self-play.
    pub first_play_urgency_reduction: f32,
    /// The priors of every node are taken to the power of 1 / this, 0.1..=10: above 1 the search looks further beyond the
    /// policy's favourites. lc0 1.4 to 2.2 (policy softmax temperature).
    pub policy_temperature: f32,
    /// Lost visits that each outstanding leaf stands for, 0..=1000.
    pub virtual_loss: u32,
    /// Leaves of one game that may wait for their evaluation at once, 1..=1024.
    pub leaves_per_game: u32,
    /// Concentration of the noise at the root, 0..=1000; 0 = no noise. AlphaZero: 0.3 for chess, 0.03 for Go.
    pub dirichlet_alpha: f32,
    /// Share of the noise in the priors of the root, 0..=1.
    pub dirichlet_weight: f32,
    /// Temperature of the first `temperature_plies` plies, 0..=100; 0 = always the most visited move. With
    /// [`RootSelection::Gumbel`] what the Gumbel numbers are multiplied by: 1 is the paper's.
    pub temperature: f32,
    /// Plies played at `temperature`, at least 0; those of both sides count.
    pub temperature_plies: u32,
    /// Temperature of all later plies, 0..=100.
    pub temperature_after: f32,
    /// How the root shares out its simulations. With `gumbel` there is no Dirichlet noise.
    pub root: RootSelection,
    /// Moves among which a Gumbel root shares them out, 1..=4096; paper 16.
    pub considered_move_count: u32,
    /// Visits that a Gumbel root adds to those of its most visited move before they weigh values against logits (c_visit),
    /// 0..=100,000; paper 50.
    pub gumbel_visit_scale: f32,
    /// Logits for each of those visits between a move that wins and one that loses (c_scale), 0..=1000; paper 1.
    pub gumbel_value_scale: f32,
    /// Share of the plies of a self-play game that are searched fully, above 0 and at most 1; the others are searched fast.
    /// 1 = all; KataGo 0.25.
    pub full_search_share: f32,
    /// Simulations of a ply that is searched fast, visits kept included, 2..=100,000,000; `simulation_count` if that is
    /// less. KataGo: a sixth to a fifth of it.
    pub fast_simulation_count: u32,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            simulation_count: 800,
            exploration: 2.5,
            first_play_urgency: FirstPlayUrgency::Reduced,
            first_play_urgency_reduction: 0.2,
            policy_temperature: 1.0,
            virtual_loss: 1,
            leaves_per_game: 2,
            dirichlet_alpha: 0.15,
            dirichlet_weight: 0.25,
            temperature: 1.0,
            temperature_plies: 30,
            temperature_after: 0.1,
            root: RootSelection::Puct,
            considered_move_count: 16,
            gumbel_visit_scale: 50.0,
            gumbel_value_scale: 1.0,
            full_search_share: 1.0,
            fast_simulation_count: 160,
        }
    }
}

impl SearchSettings {
    /// Possible values of `simulation_count`.
    pub const SIMULATION_COUNTS: RangeInclusive<u32> = 2..=SIMULATION_COUNT_MAX;
    /// Possible values of `exploration`.
    pub const EXPLORATIONS: RangeInclusive<f32> = 0.0..=1000.0;
    /// Possible values of `first_play_urgency_reduction`.
    pub const URGENCY_REDUCTIONS: RangeInclusive<f32> = 0.0..=2.0;
    /// Possible values of `policy_temperature`.
    pub const POLICY_TEMPERATURES: RangeInclusive<f32> = 0.1..=10.0;
    /// Possible values of `gumbel_value_scale`.
    pub const GUMBEL_VALUE_SCALES: RangeInclusive<f32> = 0.0..=1000.0;
    /// Possible values of the temperatures.
    pub const TEMPERATURES: RangeInclusive<f32> = 0.0..=100.0;

    /// Returns the same search as it is played for a result: no noise, always the most visited move, every ply fully.
    #[must_use]
    pub fn for_match(self, simulation_count: u32) -> Self {
        Self {
            simulation_count,
            dirichlet_alpha: 0.0,
            temperature: 0.0,
            temperature_after: 0.0,
            full_search_share: 1.0,
            ..self
        }
    }

    /// Checks every number.
    ///
    /// # Errors
    /// [`SettingError`] with the first key that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        check_range("simulation_count", self.simulation_count, Self::SIMULATION_COUNTS)?;
        check_range("exploration", self.exploration, Self::EXPLORATIONS)?;
        check_range("first_play_urgency_reduction", self.first_play_urgency_reduction, Self::URGENCY_REDUCTIONS)?;
        check_range("policy_temperature", self.policy_temperature, Self::POLICY_TEMPERATURES)?;
        check_range("virtual_loss", self.virtual_loss, 0..=1000)?;
        check_range("leaves_per_game", self.leaves_per_game, 1..=1024)?;
        check_range("dirichlet_alpha", self.dirichlet_alpha, 0.0..=1000.0)?;
        check_range("dirichlet_weight", self.dirichlet_weight, 0.0..=1.0)?;
        check_range("temperature", self.temperature, Self::TEMPERATURES)?;
        check_range("temperature_after", self.temperature_after, Self::TEMPERATURES)?;
        check_range("considered_move_count", self.considered_move_count, 1..=4096)?;
        check_range("gumbel_visit_scale", self.gumbel_visit_scale, 0.0..=100_000.0)?;
        check_range("gumbel_value_scale", self.gumbel_value_scale, Self::GUMBEL_VALUE_SCALES)?;
        check_range("full_search_share", self.full_search_share, (Excluded(0.0), Included(1.0)))?;
        check_range("fast_simulation_count", self.fast_simulation_count, Self::SIMULATION_COUNTS)
    }

    /// Returns whether the priors of the root are mixed with noise.
    #[must_use]
    pub fn has_noise(&self) -> bool {
        self.root == RootSelection::Puct && self.dirichlet_alpha > 0.0 && self.dirichlet_weight > 0.0
    }

    /// Returns how thoroughly this ply, 0 for the first, of the game with this seed is searched: the same for whoever asks.
    #[must_use]
    pub fn effort_at(&self, seed: u64, ply: u32) -> SearchEffort {
        let drawn = mix_seed(seed ^ EFFORT_SEED, ply.into()) as f64 / u64::MAX as f64;
        // 1 is all, even if 1 is drawn.
        let is_full = self.full_search_share >= 1.0 || drawn < f64::from(self.full_search_share);
        if is_full { SearchEffort::Full } else { SearchEffort::Fast }
    }

    /// Returns the simulations of a position that is searched so thoroughly.
    #[must_use]
    pub fn simulation_count_of(&self, effort: SearchEffort) -> u32 {
        match effort {
            SearchEffort::Full => self.simulation_count,
            SearchEffort::Fast => self.fast_simulation_count.min(self.simulation_count),
        }
    }

    /// Returns the temperature at which the move of this ply is chosen.
    #[must_use]
    pub fn temperature_at(&self, ply: u32) -> f32 {
        if ply < self.temperature_plies { self.temperature } else { self.temperature_after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_possible() {
        assert_eq!(SearchSettings::default().check(), Ok(()));
        assert_eq!(SearchSettings::default().for_match(400).check(), Ok(()));
    }

    #[test]
    fn an_impossible_setting_is_named() {
        let message = |settings: SearchSettings| settings.check().expect_err("impossible").to_string();
        let default = SearchSettings::default;
        assert_eq!(
            message(SearchSettings { simulation_count: 1, ..default() }),
            "simulation_count: 1 is not in 2..=100000000"
        );
        assert_eq!(
            message(SearchSettings { dirichlet_weight: 1.5, ..default() }),
            "dirichlet_weight: 1.5 is not in 0..=1"
        );
        assert_eq!(
            message(SearchSettings { exploration: f32::NAN, ..default() }),
            "exploration: NaN is not in 0..=1000"
        );
    }

    #[test]
    fn about_so_many_plies_are_searched_fully_and_always_the_same_ones() {
        let settings =
            SearchSettings { full_search_share: 0.25, fast_simulation_count: 100, ..SearchSettings::default() };
        let full_count = |seed| (0..4000).filter(|ply| settings.effort_at(seed, *ply) == SearchEffort::Full).count();
        for seed in [0, 1, u64::MAX] {
            // Five standard deviations of a binomial count are 137.
            assert!(full_count(seed).abs_diff(1000) < 137, "{} of 4000", full_count(seed));
            assert_eq!(full_count(seed), full_count(seed));
        }
        let efforts = |seed| (0..64).map(|ply| settings.effort_at(seed, ply)).collect::<Vec<_>>();
        assert_ne!(efforts(1), efforts(2));
        let all = SearchSettings::default();
        assert!((0..4000).all(|ply| all.effort_at(7, ply) == SearchEffort::Full));
        assert_eq!(
            [SearchEffort::Full, SearchEffort::Fast].map(|effort| settings.simulation_count_of(effort)),
            [800, 100]
        );
        let early = SearchSettings { simulation_count: 60, ..settings };
        assert_eq!(early.simulation_count_of(SearchEffort::Fast), 60, "no fast ply takes longer than a full one");
    }

    #[test]
    fn settings_of_a_game_that_an_earlier_version_began_are_read() {
        let earlier = r#"{"simulation_count":200,"exploration":2.5,"first_play_urgency_reduction":0.2,"virtual_loss":1,
            "leaves_per_game":2,"dirichlet_alpha":0.15,"dirichlet_weight":0.25,"temperature":1.0,"temperature_plies":30,
            "temperature_after":0.1}"#;
        let read = serde_json::from_str::<SearchSettings>(earlier).expect("settings of version 0.1.0");
        assert_eq!(read, SearchSettings { simulation_count: 200, ..SearchSettings::default() });
        assert_eq!((read.root, read.full_search_share, read.policy_temperature), (RootSelection::Puct, 1.0, 1.0));
        assert_eq!(read.first_play_urgency, FirstPlayUrgency::Reduced);
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let error = serde_json::from_str::<SearchSettings>(r#"{"simulations": 3}"#).expect_err("unknown key");
        assert!(error.to_string().contains("simulations"), "{error}");
    }
}
