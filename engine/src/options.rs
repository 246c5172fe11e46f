//! What can be set about the play of a running engine, each option under the names that the protocols have for it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Instant;

use notation::{ReplayRules, RuleChoice, RuleChoiceError};
use shared::catalog::NetworkGame;
use shared::game::Game;
use shared::search::{
    ParallelSearch, Rule, SIMULATION_COUNT_MAX, SearchError, SearchPreset, SearchPresetError, SearchSettings,
};

use crate::think::Limits;

/// A number with its bounds.
#[derive(Debug, Clone, Copy)]
pub struct Number<T> {
    /// The number in use.
    pub value: T,
    default: T,
    least: T,
    most: T,
}

impl<T: Copy> Number<T> {
    fn new(default: T, range: RangeInclusive<T>) -> Self {
        Self { value: default, default, least: *range.start(), most: *range.end() }
    }
}

/// One of several names.
#[derive(Debug, Clone, Copy)]
pub struct Choice<T> {
    /// What is in use.
    pub value: T,
    default: T,
}

impl<T: Copy> Choice<T> {
    const fn new(default: T) -> Self {
        Self { value: default, default }
    }
}

/// All options with their values. What each does: `docs/uhp.md`.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// How to search.
    pub preset: Choice<SearchPreset>,
    /// Simulations of a search without a limit.
    pub simulations: Number<u32>,
    /// Weight of prior and visits against value (c_puct).
    pub exploration: Number<f32>,
    /// Temperature at which moves are chosen; 0 = the most visited move.
    pub temperature: Number<f32>,
    /// Leaves that a network answers at once.
    pub batch_size: Number<u32>,
    /// Memory that the tree may take, in MiB.
    pub memory_mb: Number<u32>,
    /// Memory for evaluations that are found again, in MiB; 0 = none.
    pub transposition_mb: Number<u32>,
    /// How long before the end of the time a search stops, in milliseconds.
    pub time_margin_ms: Number<u32>,
    /// Threads that compute the network.
    pub threads: Number<u32>,
    /// Threads that search the tree.
    pub search_threads: Number<u32>,
    /// Whether the third occurrence of a position is a draw; counts from the next game on.
    repetition_draw: Choice<RuleChoice>,
    /// Whether a queen may be a side's first piece; counts from the next game on.
    queen_first: Choice<RuleChoice>,
    /// What the game's searches by PUCT explore with.
    puct_exploration: f32,
}

const PRESET: &str = "Preset";

/// Why an option stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// There is no such option.
    #[error("unknown option {0:?}")]
    Unknown(String),
    /// It cannot have this value.
    #[error("option {name}: {problem}")]
    Value {
        /// The option.
        name: &'static str,
        /// What is wrong with the value.
        problem: OptionProblem,
    },
}

/// What is wrong with the value of an option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionProblem {
    /// Not a number, or too small or too large.
    #[error("{text:?} is not in {least}..={most}")]
    Number {
        /// What was given.
        text: String,
        /// The least number.
        least: String,
        /// The greatest number.
        most: String,
    },
    /// Neither yes nor no.
    #[error(transparent)]
    Rule(#[from] RuleChoiceError),
    /// Not the name of a preset.
    #[error(transparent)]
    Preset(#[from] SearchPresetError),
}

/// An option as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownOption {
    /// Its name in UHP, `MemoryMB`.
    pub name: &'static str,
    /// Its name in the hub protocol, `memory-mb`; empty if it is a matter of Hive.
    pub hub_name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What it is set to.
    pub value: String,
    /// What it is set to at first.
    pub default: String,
    /// The least and the greatest number, or all names.
    pub allowed: Vec<String>,
}

/// What an option holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Int,
    /// A number.
    Real,
    /// One of several names.
    Enum,
}

impl EngineOptions {
    /// Returns the options of an engine that plays `G` and searches by `preset`, each at its default.
    pub fn new<G: NetworkGame>(preset: SearchPreset) -> Self {
        let mut options = Self {
            preset: Choice::new(preset),
            simulations: Number::new(SearchSettings::default().simulation_count, SearchSettings::SIMULATION_COUNTS),
            exploration: Number::new(G::EXPLORATION, SearchSettings::EXPLORATIONS),
            temperature: Number::new(0.0, SearchSettings::TEMPERATURES),
            batch_size: Number::new(8, 1..=256),
            // More, and the edges of the tree could not be numbered with 32 bits.
            memory_mb: Number::new(2048, 16..=32_768),
            transposition_mb: Number::new(4, 0..=4096),
            time_margin_ms: Number::new(50, 0..=10_000),
            threads: Number::new(1, 1..=256),
            search_threads: Number::new(1, 1..=256),
            repetition_draw: Choice::new(RuleChoice::Auto),
            queen_first: Choice::new(RuleChoice::Auto),
            puct_exploration: G::EXPLORATION,
        };
        options.exploration.value = options.preset_exploration();
        options
    }

