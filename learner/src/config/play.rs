//! Sections about games: `[self_play]`, `[gate]`, `[alarms]`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use registry::ResignationRule;
use serde::{Deserialize, Serialize};
use shared::bounds::OPENING_PLIES;
use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::Encoding;
use shared::game::Game;
use shared::gate::{GateRule, GateSettings, SequentialTest};
use shared::ids::Generation;
use shared::search::SearchSettings;
use shared::setting::{SettingError, check_range, check_that};

use super::{ServerConfig, WebhookUrl};

/// How games are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlayConfig {
    /// Finished games that make an iteration, 1..=10,000,000.
    pub games_per_iteration: u32,
    /// Simulations a move at the start of the run, 2..=100,000,000; grows to `search.simulation_count`.
    pub simulation_count_first: u32,
    /// What they grow with.
    pub simulation_growth: SimulationGrowth,
    /// Generations or iterations until `search.simulation_count` is reached; 0: at once.
    pub simulation_growth_generations: u32,
    /// Share of the games that begin from random endgames, 0..=1; above 0 only for games that have endgames: draughts.
    pub endgame_share: f64,
    /// Share of the games that begin from positions of `replay.human_games`, 0..=1.
    pub human_start_share: f64,
    /// Share of the games that begin from positions of the run's own earlier games, 0..=1.
    pub earlier_start_share: f64,
    /// Value of its searches, seen from the other side, at which a side resigns, 0..=1; 0: nobody resigns.
    pub resign_value: f32,
    /// Plies of either side whose searches must agree on it, 1..=100.
    pub resign_plies: u32,
    /// Share of the games that are played on though a side would resign, 0..=1.
    pub resign_played_on_share: f64,
    /// How a move is searched.
    pub search: SearchSettings,
}

/// What the simulations of a move grow with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulationGrowth {
    /// Promotions: how good the network is.
    Generation,
    /// Iterations, whatever the gates said.
    Iteration,
}

impl SelfPlayConfig {
    /// Possible values of `games_per_iteration`.
    pub const GAMES_PER_ITERATION: RangeInclusive<u32> = 1..=10_000_000;

    /// Possible values of `resign_plies`.
    pub const RESIGN_PLIES: RangeInclusive<u32> = 1..=100;

    /// Returns when a side resigns.
    #[must_use]
    pub const fn resignation(&self) -> ResignationRule {
        let Self { resign_value: value, resign_plies: plies, resign_played_on_share: played_on_share, .. } = *self;
        ResignationRule { value, plies, played_on_share }
    }

    /// Returns the search settings at `generation` of the `iteration` with this number, from 1: the number of simulations
    /// grows in a straight line.
    #[must_use]
    pub fn search_at(&self, generation: Generation, iteration: u32) -> SearchSettings {
        let mut search = self.search.clone();
        let grown = match self.simulation_growth {
            SimulationGrowth::Generation => generation.get(),
            SimulationGrowth::Iteration => iteration.saturating_sub(1),
        };
        if grown < self.simulation_growth_generations {
            let (first, full) = (f64::from(self.simulation_count_first), f64::from(search.simulation_count));
            let share = f64::from(grown) / f64::from(self.simulation_growth_generations);
            search.simulation_count = (first + (full - first) * share).round() as u32;
        }
        search
    }

    pub(super) fn check(&self, game: &GameSpec) -> Result<(), SettingError> {
        self.search.check().map_err(|error| error.under("search"))?;
        check_range("games_per_iteration", self.games_per_iteration, Self::GAMES_PER_ITERATION)?;
        let counts = SearchSettings::SIMULATION_COUNTS;
        check_range("simulation_count_first", self.simulation_count_first, counts)?;
        let share = self.endgame_share;
        check_range("endgame_share", share, 0.0..=1.0)?;
        check_that("endgame_share", share == 0.0 || has_endgames(game), || {
            format!("{share}, but {} has no endgames to begin from: set 0", game.type_name())
        })?;
        check_range("human_start_share", self.human_start_share, 0.0..=1.0)?;
        check_range("earlier_start_share", self.earlier_start_share, 0.0..=1.0)?;
        check_range("resign_value", self.resign_value, 0.0..=1.0)?;
        check_range("resign_plies", self.resign_plies, Self::RESIGN_PLIES)?;
        check_range("resign_played_on_share", self.resign_played_on_share, 0.0..=1.0)?;
        let sum = share + self.human_start_share + self.earlier_start_share;
        check_that("earlier_start_share", sum <= 1.0, || {
            format!("with endgame_share and human_start_share that is {sum}: more games than there are")
        })
    }
}

