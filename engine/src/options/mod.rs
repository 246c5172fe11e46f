//! What can be set about the play of a running engine, each option under the names that the protocols have for it.

mod values;

use std::ops::RangeInclusive;
use std::time::Instant;

use arena::levels::{LevelPlay, LevelTable, StrengthLevel};
use arena::matches::MatchGame;
use notation::{ReplayRules, RuleChoice};
use shared::bounds::THREAD_COUNT_MAX;
use shared::game::Game;
use shared::search::{ParallelSearch, Rule, SIMULATION_COUNT_MAX, SearchError, SearchPreset, SearchSettings};

use crate::think::Limits;
use values::EngineOption;

pub use values::{Choice, Kind, Number, OptionError, OptionProblem, ShownOption, Toggle};

/// All options with their values. What each does: `docs/uhp.md`.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// How to search.
    pub preset: Choice<SearchPreset>,
    /// Strength, 1 to 10; 0 = as strong as it can.
    level: Number<u32>,
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
    /// Whether moves are taken from the opening book, if there is one.
    pub book: Toggle,
    /// Threads that compute the network.
    pub threads: Number<u32>,
    /// Threads that search the tree.
    pub search_threads: Number<u32>,
    /// Best moves that lines of information tell of.
    pub multi_pv: Number<u32>,
    /// Whether a search of UHP tells how far it is.
    pub info_lines: Toggle,
    /// Whether to search while the opponent thinks.
    pub ponder: Toggle,
    /// Seconds that each side has for a whole game; 0 = the engine keeps no clock.
    pub game_seconds: Number<f32>,
    /// Seconds that each move adds.
    pub increment_seconds: Number<f32>,
    /// How sure of losing the engine resigns; 0 = never.
    pub resign_value: Number<f32>,
    /// How near to even it offers a draw; 0 = never.
    pub draw_value: Number<f32>,
    /// Whether the third occurrence of a position is a draw; counts from the next game on.
    repetition_draw: Choice<RuleChoice>,
    /// Whether a queen may be a side's first piece; counts from the next game on.
    queen_first: Choice<RuleChoice>,
    /// Whether another resting piece makes another position, for repetitions; counts from the next game on.
    rest_counts: Toggle,
    /// What the game's searches by PUCT explore with.
    puct_exploration: f32,
    /// How the game's levels play.
    levels: &'static LevelTable,
}

/// The name of the option that says how to search.
pub const PRESET: &str = "Preset";

impl EngineOptions {
    /// Possible numbers of leaves that a network answers at once.
    pub const BATCH_SIZES: RangeInclusive<u32> = 1..=256;
    /// Possible numbers of threads.
    pub const THREADS: RangeInclusive<u32> = 1..=THREAD_COUNT_MAX as u32;

    /// Returns the options of an engine that plays `G` and searches by `preset`, each at its default.
    pub fn new<G: MatchGame>(preset: SearchPreset) -> Self {
        let mut options = Self {
            preset: Choice::new(preset),
            level: Number::new(0, 0..=StrengthLevel::COUNT.into()),
            simulations: Number::new(SearchSettings::default().simulation_count, SearchSettings::SIMULATION_COUNTS),
            exploration: Number::new(G::EXPLORATION, SearchSettings::EXPLORATIONS),
            temperature: Number::new(0.0, SearchSettings::TEMPERATURES),
            batch_size: Number::new(8, Self::BATCH_SIZES),
            // More, and the edges of the tree could not be numbered with 32 bits.
            memory_mb: Number::new(2048, 16..=32_768),
            transposition_mb: Number::new(4, 0..=4096),
            time_margin_ms: Number::new(50, 0..=10_000),
            book: Toggle::on(),
            threads: Number::new(1, Self::THREADS),
            search_threads: Number::new(1, Self::THREADS),
            multi_pv: Number::new(1, 1..=100),
            info_lines: Toggle::off(),
            ponder: Toggle::off(),
            game_seconds: Number::new(0.0, 0.0..=1e6),
            increment_seconds: Number::new(0.0, 0.0..=1e4),
            resign_value: Number::new(0.0, 0.0..=1.0),
            draw_value: Number::new(0.0, 0.0..=1.0),
            repetition_draw: Choice::new(RuleChoice::Auto),
            queen_first: Choice::new(RuleChoice::Auto),
            rest_counts: Toggle::off(),
            puct_exploration: G::EXPLORATION,
            levels: G::LEVELS,
        };
        options.exploration.value = options.preset_exploration();
        options
    }

