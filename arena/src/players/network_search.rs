//! How a network of a match searches: read from what stands behind the `@` of a player, and named in tables.

use std::fmt;
use std::ops::RangeInclusive;

use shared::precision::{AnswerPrecision, AnswerPrecisionError};
use shared::search::{RootSelection, SIMULATION_COUNT_MAX, SearchSettings};

use super::spec::PlayerDefaults;

/// The key of the exploration constant, which may stand without it.
const EXPLORATION: &str = "exploration";
/// Largest exploration constant.
const EXPLORATION_MAX: f32 = *SearchSettings::EXPLORATIONS.end();

/// The search of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkSearch {
    /// Simulations a move, 2..=100,000,000.
    pub simulation_count: u32,
    /// Exploration constant of PUCT, 0 to 1000.
    pub exploration: f32,
    /// The priors are taken to the power of 1 / this, 0.1 to 10.
    pub policy_temperature: f32,
    /// How far below its parent an unvisited move is valued, 0 to 2.
    pub first_play_urgency_reduction: f32,
    /// How the root shares out the simulations.
    pub root: RootSelection,
    /// In which numbers the network answers; `None`: as all networks of the match.
    pub precision: Option<AnswerPrecision>,
    /// Logits that a value weighs at a Gumbel root for each visit (c_scale), 0 to 1000.
    pub gumbel_value_scale: f32,
}

/// Why a text does not say how a network searches.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NetworkSearchError {
    /// Not a possible number of simulations.
    #[error("{count:?} is not a number of simulations from {least} to {SIMULATION_COUNT_MAX}")]
    Simulations {
        /// What was read.
        count: String,
        /// The fewest that make a move.
        least: u32,
    },
    /// Not a possible exploration constant.
    #[error(transparent)]
    Exploration(#[from] ExplorationError),
    /// There is no such key.
    #[error(
        "there is no {0:?}; write exploration, policy_temperature, first_play_urgency_reduction, root, \
         gumbel_value_scale or precision"
    )]
    Key(String),
    /// A key stands there twice, or is the exploration constant that stands there without a key too.
    #[error("{0} is named twice")]
    Twice(String),
    /// Not a way to share out the simulations of a root.
    #[error("root: {0:?} is neither puct nor gumbel")]
    Root(String),
    /// Not numbers in which a network can answer.
    #[error("precision: {0}")]
    Precision(#[from] AnswerPrecisionError),
    /// Not a possible value of its key.
    #[error("{key}: {value:?} is not a number from {} to {}", .range.start(), .range.end())]
    Value {
        /// The key.
        key: String,
        /// What was read.
        value: String,
        /// What is possible.
        range: RangeInclusive<f32>,
    },
}

/// A text is not an exploration constant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an exploration constant from 0 to {EXPLORATION_MAX}")]
pub struct ExplorationError(String);

impl NetworkSearch {
    /// Returns the usual search with so many simulations a move, and this exploration constant.
    #[must_use]
    pub fn new(simulation_count: u32, exploration: f32) -> Self {
        let usual = SearchSettings::default();
        Self {
            simulation_count,
            exploration,
            policy_temperature: usual.policy_temperature,
            first_play_urgency_reduction: usual.first_play_urgency_reduction,
            root: usual.root,
            precision: None,
            gumbel_value_scale: usual.gumbel_value_scale,
        }
    }

    /// Returns the search of a player that says nothing about it.
    pub(super) fn usual(defaults: &PlayerDefaults) -> Self {
        Self::new(defaults.simulation_count, defaults.exploration)
    }

