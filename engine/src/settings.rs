//! What can be set about the play of a running engine, each setting under the names that the protocols have for it.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Instant;

use shared::game::Game;
use shared::search::{ParallelSearch, SearchError, SearchPreset, SearchSettings};

use crate::think::Limits;

/// A number with its bounds.
#[derive(Debug, Clone, Copy)]
pub struct Number<T> {
    /// The number that counts now.
    pub value: T,
    default: T,
    least: T,
    most: T,
}

impl<T: Copy> Number<T> {
    const fn new(default: T, least: T, most: T) -> Self {
        Self { value: default, default, least, most }
    }
}

/// Yes or no.
#[derive(Debug, Clone, Copy)]
pub struct Switch {
    /// What counts now.
    pub value: bool,
    default: bool,
}

/// One of several names.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// What counts now.
    pub value: SearchPreset,
    default: SearchPreset,
}

/// All settings with their values. What each does is told in `docs/uhp.md`.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How to search.
    pub preset: Choice,
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
    pub repetition_draw: Switch,
}

impl Default for Settings {
    fn default() -> Self {
        let search = SearchSettings::default();
        Self {
            preset: Choice { value: SearchPreset::AlphaZero, default: SearchPreset::AlphaZero },
            simulations: Number::new(search.simulation_count, 2, SIMULATIONS_MAX),
            exploration: Number::new(search.exploration, 0.0, 1000.0),
            temperature: Number::new(0.0, 0.0, 100.0),
            batch_size: Number::new(8, 1, 256),
            // More, and the edges of the tree could not be numbered with 32 bits.
            memory_mb: Number::new(2048, 16, 32_768),
            transposition_mb: Number::new(4, 0, 4096),
            time_margin_ms: Number::new(50, 0, 10_000),
            threads: Number::new(1, 1, 256),
            search_threads: Number::new(1, 1, 256),
            repetition_draw: Switch { value: true, default: true },
        }
    }
}

const PRESET: &str = "Preset";
/// Most simulations that a tree counts.
pub const SIMULATIONS_MAX: u32 = 100_000_000;

/// Why a setting stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such setting.
    #[error("unknown option {0:?}")]
    Unknown(String),
    /// It cannot have this value.
    #[error("option {name}: {reason}")]
    Value {
        /// The setting.
        name: &'static str,
        /// Why not.
        reason: String,
    },
}

/// A setting as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
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

/// What a setting holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Int,
    /// A number.
    Real,
    /// Yes or no.
    Bool,
    /// One of several names.
    Enum,
}

impl Settings {
    /// Returns what is set at first in a program that searches by `preset`.
    pub fn of_preset(preset: SearchPreset) -> Self {
        let mut settings = Self { preset: Choice { value: preset, default: preset }, ..Self::default() };
        settings.exploration.value = preset.settings(SIMULATIONS_MAX).exploration;
        settings
    }

    /// Returns every setting.
    pub fn shown(&self) -> Vec<Shown> {
        let mut copy = self.clone();
        let all = copy.all();
        all.iter().map(|(name, hub_name, setting)| Shown { name, hub_name, ..setting.shown() }).collect()
    }

    /// Returns one setting, by either name.
    ///
    /// # Errors
    /// [`SettingError::Unknown`].
    pub fn one(&self, name: &str) -> Result<Shown, SettingError> {
        let found = self.shown().into_iter().find(|shown| is_named(name, shown.name, shown.hub_name));
        found.ok_or_else(|| SettingError::Unknown(name.to_owned()))
    }

    /// Changes one setting, by either name.
    ///
    /// # Errors
    /// [`SettingError`] for an unknown setting or an impossible value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let found = self.all().into_iter().find(|(known, hub_name, _)| is_named(name, known, hub_name));
        let (name, _, setting) = found.ok_or_else(|| SettingError::Unknown(name.to_owned()))?;
        let before = setting.shown().value;
        setting.set(value).map_err(|reason| SettingError::Value { name, reason })?;
        if name == PRESET && self.preset.value.name() != before {
            // Each formula has a weight of its own.
            self.exploration.value = self.preset.value.settings(SIMULATIONS_MAX).exploration;
        }
        Ok(())
    }

    /// Returns how a game is searched. The search itself ends by the limits of each move.
    pub fn search(&self) -> SearchSettings {
        SearchSettings {
            exploration: self.exploration.value,
            leaves_per_game: self.batch_size.value,
            temperature: self.temperature.value,
            temperature_after: self.temperature.value,
            ..self.preset.value.settings(SIMULATIONS_MAX)
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
            simulation_count: simulation_count.map_or(SIMULATIONS_MAX, |count| count.clamp(2, SIMULATIONS_MAX)),
            deadline,
            byte_count_max: (self.memory_mb.value as usize) << 20,
            batch_size: self.batch_size.value,
            thread_count: self.search_threads.value,
        }
    }

    fn all(&mut self) -> [(&'static str, &'static str, &mut dyn Setting); 11] {
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
        ]
    }
}

