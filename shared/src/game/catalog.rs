//! The one place where a game is chosen: everything else is generic over [`Encoding`].

use serde::{Deserialize, Serialize};

use super::tictactoe::TicTacToe;
use crate::encoding::Encoding;
use crate::encoding::tictactoe::TicTacToeEncoding;

/// Which game is played, by which rules, and how it is shown to the network. The learner sends it to its workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
pub enum GameSpec {
    /// Tic-tac-toe, the smallest example.
    TicTacToe {},
}

/// Work to be done for whichever game is chosen.
pub trait GameVisitor {
    /// What the work returns.
    type Output;
    /// Does the work for the game that `encoding` shows.
    fn visit<E: Encoding>(self, encoding: E) -> Self::Output;
}

/// Why a game cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GameSpecError {
    /// The frame is outside what the encoding allows.
    #[error("game.frame: {0} is not in 8..=32")]
    Frame(u8),
    /// A game cannot end before it starts.
    #[error("game.ply_limit: {0} is below 1")]
    PlyLimit(u32),
}

impl GameSpec {
    /// Checks the numbers of the specification.
    ///
    /// # Errors
    /// [`GameSpecError`] naming the first key that is impossible.
    pub fn check(&self) -> Result<(), GameSpecError> {
        match self {
            _ => Ok(()),
        }
    }

    /// Does the visitor's work for this game.
    ///
    /// # Errors
    /// [`GameSpecError`] if the specification is impossible.
    pub fn visit<V: GameVisitor>(&self, visitor: V) -> Result<V::Output, GameSpecError> {
        self.check()?;
        Ok(match self {
            Self::TicTacToe {} => visitor.visit(TicTacToeEncoding::new(TicTacToe)),
        })
    }
}
