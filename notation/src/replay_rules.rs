//! The rules that a GameString does not tell: whether a third occurrence is a draw, and whether a queen may open.

use std::fmt;
use std::str::FromStr;

use shared::game::hive::{Hive, HiveRules, PieceKind, Position};
use shared::game::{Game, Outcome};

use crate::uhp::GameString;

/// Whether a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RuleChoice {
    /// As in tournaments, unless the game was played otherwise.
    #[default]
    Auto,
    /// It holds.
    On,
    /// It does not hold.
    Off,
}

/// A text that names no choice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not auto, True or False")]
pub struct RuleChoiceError(pub String);

impl RuleChoice {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Auto, Self::On, Self::Off];

    /// Returns the choice in a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::On => "True",
            Self::Off => "False",
        }
    }
}

impl fmt::Display for RuleChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for RuleChoice {
    type Err = RuleChoiceError;

    /// Reads `auto`, `true` or `false`, whatever the case.
    fn from_str(text: &str) -> Result<Self, RuleChoiceError> {
        let named = Self::ALL.into_iter().find(|choice| choice.name().eq_ignore_ascii_case(text));
        named.ok_or_else(|| RuleChoiceError(text.to_owned()))
    }
}

/// By which rules a game is replayed and goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ReplayRules {
    /// The third occurrence of a position is a draw; by itself yes, unless the game went on past one.
    pub repetition_draw: RuleChoice,
    /// A queen may be a side's first piece; by itself no, unless one was.
    pub queen_first: RuleChoice,
    /// A position counts as another one if another piece rests; by itself no.
    pub rest_counts: bool,
}

impl ReplayRules {
    /// Returns Hive by the rules that fit a game, without a limit of plies. Whether its moves are legal is not told.
    #[must_use]
    pub fn hive(self, game: &GameString) -> Hive {
        let counting = HiveRules {
            game_type: game.game_type,
            ply_limit: u32::MAX,
            repetition_draw: true,
            queen_first_allowed: self.queen_first != RuleChoice::Off,
            rest_counts: self.rest_counts,
        };
        let played = Played::of(game, counting);
        let chosen = |choice, automatic| match choice {
            RuleChoice::Auto => automatic,
            RuleChoice::On => true,
            RuleChoice::Off => false,
        };
        Hive::new(HiveRules {
            repetition_draw: chosen(self.repetition_draw, !played.goes_past_a_repetition),
            queen_first_allowed: chosen(self.queen_first, played.opens_with_a_queen),
            ..counting
        })
    }
}

/// How a game was played.
#[derive(Debug, Clone, Copy, Default)]
struct Played {
    opens_with_a_queen: bool,
    goes_past_a_repetition: bool,
}

impl Played {
    /// Plays the moves as far as they are legal.
    fn of(game: &GameString, counting: HiveRules) -> Self {
        let counter = Hive::new(counting);
        let judge = Hive::new(HiveRules { repetition_draw: false, ..counting });
        let is_repeated =
            |position: &Position| counter.outcome(position) == Some(Outcome::Draw) && judge.outcome(position).is_none();
        let (mut position, mut played) = (judge.initial_position(), Self::default());
        for text in &game.moves {
            let Ok(mv) = judge.parse_move(&position, text) else { break };
            let is_queen = mv.piece().is_some_and(|piece| piece.kind() == PieceKind::Queen);
            played.opens_with_a_queen |= is_queen && position.ply() < 2;
            played.goes_past_a_repetition |= is_repeated(&position);
            counter.play(&mut position, mv);
        }
        played
    }
}