    /// Returns the exploration of the preset: each formula has a weight of its own, and PUCT one for each game.
    fn preset_exploration(&self) -> f32 {
        match self.preset.value.rule() {
            Rule::Puct => self.puct_exploration,
            Rule::Ucb1 => self.preset.value.settings(SIMULATION_COUNT_MAX).exploration,
        }
    }

    /// Returns every option.
    pub fn shown(&self) -> Vec<ShownOption> {
        let mut copy = self.clone();
        let all = copy.all();
        all.iter().map(|(name, hub_name, option)| ShownOption { name, hub_name, ..option.shown() }).collect()
    }

    /// Returns one option, by either name.
    ///
    /// # Errors
    /// [`OptionError::Unknown`].
    pub fn one(&self, name: &str) -> Result<ShownOption, OptionError> {
        let found = self.shown().into_iter().find(|shown| is_named(name, shown.name, shown.hub_name));
        found.ok_or_else(|| OptionError::Unknown(name.to_owned()))
    }

    /// Changes one option, by either name.
    ///
    /// # Errors
    /// [`OptionError`] for an unknown option or an impossible value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let found = self.all().into_iter().find(|(known, hub_name, _)| is_named(name, known, hub_name));
        let (name, _, option) = found.ok_or_else(|| OptionError::Unknown(name.to_owned()))?;
        let before = option.shown().value;
        option.set(value).map_err(|problem| OptionError::Value { name, problem })?;
        if name == PRESET && self.preset.value.name() != before {
            self.exploration.value = self.preset_exploration();
        }
        Ok(())
    }

    /// Returns the rules of the next game of Hive.
    pub const fn replay_rules(&self) -> ReplayRules {
        ReplayRules { repetition_draw: self.repetition_draw.value, queen_first: self.queen_first.value }
    }

    /// Returns how a game is searched. The search itself ends by the limits of each move.
    pub fn search(&self) -> SearchSettings {
        SearchSettings {
            exploration: self.exploration.value,
            leaves_per_game: self.batch_size.value,
            temperature: self.temperature.value,
            temperature_after: self.temperature.value,
            ..self.preset.value.settings(SIMULATION_COUNT_MAX)
        }
    }

    /// Returns what a tree must have been searched by to be searched on.
    pub fn tree_key(&self) -> (SearchPreset, SearchSettings, u32) {
        (self.preset.value, self.search(), self.transposition_mb.value)
    }

    /// Begins a tree.
    ///
    /// # Errors
    /// If the game is over.
    pub fn new_search<G: Game>(
        &self,
        game: &G,
        position: &G::Position,
        seed: u64,
    ) -> Result<ParallelSearch<G>, SearchError> {
        let preset = self.preset.value;
        let mut search = ParallelSearch::new(game.clone(), position.clone(), preset.rule(), self.search(), seed)?;
        if preset.shares_evaluations() {
            search.share_evaluations((self.transposition_mb.value as usize) << 20);
        }
        Ok(search)
    }

    /// Returns the limits of a search of so many simulations, or as many as a tree counts, that ends at `deadline`.
    pub fn limits(&self, simulation_count: Option<u32>, deadline: Option<Instant>) -> Limits {
        Limits {
            simulation_count: simulation_count
                .map_or(SIMULATION_COUNT_MAX, |count| count.clamp(2, SIMULATION_COUNT_MAX)),
            deadline,
            byte_count_max: (self.memory_mb.value as usize) << 20,
            batch_size: self.batch_size.value,
            thread_count: self.search_threads.value,
        }
    }

    fn all(&mut self) -> [(&'static str, &'static str, &mut dyn EngineOption); 12] {
        [
            (PRESET, "preset", &mut self.preset),
            ("Simulations", "simulations", &mut self.simulations),
            ("Exploration", "exploration", &mut self.exploration),
            ("Temperature", "temperature", &mut self.temperature),
            ("BatchSize", "batch-size", &mut self.batch_size),
            ("MemoryMB", "memory-mb", &mut self.memory_mb),
            ("TranspositionMB", "transposition-mb", &mut self.transposition_mb),
            ("TimeMarginMs", "time-margin-ms", &mut self.time_margin_ms),
            ("Threads", "threads", &mut self.threads),
            ("SearchThreads", "search-threads", &mut self.search_threads),
            ("RepetitionDraw", "", &mut self.repetition_draw),
            ("QueenFirst", "", &mut self.queen_first),
        ]
    }
}

fn is_named(name: &str, known: &str, hub_name: &str) -> bool {
    !name.is_empty() && (known.eq_ignore_ascii_case(name) || hub_name.eq_ignore_ascii_case(name))
}

trait EngineOption {
    /// Returns the option without its names.
    fn shown(&self) -> ShownOption;
    fn set(&mut self, text: &str) -> Result<(), OptionProblem>;
}

trait NumberType: Copy + PartialOrd + Display + FromStr {
    const KIND: Kind;
}

impl NumberType for u32 {
    const KIND: Kind = Kind::Int;
}

impl NumberType for f32 {
    const KIND: Kind = Kind::Real;
}

