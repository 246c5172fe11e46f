//! The Universal Hive Protocol's strings of turns, states and whole games, and its [commands](command). Moves:
//! `shared::game::hive::text`.

pub mod command;

use std::fmt;
use std::str::FromStr;

use shared::game::hive::text::format_move;
use shared::game::hive::{GameType, GameTypeError, Hive, Move, Position};
use shared::game::{Game, MoveError, Outcome, Side};
use shared::quoted::Quoted;

/// A game's state as the protocol names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GameState {
    /// No ply was played.
    NotStarted,
    /// The game goes on.
    InProgress,
    /// Nobody won.
    Draw,
    /// White won.
    WhiteWins,
    /// Black won.
    BlackWins,
}

impl GameState {
    /// Returns the state of a position.
    #[must_use]
    pub fn of(hive: &Hive, position: &Position) -> Self {
        match hive.outcome(position) {
            None if position.ply() == 0 => Self::NotStarted,
            outcome => Self::from(outcome),
        }
    }

    /// Returns how the game ended, `None` while it goes on.
    #[must_use]
    pub const fn outcome(self) -> Option<Outcome> {
        match self {
            Self::NotStarted | Self::InProgress => None,
            Self::Draw => Some(Outcome::Draw),
            Self::WhiteWins => Some(Outcome::Win(Side::White)),
            Self::BlackWins => Some(Outcome::Win(Side::Black)),
        }
    }
}

impl From<Option<Outcome>> for GameState {
    /// Returns the state of a game with this outcome; one without goes on.
    fn from(outcome: Option<Outcome>) -> Self {
        match outcome {
            None => Self::InProgress,
            Some(Outcome::Draw) => Self::Draw,
            Some(Outcome::Win(Side::White)) => Self::WhiteWins,
            Some(Outcome::Win(Side::Black)) => Self::BlackWins,
        }
    }
}

impl fmt::Display for GameState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl FromStr for GameState {
    type Err = GameStringError;

    fn from_str(text: &str) -> Result<Self, GameStringError> {
        [Self::NotStarted, Self::InProgress, Self::Draw, Self::WhiteWins, Self::BlackWins]
            .into_iter()
            .find(|state| state.to_string().eq_ignore_ascii_case(text))
            .ok_or_else(|| GameStringError::State(text.to_owned()))
    }
}

/// Whose turn it is and the how-manieth of that side: `White[3]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Turn {
    /// The side to move.
    pub side: Side,
    /// Number of the turn, from 1.
    pub number: u32,
}

impl Turn {
    /// Returns the turn after `ply` plies.
    #[must_use]
    pub const fn after(ply: u32) -> Self {
        Self { side: if ply.is_multiple_of(2) { Side::White } else { Side::Black }, number: ply / 2 + 1 }
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[{}]", self.side, self.number)
    }
}

impl FromStr for Turn {
    type Err = GameStringError;

    fn from_str(text: &str) -> Result<Self, GameStringError> {
        let error = || GameStringError::Turn(text.to_owned());
        let (side, number) = text.strip_suffix(']').and_then(|text| text.split_once('[')).ok_or_else(error)?;
        let sides = [("White", Side::White), ("Black", Side::Black)];
        let named = sides.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(side));
        let (_, side) = named.ok_or_else(error)?;
        match number.parse() {
            Ok(number) if number > 0 => Ok(Self { side, number }),
            _ => Err(error()),
        }
    }
}

/// Why a text is not a GameString.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GameStringError {
    /// The first part names no game type.
    #[error(transparent)]
    GameType(#[from] GameTypeError),
    /// The second part names no state.
    #[error("game state {} is not NotStarted, InProgress, Draw, WhiteWins or BlackWins", Quoted(.0))]
    State(String),
    /// The third part names no turn.
    #[error("turn {} is not like White[1]", Quoted(.0))]
    Turn(String),
    /// A move is not one, or not legal.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// The game is of another type than the one it is replayed as.
    #[error("a game of {found} cannot be replayed as {expected}")]
    OtherType {
        /// Type that was expected.
        expected: GameType,
        /// Type that the text names.
        found: GameType,
    },
    /// The moves lead to another turn than the text tells.
    #[error("turn {claimed} is claimed after moves that lead to {found}")]
    OtherTurn {
        /// What the text says.
        claimed: Turn,
        /// What its moves say.
        found: Turn,
    },
}