    /// Returns those of an engine without a network: where no policy says which moves are good, a search must look further.
    pub fn without_network(mut self) -> Self {
        self.puct_exploration = SearchSettings::default().exploration;
        self.exploration = Number::new(self.puct_exploration, SearchSettings::EXPLORATIONS);
        self.exploration.value = self.preset_exploration();
        self
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
        ReplayRules {
            repetition_draw: self.repetition_draw.value,
            queen_first: self.queen_first.value,
            rest_counts: self.rest_counts.value,
        }
    }

    /// Returns how to search: a level is one of the network.
    pub fn preset(&self) -> SearchPreset {
        if self.level().is_some() { SearchPreset::AlphaZero } else { self.preset.value }
    }

    /// Returns how the level plays, `None` at full strength.
    pub fn level(&self) -> Option<LevelPlay> {
        let number = u8::try_from(self.level.value).ok()?;
        StrengthLevel::new(number).map(|level| level.play(self.levels))
    }

    /// Sets the level.
    pub fn set_level(&mut self, level: Option<StrengthLevel>) {
        self.level.value = level.map_or(0, |level| level.number().into());
    }

    /// Returns how a game is searched. The search itself ends by the limits of each move.
    pub fn search(&self) -> SearchSettings {
        if let Some(level) = self.level() {
            let level = level.settings(self.puct_exploration);
            return SearchSettings { simulation_count: SIMULATION_COUNT_MAX, ..level };
        }
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
        (self.preset(), self.search(), self.transposition_mb.value)
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
        let preset = self.preset();
        let mut search = ParallelSearch::new(game.clone(), position.clone(), preset.rule(), self.search(), seed)?;
        if preset.shares_evaluations() {
            search.share_evaluations((self.transposition_mb.value as usize) << 20);
        }
        Ok(search)
    }

    /// Returns the limits of a search of so many simulations, or as many as a tree counts, that ends at `deadline`.
    /// A level ends it earlier, and searches with one thread.
    pub fn limits(&self, simulation_count: Option<u32>, deadline: Option<Instant>) -> Limits {
        let settings = self.level().map(|level| level.settings(self.puct_exploration));
        let most = settings.as_ref().map_or(SIMULATION_COUNT_MAX, |settings| settings.simulation_count);
        Limits {
            simulation_count: simulation_count
                .map_or(most, |count| count.clamp(*SearchSettings::SIMULATION_COUNTS.start(), most)),
            deadline,
            byte_count_max: (self.memory_mb.value as usize) << 20,
            batch_size: settings.as_ref().map_or(self.batch_size.value, |settings| settings.leaves_per_game),
            thread_count: if settings.is_some() { 1 } else { self.search_threads.value },
        }
    }

    fn all(&mut self) -> [(&'static str, &'static str, &mut dyn EngineOption); 22] {
        [
            (PRESET, "preset", &mut self.preset),
            ("Level", "level", &mut self.level),
            ("Simulations", "simulations", &mut self.simulations),
            ("Exploration", "exploration", &mut self.exploration),
            ("Temperature", "temperature", &mut self.temperature),
            ("BatchSize", "batch-size", &mut self.batch_size),
            ("MemoryMB", "memory-mb", &mut self.memory_mb),
            ("TranspositionMB", "transposition-mb", &mut self.transposition_mb),
            ("TimeMarginMs", "time-margin-ms", &mut self.time_margin_ms),
            ("Book", "book", &mut self.book),
            ("Threads", "threads", &mut self.threads),
            ("SearchThreads", "search-threads", &mut self.search_threads),
            ("MultiPV", "", &mut self.multi_pv),
            ("InfoLines", "", &mut self.info_lines),
            ("Ponder", "", &mut self.ponder),
            ("GameSeconds", "", &mut self.game_seconds),
            ("IncrementSeconds", "", &mut self.increment_seconds),
            ("ResignValue", "", &mut self.resign_value),
            ("DrawValue", "", &mut self.draw_value),
            ("RepetitionDraw", "", &mut self.repetition_draw),
            ("QueenFirst", "", &mut self.queen_first),
            ("RestCounts", "", &mut self.rest_counts),
        ]
    }
}

fn is_named(name: &str, known: &str, hub_name: &str) -> bool {
    !name.is_empty() && (known.eq_ignore_ascii_case(name) || hub_name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests;
