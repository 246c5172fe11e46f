//! Named strengths, 1 to 10: how each plays, in one table a game.
//!
//! They are levels of the ready network, so that a level means the same wherever it is played: in matches (`level:N`), in
//! the engines (`Level`, `level`) and in `alveare play`. How far apart they are was measured: `docs/matches.md`. Whoever
//! changes a row plays those matches again.

use std::fmt;
use std::str::FromStr;

use shared::search::SearchSettings;

/// Plies that a searching level varies, so that not every game is the same.
const VARIED_PLIES: u32 = 8;
/// Temperature of those plies.
const VARIED_TEMPERATURE: f32 = 0.5;

/// A strength, 1 (weakest) to 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StrengthLevel(u8);

/// A text that is not a level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a level from 1 to 10")]
pub struct StrengthLevelError(pub String);

/// How a level chooses its moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LevelPlay {
    /// By the priors of the network to the power of 1 / temperature, without a search.
    Policy {
        /// 0 = always the highest prior; the higher, the more random.
        temperature: f32,
    },
    /// By a search.
    Search {
        /// Simulations a move, visits kept from the move before included.
        simulation_count: u32,
    },
}

/// The levels of a game, the weakest first.
pub type LevelTable = [LevelPlay; StrengthLevel::COUNT as usize];

const fn policy(temperature: f32) -> LevelPlay {
    LevelPlay::Policy { temperature }
}

const fn search(simulation_count: u32) -> LevelPlay {
    LevelPlay::Search { simulation_count }
}

/// Hive.
pub const HIVE_LEVELS: LevelTable = [
    policy(2.0),
    policy(1.6),
    policy(1.25),
    policy(1.0),
    policy(0.75),
    policy(0.3),
    search(10),
    search(26),
    search(60),
    search(130),
];

/// Italian draughts.
pub const DAMA_LEVELS: LevelTable = [
    policy(1.1),
    policy(0.78),
    policy(0.5),
    policy(0.0),
    search(14),
    search(29),
    search(58),
    search(104),
    search(180),
    search(320),
];

impl StrengthLevel {
    /// How many levels there are.
    pub const COUNT: u8 = 10;

    /// Returns the level with this number, `None` unless it is 1 to 10.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= Self::COUNT { Some(Self(number)) } else { None }
    }

    /// Returns its number, 1 to 10.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns how it plays by the table of a game.
    #[must_use]
    pub const fn play(self, table: &LevelTable) -> LevelPlay {
        table[self.0 as usize - 1]
    }
}

impl fmt::Display for StrengthLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for StrengthLevel {
    type Err = StrengthLevelError;

    fn from_str(text: &str) -> Result<Self, StrengthLevelError> {
        text.parse().ok().and_then(Self::new).ok_or_else(|| StrengthLevelError(text.to_owned()))
    }
}

impl LevelPlay {
    /// Returns the search that it makes, with the exploration of the game; that of a policy evaluates the position alone.
    #[must_use]
    pub fn settings(self, exploration: f32) -> SearchSettings {
        let simulation_count = match self {
            Self::Policy { .. } => *SearchSettings::SIMULATION_COUNTS.start(),
            Self::Search { simulation_count } => simulation_count,
        };
        SearchSettings {
            exploration,
            temperature: VARIED_TEMPERATURE,
            temperature_plies: VARIED_PLIES,
            ..SearchSettings::default().for_match(simulation_count)
        }
    }
}

/// Returns the index of the move that a policy plays: `priors` to the power of 1 / `temperature`, drawn by `share`, 0 to
/// 1; at 0 the highest, of equals the first. `None` without moves.
#[must_use]
pub fn draw_by_prior(priors: &[f32], temperature: f32, share: f64) -> Option<usize> {
    let best = (0..priors.len()).reduce(|best, at| if priors[at] > priors[best] { at } else { best })?;
    let highest = f64::from(priors[best]);
    if temperature <= 0.0 || highest <= 0.0 {
        return Some(best);
    }
    let weight = |prior: &f32| (f64::from(*prior) / highest).powf(1.0 / f64::from(temperature));
    let mut rest = share * priors.iter().map(weight).sum::<f64>();
    let drawn = priors.iter().position(|prior| {
        rest -= weight(prior);
        rest < 0.0
    });
    drawn.or(Some(best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_and_have_settings_that_can_be() {
        for number in 1..=StrengthLevel::COUNT {
            let level: StrengthLevel = number.to_string().parse().unwrap();
            assert_eq!(level.number(), number);
            for table in [&HIVE_LEVELS, &DAMA_LEVELS] {
                assert_eq!(level.play(table).settings(1.0).check(), Ok(()));
            }
        }
        for text in ["0", "11", "-1", "strong", ""] {
            assert_eq!(text.parse::<StrengthLevel>(), Err(StrengthLevelError(text.to_owned())));
        }
        assert_eq!(StrengthLevelError("11".into()).to_string(), "\"11\" is not a level from 1 to 10");
    }

    #[test]
    fn a_higher_level_looks_further_or_draws_less_at_random() {
        let rank = |play: &LevelPlay| match *play {
            LevelPlay::Policy { temperature } => (0, -temperature),
            LevelPlay::Search { simulation_count } => (1, simulation_count as f32),
        };
        for table in [&HIVE_LEVELS, &DAMA_LEVELS] {
            assert!(table.is_sorted_by(|lower, higher| rank(lower) < rank(higher)));
        }
    }

    #[test]
    fn a_policy_draws_by_its_temperature() {
        let priors = [0.2, 0.6, 0.2];
        assert_eq!(draw_by_prior(&priors, 0.0, 0.99), Some(1));
        let drawn = |temperature| {
            let mut counts = [0; 3];
            (0..1000).for_each(|at| counts[draw_by_prior(&priors, temperature, f64::from(at) / 1000.0).unwrap()] += 1);
            counts
        };
        // The weights are 1 : 3 : 1, 1 : 9 : 1 and, nearly, 1 : 1 : 1.
        for (temperature, shares) in [(1.0, [200, 600, 200]), (0.5, [91, 818, 91]), (50.0, [331, 338, 331])] {
            let counts: [i32; 3] = drawn(temperature);
            let is_near = counts.iter().zip(shares).all(|(count, share)| (count - share).abs() <= 2);
            assert!(is_near, "{temperature}: {counts:?}");
        }
        assert_eq!(draw_by_prior(&[], 1.0, 0.5), None);
        assert_eq!(draw_by_prior(&[0.0, 0.0], 1.0, 0.5), Some(0));
    }
}