fn is_named(name: &str, known: &str, hub_name: &str) -> bool {
    !name.is_empty() && (known.eq_ignore_ascii_case(name) || hub_name.eq_ignore_ascii_case(name))
}

trait Setting {
    /// Returns the setting without its names.
    fn shown(&self) -> Shown;
    fn set(&mut self, text: &str) -> Result<(), String>;
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

impl<T: NumberType> Setting for Number<T> {
    fn shown(&self) -> Shown {
        Shown {
            name: "",
            hub_name: "",
            kind: T::KIND,
            value: self.value.to_string(),
            default: self.default.to_string(),
            allowed: vec![self.least.to_string(), self.most.to_string()],
        }
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        // Not a number is in no range.
        let value = text.parse().ok().filter(|value| (self.least..=self.most).contains(value));
        self.value = value.ok_or_else(|| format!("{text:?} is not in {}..={}", self.least, self.most))?;
        Ok(())
    }
}

impl Setting for Switch {
    fn shown(&self) -> Shown {
        let [value, default] = [self.value, self.default].map(|value| value.to_string());
        Shown { name: "", hub_name: "", kind: Kind::Bool, value, default, allowed: vec![] }
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        let value = text.to_ascii_lowercase().parse().map_err(|_| format!("{text:?} is not True or False"))?;
        self.value = value;
        Ok(())
    }
}

impl Setting for Choice {
    fn shown(&self) -> Shown {
        let [value, default] = [self.value, self.default].map(|preset| preset.name().to_owned());
        let allowed = SearchPreset::ALL.map(|preset| preset.name().to_owned()).to_vec();
        Shown { name: "", hub_name: "", kind: Kind::Enum, value, default, allowed }
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        self.value = text.to_ascii_lowercase().parse().map_err(|_| {
            let names = SearchPreset::ALL.map(SearchPreset::name).join(", ");
            format!("{text:?} is not one of {names}")
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_can_be_set_to_what_it_shows() {
        let mut settings = Settings::default();
        assert_eq!(settings.search().check(), Ok(()));
        for shown in settings.shown() {
            for name in [shown.name, shown.hub_name].into_iter().filter(|name| !name.is_empty()) {
                settings.set(name, &shown.value).unwrap();
                assert_eq!(settings.one(name).unwrap(), shown);
            }
            for bound in &shown.allowed {
                settings.set(shown.name, bound).unwrap();
                assert_eq!(settings.search().check(), Ok(()), "{} set to {bound}", shown.name);
            }
        }
    }

    #[test]
    fn an_impossible_value_changes_nothing() {
        let mut settings = Settings::default();
        let before = settings.shown();
        for (name, value) in [
            ("Simulations", "1"),
            ("Simulations", "-5"),
            ("Exploration", "NaN"),
            ("Exploration", "inf"),
            ("Threads", "many"),
            ("RepetitionDraw", "maybe"),
            ("Preset", "stockfish"),
        ] {
            let error = settings.set(name, value).unwrap_err();
            assert!(matches!(error, SettingError::Value { .. }), "{error}");
        }
        assert_eq!(settings.set("Magic", "1"), Err(SettingError::Unknown("Magic".to_owned())));
        assert_eq!(settings.shown(), before);
    }

    #[test]
    fn a_preset_brings_its_own_exploration() {
        let mut settings = Settings::default();
        let before = settings.tree_key();
        settings.set("preset", "vanilla").unwrap();
        assert_eq!(settings.exploration.value, std::f32::consts::SQRT_2);
        settings.set("Exploration", "1").unwrap();
        settings.set("Preset", "Vanilla").unwrap();
        assert_eq!(settings.exploration.value, 1.0, "the preset is what it was");
        settings.set("Preset", "alphazero").unwrap();
        assert_eq!(settings.tree_key(), before);
        let error = settings.set("Preset", "pure").unwrap_err().to_string();
        assert_eq!(error, "option Preset: \"pure\" is not one of vanilla, grandmaster, alphazero");
    }
}