    /// Reads `N`, `N,C` or `N,KEY=VALUE,...` (C the exploration constant); what it does not say is as in `defaults`.
    ///
    /// # Errors
    /// [`NetworkSearchError`] saying which part is wrong.
    pub(super) fn parse(text: &str, defaults: &PlayerDefaults) -> Result<Self, NetworkSearchError> {
        let mut parts = text.split(',');
        let simulation_count =
            read_simulations(parts.next().unwrap_or_default(), *SearchSettings::SIMULATION_COUNTS.start())?;
        let mut search = Self { simulation_count, ..Self::usual(defaults) };
        let mut keys = vec![];
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((EXPLORATION, part));
            if keys.contains(&key) {
                return Err(NetworkSearchError::Twice(key.to_owned()));
            }
            keys.push(key);
            search.set(key, value)?;
        }
        Ok(search)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), NetworkSearchError> {
        let (place, range) = match key {
            "root" => {
                self.root = read_root(value)?;
                return Ok(());
            }
            EXPLORATION => {
                self.exploration = read_exploration(value)?;
                return Ok(());
            }
            "precision" => {
                self.precision = Some(value.parse()?);
                return Ok(());
            }
            "policy_temperature" => (&mut self.policy_temperature, SearchSettings::POLICY_TEMPERATURES),
            "first_play_urgency_reduction" => {
                (&mut self.first_play_urgency_reduction, SearchSettings::URGENCY_REDUCTIONS)
            }
            "gumbel_value_scale" => (&mut self.gumbel_value_scale, SearchSettings::GUMBEL_VALUE_SCALES),
            _ => return Err(NetworkSearchError::Key(key.to_owned())),
        };
        let number = value.parse().ok().filter(|number| range.contains(number));
        *place = number.ok_or_else(|| NetworkSearchError::Value { key: key.into(), value: value.into(), range })?;
        Ok(())
    }

    /// Returns the settings of the search: no noise, always the most visited move.
    #[must_use]
    pub fn settings(&self) -> SearchSettings {
        SearchSettings {
            exploration: self.exploration,
            policy_temperature: self.policy_temperature,
            first_play_urgency_reduction: self.first_play_urgency_reduction,
            root: self.root,
            gumbel_value_scale: self.gumbel_value_scale,
            ..SearchSettings::default().for_match(self.simulation_count)
        }
    }
}

/// As it stands in a player's name: `100`, `100,1.25`, `100,policy_temperature=1.5`.
impl fmt::Display for NetworkSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What names leave out, whatever the game: names in ladders keep their meaning.
        let unnamed = Self::new(self.simulation_count, SearchSettings::default().exploration);
        write!(f, "{}", self.simulation_count)?;
        if self.exploration != unnamed.exploration {
            write!(f, ",{}", self.exploration)?;
        }
        if self.policy_temperature != unnamed.policy_temperature {
            write!(f, ",policy_temperature={}", self.policy_temperature)?;
        }
        if self.first_play_urgency_reduction != unnamed.first_play_urgency_reduction {
            write!(f, ",first_play_urgency_reduction={}", self.first_play_urgency_reduction)?;
        }
        if self.root == RootSelection::Gumbel {
            f.write_str(",root=gumbel")?;
        }
        if self.gumbel_value_scale != unnamed.gumbel_value_scale {
            write!(f, ",gumbel_value_scale={}", self.gumbel_value_scale)?;
        }
        if let Some(precision) = self.precision {
            write!(f, ",precision={precision}")?;
        }
        Ok(())
    }
}

fn read_root(text: &str) -> Result<RootSelection, NetworkSearchError> {
    match text {
        "puct" => Ok(RootSelection::Puct),
        "gumbel" => Ok(RootSelection::Gumbel),
        _ => Err(NetworkSearchError::Root(text.to_owned())),
    }
}

/// Reads a number of simulations, `least` to 100,000,000.
///
/// # Errors
/// [`NetworkSearchError::Simulations`] if the text is not a number in that range.
pub(super) fn read_simulations(text: &str, least: u32) -> Result<u32, NetworkSearchError> {
    let number = text.parse().ok().filter(|number| (least..=SIMULATION_COUNT_MAX).contains(number));
    number.ok_or_else(|| NetworkSearchError::Simulations { count: text.into(), least })
}