fn has_endgames(game: &GameSpec) -> bool {
    struct HasEndgames;
    impl GameVisitor for HasEndgames {
        type Output = bool;

        fn visit<E: Encoding>(self, encoding: E) -> bool {
            encoding.game().random_endgame(0).is_some()
        }
    }
    game.visit(HasEndgames).unwrap_or(false)
}

/// Most plies of a worker that are searched again.
const CHECKED_PLIES_MAX: u32 = 10_000;

/// Most yardstick games of an iteration against one network.
const YARDSTICK_GAMES_MAX: u32 = 10_000;

/// How candidates are tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateConfig {
    /// What decides: `score` or `sequential`.
    pub rule: GateRule,
    /// Games against the best network, in pairs with colours swapped; even, 2..=1,000,000.
    pub game_count: u32,
    /// Score from which the candidate is promoted, above 0 and at most 1; a draw counts as half.
    pub promotion_score: f64,
    /// Elo above the best network of a candidate that the sequential test is to reject, -1000..=1000.
    pub elo0: f64,
    /// Elo above the best network of a candidate that it is to promote, above `elo0` and at most 1000.
    pub elo1: f64,
    /// Share of candidates of strength `elo0` that it promotes, above 0 and below 0.5.
    pub alpha: f64,
    /// Share of candidates of strength `elo1` that it rejects, above 0 and below 0.5.
    pub beta: f64,
    /// Random plies that both games of a pair start with, 0..=40.
    pub opening_plies: u32,
    /// Plies of each worker that are searched again before the verdict counts, 0..=10,000; 0: none.
    pub checked_plies: u32,
    /// How a move is searched.
    pub search: SearchSettings,
}

impl GateConfig {
    /// Returns what decides the verdict.
    #[must_use]
    pub fn settings(&self) -> GateSettings {
        let Self { rule, game_count, promotion_score, elo0, elo1, alpha, beta, .. } = *self;
        GateSettings { rule, game_count, promotion_score, test: SequentialTest { elo0, elo1, alpha, beta } }
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        self.search.check().map_err(|error| error.under("search"))?;
        let share = self.search.full_search_share;
        check_that("search.full_search_share", share == 1.0, || format!("{share} is not 1, as it is in every gate"))?;
        self.settings().check()?;
        check_range("checked_plies", self.checked_plies, ..=CHECKED_PLIES_MAX)?;
        check_range("opening_plies", self.opening_plies, OPENING_PLIES)
    }
}

/// How the best network is measured against earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct YardstickConfig {
    /// Games after each gate against each of two earlier networks, even, 0..=10,000; 0: none.
    pub games: u32,
    /// Simulations a move, 2..=100,000,000.
    pub simulation_count: u32,
    /// Generations back to the second of the earlier networks, 1..=1,000,000; the first is network 1.
    pub earlier_generations: u32,
    /// Generations whose games against network 1 are put together, 1..=1,000,000; before so many promotions nobody is warned.
    pub pooled_generations: u32,
}

impl YardstickConfig {
    /// Possible values of `earlier_generations` and `pooled_generations`.
    pub const GENERATIONS: RangeInclusive<u32> = 1..=1_000_000;

    /// Returns how a move is searched where gate games are searched by `gate`.
    #[must_use]
    pub fn search(&self, gate: &SearchSettings) -> SearchSettings {
        SearchSettings { simulation_count: self.simulation_count, ..gate.clone() }
    }

    pub(super) fn check(&self, gate: &SearchSettings) -> Result<(), SettingError> {
        check_range("games", self.games, ..=YARDSTICK_GAMES_MAX)?;
        check_that("games", self.games.is_multiple_of(2), || format!("{} is odd: games come in pairs", self.games))?;
        check_range("earlier_generations", self.earlier_generations, Self::GENERATIONS)?;
        check_range("pooled_generations", self.pooled_generations, Self::GENERATIONS)?;
        self.search(gate).check()
    }
}

