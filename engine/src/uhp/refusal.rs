//! Why a command is not carried out: one line that the protocol understands. Nothing has changed then.

use notation::uhp::GameStringError;
use notation::uhp::command::CommandError;
use runtime::counted::counted;
use shared::game::MoveError;
use shared::quoted::Quoted;

use crate::options::{OptionError, OptionProblem};
use runtime::lines::LineError;

/// Longest line of a refusal, in letters.
const LINE_LEN_MAX: usize = 240;

/// Why a command is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not a move, or not legal here.
    #[error("invalidmove {0}")]
    InvalidMove(MoveError),
    /// What came in is no line of text.
    #[error("err {0}")]
    Line(#[from] LineError),
    /// The line is not a command.
    #[error("err {0}")]
    Command(#[from] CommandError),
    /// There is no game yet.
    #[error("err no game; try newgame")]
    NoGame,
    /// The game is over.
    #[error("err the game is over; try newgame or undo")]
    GameOver,
    /// Not a GameString.
    #[error("err {0}")]
    Game(#[from] GameStringError),
    /// So many plies were not played.
    #[error("err cannot take back {wanted} of {}", counted(*.played, "ply", "plies"))]
    Undo {
        /// Plies to take back.
        wanted: usize,
        /// Plies played.
        played: usize,
    },
    /// There is no such option.
    #[error("err unknown option {}; try options", Quoted(.0))]
    UnknownOption(String),
    /// The option cannot have this value.
    #[error("err option {name}: {problem}")]
    OptionValue {
        /// The option.
        name: &'static str,
        /// What is wrong with the value.
        problem: OptionProblem,
    },
    /// The network did not answer.
    #[error("err search failed: {0}")]
    Search(String),
}

impl From<OptionError> for Refusal {
    fn from(error: OptionError) -> Self {
        match error {
            OptionError::Unknown(name) => Self::UnknownOption(name),
            OptionError::Value { name, problem } => Self::OptionValue { name, problem },
        }
    }
}

impl Refusal {
    /// Returns the refusal as one short line, whatever its texts hold.
    pub fn line(&self) -> String {
        let text = self.to_string();
        let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LINE_LEN_MAX).collect();
        if line.len() < text.len() {
            line.push_str("...");
        }
        line
    }
}