impl<T: NumberType> EngineOption for Number<T> {
    fn shown(&self) -> ShownOption {
        ShownOption {
            name: "",
            hub_name: "",
            kind: T::KIND,
            value: self.value.to_string(),
            default: self.default.to_string(),
            allowed: vec![self.least.to_string(), self.most.to_string()],
        }
    }

    fn set(&mut self, text: &str) -> Result<(), OptionProblem> {
        // Not a number is in no range.
        let value = text.parse().ok().filter(|value| (self.least..=self.most).contains(value));
        self.value = value.ok_or_else(|| OptionProblem::Number {
            text: text.to_owned(),
            least: self.least.to_string(),
            most: self.most.to_string(),
        })?;
        Ok(())
    }
}

impl EngineOption for Choice<RuleChoice> {
    fn shown(&self) -> ShownOption {
        self.shown_with(RuleChoice::ALL.map(RuleChoice::name), RuleChoice::name)
    }

    fn set(&mut self, text: &str) -> Result<(), OptionProblem> {
        self.value = text.parse()?;
        Ok(())
    }
}

impl EngineOption for Choice<SearchPreset> {
    fn shown(&self) -> ShownOption {
        self.shown_with(SearchPreset::ALL.map(SearchPreset::name), SearchPreset::name)
    }

    fn set(&mut self, text: &str) -> Result<(), OptionProblem> {
        let named = text.to_ascii_lowercase().parse();
        self.value = named.map_err(|SearchPresetError(_)| SearchPresetError(text.to_owned()))?;
        Ok(())
    }
}

impl<T: Copy> Choice<T> {
    fn shown_with<const N: usize>(&self, names: [&'static str; N], name: fn(T) -> &'static str) -> ShownOption {
        let [value, default] = [self.value, self.default].map(|value| name(value).to_owned());
        let allowed = names.map(str::to_owned).to_vec();
        ShownOption { name: "", hub_name: "", kind: Kind::Enum, value, default, allowed }
    }
}

#[cfg(test)]
mod tests {
    use shared::game::dama::Dama;
    use shared::game::hive::Hive;

    use super::*;

    #[test]
    fn every_option_can_be_set_to_what_it_shows() {
        let mut options = EngineOptions::new::<Hive>(SearchPreset::AlphaZero);
        assert_eq!(options.search().check(), Ok(()));
        for shown in options.shown() {
            for name in [shown.name, shown.hub_name].into_iter().filter(|name| !name.is_empty()) {
                options.set(name, &shown.value).unwrap();
                assert_eq!(options.one(name).unwrap(), shown);
            }
            for bound in &shown.allowed {
                options.set(shown.name, bound).unwrap();
                assert_eq!(options.search().check(), Ok(()), "{} set to {bound}", shown.name);
            }
        }
    }

    #[test]
    fn an_impossible_value_changes_nothing() {
        let mut options = EngineOptions::new::<Hive>(SearchPreset::AlphaZero);
        let before = options.shown();
        for (name, value) in [
            ("Simulations", "1"),
            ("Simulations", "-5"),
            ("Exploration", "NaN"),
            ("Exploration", "inf"),
            ("Threads", "many"),
            ("RepetitionDraw", "maybe"),
            ("Preset", "stockfish"),
        ] {
            let error = options.set(name, value).unwrap_err();
            assert!(matches!(error, OptionError::Value { .. }), "{error}");
        }
        assert_eq!(options.set("Magic", "1"), Err(OptionError::Unknown("Magic".to_owned())));
        assert_eq!(options.shown(), before);
    }

    #[test]
    fn a_preset_brings_its_own_exploration() {
        let mut options = EngineOptions::new::<Hive>(SearchPreset::AlphaZero);
        let before = options.tree_key();
        options.set("preset", "vanilla").unwrap();
        assert_eq!(options.exploration.value, std::f32::consts::SQRT_2);
        options.set("Exploration", "1").unwrap();
        options.set("Preset", "Vanilla").unwrap();
        assert_eq!(options.exploration.value, 1.0, "the preset is what it was");
        options.set("Preset", "alphazero").unwrap();
        assert_eq!(options.tree_key(), before);
        let error = options.set("Preset", "pure").unwrap_err().to_string();
        assert_eq!(error, "option Preset: \"pure\" is not one of vanilla, grandmaster, alphazero");
    }

    #[test]
    fn a_game_brings_its_own_exploration() {
        let mut options = EngineOptions::new::<Dama>(SearchPreset::AlphaZero);
        let shown = options.one("Exploration").unwrap();
        assert_eq!((shown.value.as_str(), shown.default.as_str()), ("1", "1"));
        options.set("Preset", "grandmaster").unwrap();
        assert_eq!(options.exploration.value, std::f32::consts::SQRT_2);
        options.set("Preset", "alphazero").unwrap();
        assert_eq!(options.exploration.value, 1.0);
        assert_eq!(EngineOptions::new::<Hive>(SearchPreset::AlphaZero).exploration.value, 2.5);
    }
}