/// Longest time until an alarm.
const ALARM_TIME_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// When to warn: Hive runs have died of draws without anyone noticing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlarmConfig {
    /// Share of drawn games of an iteration, 0..=1.
    pub draw_share_max: f64,
    /// Share of games cut off at the ply limit, 0..=1.
    pub cut_off_share_max: f64,
    /// Share of games of an iteration whose first six plies no other game has, 0..=1.
    pub distinct_opening_share_min: f64,
    /// Share of false resignations among the games that were played on, 0..=1.
    pub false_resignation_share_max: f64,
    /// Rise of the mean squared value error on held-out games from the best network to the candidate, 0..=4.
    pub value_error_rise_max: f64,
    /// Time without a finished game while games are awaited, 0 s to 30 days; 0: never warn.
    #[serde(with = "humantime_serde")]
    pub no_games_max: Duration,
    /// Time that a gate waits without an evaluator, 0 s to 30 days; 0: never warn.
    #[serde(with = "humantime_serde")]
    pub no_evaluator_max: Duration,
    /// MiB that are to be free on the disk of the run directory; 0: never warn.
    pub disk_free_mib_min: u32,
    /// Time until that disk is full at the rate of the last day, below which to warn, 0 s to 30 days; 0: never.
    #[serde(with = "humantime_serde")]
    pub disk_full_in_min: Duration,
    /// Address to which each alarm is sent; empty: none.
    pub webhook: WebhookUrl,
    /// File with the token that it is shown; none: no token.
    pub webhook_token_file: Option<PathBuf>,
}

impl AlarmConfig {
    pub(super) fn check(&self, server: &ServerConfig) -> Result<(), SettingError> {
        self.webhook.check(self.webhook_token_file.is_some(), server.insecure)?;
        check_range("draw_share_max", self.draw_share_max, 0.0..=1.0)?;
        check_range("cut_off_share_max", self.cut_off_share_max, 0.0..=1.0)?;
        check_range("distinct_opening_share_min", self.distinct_opening_share_min, 0.0..=1.0)?;
        check_range("false_resignation_share_max", self.false_resignation_share_max, 0.0..=1.0)?;
        check_range("value_error_rise_max", self.value_error_rise_max, 0.0..=4.0)?;
        for (key, time) in [
            ("no_games_max", self.no_games_max),
            ("no_evaluator_max", self.no_evaluator_max),
            ("disk_full_in_min", self.disk_full_in_min),
        ] {
            check_that(key, time <= ALARM_TIME_MAX, || "is above 30days")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LearnerConfig;

    #[test]
    fn resignation_has_bounds_and_is_off_unless_it_is_asked_for() {
        let is_possible = |value, plies, played_on_share| {
            let LearnerConfig { mut self_play, game, .. } = LearnerConfig::default();
            assert!(!self_play.resignation().is_on());
            (self_play.resign_value, self_play.resign_plies) = (value, plies);
            self_play.resign_played_on_share = played_on_share;
            self_play.check(&game).is_ok()
        };
        assert!(is_possible(0.0, 1, 0.0) && is_possible(1.0, 100, 1.0));
        assert!(!is_possible(-0.1, 3, 0.1) && !is_possible(1.1, 3, 0.1) && !is_possible(f32::NAN, 3, 0.1));
        assert!(!is_possible(0.9, 0, 0.1) && !is_possible(0.9, 101, 0.1));
        assert!(!is_possible(0.9, 3, -0.1) && !is_possible(0.9, 3, 1.1));
    }

    #[test]
    fn simulations_grow_with_generations_or_with_iterations() {
        let mut self_play = LearnerConfig::default().self_play;
        (self_play.simulation_count_first, self_play.search.simulation_count) = (200, 800);
        let counts = |self_play: &SelfPlayConfig| {
            [(0, 1), (3, 9), (10, 10), (40, 50)].map(|(generation, iteration)| {
                self_play.search_at(Generation::new(generation), iteration).simulation_count
            })
        };
        assert_eq!(counts(&self_play), [800; 4], "from the start");
        self_play.simulation_growth_generations = 10;
        assert_eq!(counts(&self_play), [200, 380, 800, 800]);
        self_play.simulation_growth = SimulationGrowth::Iteration;
        assert_eq!(counts(&self_play), [200, 680, 740, 800]);
    }
}
