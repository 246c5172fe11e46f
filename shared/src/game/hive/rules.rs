//! Which Hive is played: expansions, and the rules that are a setting.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::PieceKind;
use crate::quoted::Quoted;

/// Which expansions are in play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GameType {
    /// Each side has a mosquito.
    pub mosquito: bool,
    /// Each side has a ladybug.
    pub ladybug: bool,
    /// Each side has a pillbug.
    pub pillbug: bool,
}

/// A text that is not a UHP game type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("game type {} is not Base, or Base+ and some of M, L, P", Quoted(.0))]
pub struct GameTypeError(pub String);

impl GameType {
    /// All three expansions.
    pub const MLP: Self = Self { mosquito: true, ladybug: true, pillbug: true };

    /// Returns whether pieces of this kind are in play.
    #[must_use]
    pub const fn has(self, kind: PieceKind) -> bool {
        match kind {
            PieceKind::Mosquito => self.mosquito,
            PieceKind::Ladybug => self.ladybug,
            PieceKind::Pillbug => self.pillbug,
            _ => true,
        }
    }

    /// Returns whether all that is in play in `other` is in play here too: a network of this type can be shown its
    /// positions.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        (self.mosquito || !other.mosquito) && (self.ladybug || !other.ladybug) && (self.pillbug || !other.pillbug)
    }

    /// Returns the type without the expansion that `kind` is; `None` if it is no expansion, or not in play.
    #[must_use]
    pub const fn without(self, kind: PieceKind) -> Option<Self> {
        match kind {
            PieceKind::Mosquito if self.mosquito => Some(Self { mosquito: false, ..self }),
            PieceKind::Ladybug if self.ladybug => Some(Self { ladybug: false, ..self }),
            PieceKind::Pillbug if self.pillbug => Some(Self { pillbug: false, ..self }),
            _ => None,
        }
    }
}

impl fmt::Display for GameType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Base")?;
        let expansions = [(self.mosquito, "M"), (self.ladybug, "L"), (self.pillbug, "P")];
        if expansions.iter().any(|(is_in, _)| *is_in) {
            f.write_str("+")?;
        }
        expansions.iter().filter(|(is_in, _)| *is_in).try_for_each(|(_, letter)| f.write_str(letter))
    }
}

impl FromStr for GameType {
    type Err = GameTypeError;

    fn from_str(text: &str) -> Result<Self, GameTypeError> {
        let error = || GameTypeError(text.to_owned());
        let mut game_type = Self::default();
        let Some(expansions) = text.strip_prefix("Base+") else {
            return if text == "Base" { Ok(game_type) } else { Err(error()) };
        };
        for letter in expansions.chars() {
            let is_in = match letter {
                'M' => &mut game_type.mosquito,
                'L' => &mut game_type.ladybug,
                'P' => &mut game_type.pillbug,
                _ => return Err(error()),
            };
            if std::mem::replace(is_in, true) {
                return Err(error());
            }
        }
        if expansions.is_empty() { Err(error()) } else { Ok(game_type) }
    }
}

impl TryFrom<String> for GameType {
    type Error = GameTypeError;

    fn try_from(text: String) -> Result<Self, GameTypeError> {
        text.parse()
    }
}

impl From<GameType> for String {
    fn from(game_type: GameType) -> Self {
        game_type.to_string()
    }
}

/// The rules of one kind of Hive game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HiveRules {
    /// Which expansions are in play.
    pub game_type: GameType,
    /// Plies after which the game is a draw; `u32::MAX` for none.
    pub ply_limit: u32,
    /// The third occurrence of a position is a draw.
    pub repetition_draw: bool,
    /// The queen may be a side's first piece (old records; tournament rules forbid it).
    pub queen_first_allowed: bool,
    /// A position counts as another one if another piece rests, the one that may not be moved or thrown next: as some
    /// sites count repetitions. For play and replay alone: networks, games and messages do not say it, so it is off in all
    /// of them.
    #[serde(skip)]
    pub rest_counts: bool,
}

impl Default for HiveRules {
    fn default() -> Self {
        Self {
            game_type: GameType::MLP,
            ply_limit: 200,
            repetition_draw: true,
            queen_first_allowed: false,
            rest_counts: false,
        }
    }
}
