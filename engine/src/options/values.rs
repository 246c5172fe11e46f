//! What an option holds, how it is shown, and how it is set from text.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use notation::{RuleChoice, RuleChoiceError};
use shared::search::{SearchPreset, SearchPresetError};

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
    /// Makes an option at its default.
    pub fn new(default: T, range: RangeInclusive<T>) -> Self {
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
    /// Makes an option at its default.
    pub const fn new(default: T) -> Self {
        Self { value: default, default }
    }
}

/// Yes or no.
#[derive(Debug, Clone, Copy)]
pub struct Toggle {
    /// What is in use.
    pub value: bool,
    default: bool,
}

impl Toggle {
    /// Makes an option that is off.
    pub const fn off() -> Self {
        Self { value: false, default: false }
    }

    /// Makes an option that is on.
    pub const fn on() -> Self {
        Self { value: true, default: true }
    }
}

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
    #[error("{0:?} is not True or False")]
    Toggle(String),
    /// Neither yes nor no, nor left to the program.
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
    /// Yes or no.
    Bool,
    /// One of several names.
    Enum,
}

/// An option without its names.
pub(super) trait EngineOption {
    /// Returns the option without its names.
    fn shown(&self) -> ShownOption;
    /// Sets it from text.
    fn set(&mut self, text: &str) -> Result<(), OptionProblem>;
}

pub(super) trait NumberType: Copy + PartialOrd + Display + FromStr {
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

impl EngineOption for Toggle {
    fn shown(&self) -> ShownOption {
        let [value, default] = [self.value, self.default].map(|value| if value { "True" } else { "False" }.to_owned());
        ShownOption { name: "", hub_name: "", kind: Kind::Bool, value, default, allowed: vec![] }
    }

    fn set(&mut self, text: &str) -> Result<(), OptionProblem> {
        let named = [("true", true), ("false", false)].into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        self.value = named.ok_or_else(|| OptionProblem::Toggle(text.to_owned()))?.1;
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
