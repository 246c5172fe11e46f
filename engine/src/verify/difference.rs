//! How a fact differs from the rules, or why a line is not a fact.

use std::fmt::Debug;

use notation::ReadError;
use notation::dama::pdn::PdnReason;
use notation::uhp::GameStringError;
use runtime::counted::counted;
use shared::game::MoveError;
use shared::game::dama::fen::FenError;
use shared::game::hive::GameTypeError;

/// Why a fact fails.
#[derive(Debug, thiserror::Error)]
pub enum Difference {
    /// The line is not JSON, or has fields of other types.
    #[error("not a line of facts: {0}")]
    NotFacts(serde_json::Error),
    /// The line claims nothing that can be checked.
    #[error("{0}")]
    Nothing(&'static str),
    /// More plies without a capture or a move of a man than the rules allow.
    #[error("quiet: {quiet} is above {limit}")]
    Quiet {
        /// What the line says.
        quiet: u32,
        /// The most that the rules allow.
        limit: u32,
    },
    /// Something has another value.
    #[error("{what}: {found}, expected {expected}")]
    Value {
        /// What was compared.
        what: String,
        /// What the rules say.
        found: String,
        /// What the line says.
        expected: String,
    },
    /// After so many plies there is another number of legal moves.
    #[error(
        "after {}: {}, expected {expected}",
        counted(*.ply, "ply", "plies"),
        counted(*.found, "legal move", "legal moves")
    )]
    MoveCount {
        /// Plies played.
        ply: usize,
        /// What the rules say.
        found: usize,
        /// What the line says; any JSON.
        expected: serde_json::Value,
    },
    /// Other moves are legal.
    #[error("legal moves: missing [{missing}], extra [{extra}]")]
    LegalMoves {
        /// Moves of the line that are not legal.
        missing: String,
        /// Legal moves that are not in the line.
        extra: String,
    },
    /// A move that should be legal is not.
    #[error("{0} is not legal")]
    NotLegal(String),
    /// A move that should not be legal is.
    #[error("{0} is legal")]
    Legal(String),
    /// The position is none.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// The kind of game is none.
    #[error(transparent)]
    GameType(#[from] GameTypeError),
    /// The game is none, or has a move that is not legal.
    #[error(transparent)]
    GameString(#[from] GameStringError),
    /// A move of a line of moves is not legal.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// A recorded game is none, or has a move that is not legal.
    #[error(transparent)]
    Game(#[from] ReadError),
    /// A record of a game is not one.
    #[error(transparent)]
    Record(#[from] PdnReason),
    /// A fact with a name fails.
    #[error("{id}: {difference}")]
    Named {
        /// Its name.
        id: String,
        /// How it fails.
        difference: Box<Difference>,
    },
}

impl Difference {
    /// Returns the difference of a fact that has a name, if it has one.
    pub fn named(self, id: Option<&str>) -> Self {
        match id {
            Some(id) => Self::Named { id: id.to_owned(), difference: Box::new(self) },
            None => self,
        }
    }
}

/// Compares two values.
///
/// # Errors
/// [`Difference::Value`] if they are not the same.
pub fn expect<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Result<(), Difference> {
    if found == expected {
        return Ok(());
    }
    let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
    Err(Difference::Value { what: what.to_owned(), found, expected })
}