/// Reads an exploration constant, 0 to 1000.
///
/// # Errors
/// [`ExplorationError`] if the text is not a number in that range.
pub fn read_exploration(text: &str) -> Result<f32, ExplorationError> {
    let number = text.parse().ok().filter(|number| (0.0..=EXPLORATION_MAX).contains(number));
    number.ok_or_else(|| ExplorationError(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULTS: PlayerDefaults = PlayerDefaults { simulation_count: 400, exploration: 1.0, limit: None };

    fn named(text: &str) -> Result<String, NetworkSearchError> {
        NetworkSearch::parse(text, &DEFAULTS).map(|search| search.to_string())
    }

    #[test]
    fn keys_may_stand_in_any_order() {
        let search = NetworkSearch::parse("100,policy_temperature=1.5,exploration=2", &DEFAULTS).unwrap();
        let settings = search.settings();
        assert_eq!((settings.simulation_count, settings.exploration, settings.policy_temperature), (100, 2.0, 1.5));
        assert_eq!(search.to_string(), "100,2,policy_temperature=1.5");
        assert_eq!(NetworkSearch::parse(&search.to_string(), &DEFAULTS).unwrap(), search, "a name is read again");
    }

    #[test]
    fn the_root_can_be_gumbels() {
        let search = NetworkSearch::parse("16,root=gumbel,gumbel_value_scale=0.5", &DEFAULTS).unwrap();
        let settings = search.settings();
        assert_eq!((settings.root, settings.gumbel_value_scale), (RootSelection::Gumbel, 0.5));
        assert_eq!(search.to_string(), "16,1,root=gumbel,gumbel_value_scale=0.5");
        assert_eq!(named("16,root=puct").unwrap(), "16,1");
    }

    #[test]
    fn a_player_may_say_in_which_numbers_its_network_answers() {
        let search = NetworkSearch::parse("100,precision=int8", &DEFAULTS).unwrap();
        assert_eq!(search.precision, Some(AnswerPrecision::Int8));
        assert_eq!(search.to_string(), "100,1,precision=int8", "another player than without");
        assert_eq!(NetworkSearch::parse("100", &DEFAULTS).unwrap().precision, None);
    }

    #[test]
    fn what_is_not_said_is_the_default() {
        assert_eq!(named("100").unwrap(), "100,1", "names leave 2.5 out, not the default");
        assert_eq!(named("100,2.5,first_play_urgency_reduction=0.5").unwrap(), "100,first_play_urgency_reduction=0.5");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text| named(text).unwrap_err().to_string();
        assert_eq!(error("1"), "\"1\" is not a number of simulations from 2 to 100000000");
        assert_eq!(error("100,x"), "\"x\" is not an exploration constant from 0 to 1000");
        assert_eq!(
            error("100,fpu=1"),
            "there is no \"fpu\"; write exploration, policy_temperature, first_play_urgency_reduction, root, \
             gumbel_value_scale or precision"
        );
        assert_eq!(
            error("100,precision=half"),
            "precision: \"half\" is not one of auto, float32, bfloat16, float16 and int8"
        );
        assert_eq!(error("100,exploration=1,exploration=2"), "exploration is named twice");
        assert_eq!(error("100,1,exploration=2"), "exploration is named twice");
        assert_eq!(error("100,1,2"), "exploration is named twice");
        assert_eq!(error("100,root=puct,precision=int8,root=puct"), "root is named twice");
        assert_eq!(error("100,root=ucb"), "root: \"ucb\" is neither puct nor gumbel");
        assert_eq!(error("100,policy_temperature=0"), "policy_temperature: \"0\" is not a number from 0.1 to 10");
        assert_eq!(error("100,policy_temperature=NaN"), "policy_temperature: \"NaN\" is not a number from 0.1 to 10");
    }
}