/// A GameString taken apart: `GameType[;GameState;Turn[;move;...]]`. The moves are not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameString {
    /// Which expansions are in play.
    pub game_type: GameType,
    /// The state that is claimed.
    pub state: Option<GameState>,
    /// The turn that is claimed.
    pub turn: Option<Turn>,
    /// The moves as they were written.
    pub moves: Vec<String>,
}

impl FromStr for GameString {
    type Err = GameStringError;

    fn from_str(text: &str) -> Result<Self, GameStringError> {
        let mut parts = text.trim().trim_end_matches(';').split(';').map(str::trim);
        let game_type = parts.next().unwrap_or_default().parse()?;
        let state = parts.next().map(str::parse).transpose()?;
        let turn = parts.next().map(str::parse).transpose()?;
        Ok(Self { game_type, state, turn, moves: parts.map(str::to_owned).collect() })
    }
}

impl GameString {
    /// Plays the moves from the start. Returns the position and the moves.
    ///
    /// # Errors
    /// [`GameStringError`] for a game of another type, a move that is not legal, or another turn than the moves lead to.
    pub fn replay(&self, hive: &Hive) -> Result<(Position, Vec<Move>), GameStringError> {
        let (position, moves) = self.replay_moves(hive)?;
        self.check_turn(position.ply())?;
        Ok((position, moves))
    }

    /// Plays the moves from the start, whatever turn is claimed. Returns the position and the moves.
    ///
    /// # Errors
    /// [`GameStringError`] for a game of another type, or a move that is not legal.
    pub fn replay_moves(&self, hive: &Hive) -> Result<(Position, Vec<Move>), GameStringError> {
        let expected = hive.rules().game_type;
        if expected != self.game_type {
            return Err(GameStringError::OtherType { expected, found: self.game_type });
        }
        let mut position = hive.initial_position();
        let mut moves = Vec::with_capacity(self.moves.len());
        for text in &self.moves {
            let mv = hive.parse_move(&position, text)?;
            hive.play(&mut position, mv);
            moves.push(mv);
        }
        Ok((position, moves))
    }

    /// Checks that the turn that is claimed, if one is, comes after `ply` plies: else some moves are missing, or there
    /// are too many.
    ///
    /// # Errors
    /// [`GameStringError::OtherTurn`].
    pub fn check_turn(&self, ply: u32) -> Result<(), GameStringError> {
        let found = Turn::after(ply);
        match self.turn {
            Some(claimed) if claimed != found => Err(GameStringError::OtherTurn { claimed, found }),
            _ => Ok(()),
        }
    }
}

/// Returns the GameString of a game of legal moves.
#[must_use]
pub fn format_game(hive: &Hive, moves: &[Move]) -> String {
    let (texts, position) = format_moves(hive, moves);
    let state = GameState::of(hive, &position);
    join_game(hive.rules().game_type, state, position.ply(), &texts)
}

/// Returns the MoveStrings of a game of legal moves, and the position after them.
#[must_use]
pub fn format_moves(hive: &Hive, moves: &[Move]) -> (Vec<String>, Position) {
    let mut position = hive.initial_position();
    let format = |mv: &Move| {
        let text = format_move(&position, *mv);
        hive.play(&mut position, *mv);
        text
    };
    (moves.iter().map(format).collect(), position)
}

/// Writes a GameString of its parts: `texts` are the moves of a game of `ply` plies.
#[must_use]
pub fn join_game(game_type: GameType, state: GameState, ply: u32, texts: &[String]) -> String {
    let turn = Turn::after(ply);
    std::iter::once(format!("{game_type};{state};{turn}")).chain(texts.iter().cloned()).collect::<Vec<_>>().join(";")
}
