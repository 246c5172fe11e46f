//! Why a record in PDN is not a game.

use shared::game::MoveError;
use shared::game::dama::fen::FenError;

/// The number of Italian draughts among the game types of PDN.
pub(super) const GAME_TYPE: &str = "22";

/// Why a record is not a game.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct PdnError {
    /// Where it is wrong, from 1.
    pub line: u32,
    /// What is wrong.
    pub reason: PdnReason,
}

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PdnReason {
    /// A comment, tag or variation has no end.
    #[error("{0} without an end")]
    Unclosed(&'static str),
    /// It is a game of another kind.
    #[error("game type {0:?} is not {GAME_TYPE}, Italian draughts")]
    GameType(String),
    /// The position that the game starts from is none.
    #[error("tag FEN: {0}")]
    Fen(FenError),
    /// A move is not legal, or not a move.
    #[error(transparent)]
    Move(MoveError),
    /// Two results stand at the end of a game.
    #[error("two results, {0} and {1}")]
    TwoResults(&'static str, &'static str),
    /// The result at the end of the game is not that of its tag.
    #[error("the tag Result says {tag}, the game ends with {found}")]
    OtherTag {
        /// The result in the tag.
        tag: &'static str,
        /// The result at the end.
        found: &'static str,
    },
    /// The tag has a result, and nothing stands at the end of the game.
    #[error("the tag Result says {tag}, the moves end without a result")]
    NoEnd {
        /// The result in the tag.
        tag: &'static str,
    },
    /// The last position is won by another side than the record says.
    #[error("the result is {stated}, but the last position is {found}")]
    OtherOutcome {
        /// What the record says.
        stated: &'static str,
        /// What the rules say.
        found: &'static str,
    },
}
