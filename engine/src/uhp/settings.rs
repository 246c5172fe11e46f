//! The options of the protocol: `options`, `options get`, `options set`.
//!
//! An option is shown as `Name;type;value;default`, numbers with `;least;most` behind.

use std::fmt::Display;
use std::str::FromStr;

use shared::search::SearchSettings;

use super::refusal::Refusal;

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

/// All options with their values. What each does is told in `docs/uhp.md`.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Simulations of a `bestmove` without a limit.
    pub simulations: Number<u32>,
    /// Weight of prior and visits against value (c_puct).
    pub exploration: Number<f32>,
    /// Temperature at which moves are chosen; 0 = the most visited move.
    pub temperature: Number<f32>,
    /// Leaves that a network answers at once.
    pub batch_size: Number<u32>,
    /// Memory that the tree may take, in MiB.
    pub memory_mb: Number<u32>,
    /// How long before the end of the time a search stops, in milliseconds.
    pub time_margin_ms: Number<u32>,
    /// Threads that compute the network.
    pub threads: Number<u32>,
    /// Whether the third occurrence of a position is a draw; counts from the next game on.
    pub repetition_draw: Switch,
}

impl Default for Settings {
    fn default() -> Self {
        let search = SearchSettings::default();
        Self {
            simulations: Number::new(search.simulation_count, 2, SIMULATIONS_MAX),
            exploration: Number::new(search.exploration, 0.0, 1000.0),
            temperature: Number::new(0.0, 0.0, 100.0),
            batch_size: Number::new(8, 1, 256),
            // More, and the edges of the tree could not be numbered with 32 bits.
            memory_mb: Number::new(2048, 16, 32_768),
            time_margin_ms: Number::new(50, 0, 10_000),
            threads: Number::new(1, 1, 256),
            repetition_draw: Switch { value: true, default: true },
        }
    }
}

/// Most simulations that a tree counts.
pub const SIMULATIONS_MAX: u32 = 100_000_000;

impl Settings {
    /// Returns a line for every option.
    pub fn lines(&self) -> Vec<String> {
        let mut copy = self.clone();
        copy.all().iter().map(|(name, option)| format!("{name};{}", option.describe())).collect()
    }

    /// Returns the line of one option.
    ///
    /// # Errors
    /// [`Refusal::UnknownOption`].
    pub fn line(&self, name: &str) -> Result<String, Refusal> {
        let mut copy = self.clone();
        let (name, option) = copy.find(name)?;
        Ok(format!("{name};{}", option.describe()))
    }

    /// Changes one option.
    ///
    /// # Errors
    /// [`Refusal`] for an unknown option or an impossible value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let (name, option) = self.find(name)?;
        option.set(value).map_err(|reason| Refusal::OptionValue { name, reason })
    }

    /// Returns how a game is searched. The search itself ends by the limits of each `bestmove`.
    pub fn search(&self) -> SearchSettings {
        SearchSettings {
            exploration: self.exploration.value,
            leaves_per_game: self.batch_size.value,
            temperature: self.temperature.value,
            temperature_after: self.temperature.value,
            ..SearchSettings::default().for_match(SIMULATIONS_MAX)
        }
    }

    fn find(&mut self, name: &str) -> Result<(&'static str, &mut dyn Setting), Refusal> {
        let found = self.all().into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Refusal::UnknownOption(name.to_owned()))
    }

    fn all(&mut self) -> [(&'static str, &mut dyn Setting); 8] {
        [
            ("Simulations", &mut self.simulations),
            ("Exploration", &mut self.exploration),
            ("Temperature", &mut self.temperature),
            ("BatchSize", &mut self.batch_size),
            ("MemoryMB", &mut self.memory_mb),
            ("TimeMarginMs", &mut self.time_margin_ms),
            ("Threads", &mut self.threads),
            ("RepetitionDraw", &mut self.repetition_draw),
        ]
    }
}

trait Setting {
    /// Returns type, value, default and bounds as the protocol writes them.
    fn describe(&self) -> String;
    fn set(&mut self, text: &str) -> Result<(), String>;
}

trait NumberType: Copy + PartialOrd + Display + FromStr {
    const NAME: &'static str;
}

impl NumberType for u32 {
    const NAME: &'static str = "int";
}

impl NumberType for f32 {
    const NAME: &'static str = "double";
}

impl<T: NumberType> Setting for Number<T> {
    fn describe(&self) -> String {
        let Self { value, default, least, most } = self;
        format!("{};{value};{default};{least};{most}", T::NAME)
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        // Not a number is in no range.
        let value = text.parse().ok().filter(|value| (self.least..=self.most).contains(value));
        self.value = value.ok_or_else(|| format!("{text:?} is not in {}..={}", self.least, self.most))?;
        Ok(())
    }
}

impl Setting for Switch {
    fn describe(&self) -> String {
        let text = |value| if value { "True" } else { "False" };
        format!("bool;{};{}", text(self.value), text(self.default))
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        let value = text.to_ascii_lowercase().parse().map_err(|_| format!("{text:?} is not True or False"))?;
        self.value = value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_can_be_set_to_what_it_shows() {
        let mut settings = Settings::default();
        assert_eq!(settings.search().check(), Ok(()));
        for line in settings.lines() {
            let parts: Vec<&str> = line.split(';').collect();
            settings.set(parts[0], parts[2]).unwrap();
            assert_eq!(settings.line(parts[0]).unwrap(), line);
            for bound in parts.iter().skip(4) {
                settings.set(parts[0], bound).unwrap();
                assert_eq!(settings.search().check(), Ok(()), "{line} set to {bound}");
            }
        }
    }

    #[test]
    fn an_impossible_value_changes_nothing() {
        let mut settings = Settings::default();
        let before = settings.lines();
        for (name, value) in [
            ("Simulations", "1"),
            ("Simulations", "-5"),
            ("Exploration", "NaN"),
            ("Exploration", "inf"),
            ("Threads", "many"),
            ("RepetitionDraw", "maybe"),
        ] {
            let refusal = settings.set(name, value).unwrap_err();
            assert!(matches!(refusal, Refusal::OptionValue { .. }), "{refusal}");
        }
        assert_eq!(settings.set("Magic", "1"), Err(Refusal::UnknownOption("Magic".to_owned())));
        assert_eq!(settings.lines(), before);
    }
}
