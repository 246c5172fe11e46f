//! The Universal Hive Protocol's strings: moves, turns, states and whole games.
//!
//! The commands of the protocol live in the engine. Which of several texts for one move is written follows
//! `docs/hive-rules.md`; every text that names a legal move is read.

use std::fmt;
use std::str::FromStr;

use crate::game::hive::{Cell, Direction, GameType, GameTypeError, Hive, Move, Piece, PieceKind, Position};
use crate::game::{Game, MOVE_TEXT_BYTES_MAX, MoveError, Outcome, Side};

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
            .find(|state| state.to_string() == text)
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
        let side = match side {
            "White" => Side::White,
            "Black" => Side::Black,
            _ => return Err(error()),
        };
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
    #[error("game state {0:?} is not NotStarted, InProgress, Draw, WhiteWins or BlackWins")]
    State(String),
    /// The third part names no turn.
    #[error("turn {0:?} is not like White[1]")]
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
        self.check_turn(position.ply())?;
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

/// Returns a legal move as a MoveString: `wS1`, `bA1 wS1-`, `pass`.
#[must_use]
pub fn format_move(position: &Position, mv: Move) -> String {
    let Some(piece) = mv.piece() else { return "pass".to_owned() };
    if position.ply() == 0 {
        return piece.to_string();
    }
    if let Some(top) = position.top(mv.target()) {
        return format!("{piece} {top}");
    }
    let reference = Direction::ALL
        .into_iter()
        .filter_map(|direction| {
            let neighbour = mv.target().neighbour(direction.opposite());
            let top = position.top(neighbour)?;
            let reference = if top == piece { position.under(piece)? } else { top };
            Some((reference, direction))
        })
        .min_by_key(|(reference, _)| tile_number(*reference));
    let Some((reference, direction)) = reference else { return piece.to_string() };
    let (before, after) = marks(direction);
    format!("{piece} {before}{reference}{after}")
}

/// Reads a MoveString that is legal in `position`.
///
/// A placement may name any number that is in hand: records count equal pieces in any order.
///
/// # Errors
/// [`MoveError`] if the text is not a move or the move is not legal.
pub fn parse_move(hive: &Hive, position: &Position, text: &str) -> Result<Move, MoveError> {
    let ply = position.ply();
    let shown = || text.chars().take(MOVE_TEXT_BYTES_MAX).collect::<String>();
    if hive.outcome(position).is_some() {
        return Err(MoveError::GameOver { text: shown(), ply });
    }
    let mv = read_move(position, text).map_err(|reason| MoveError::Unreadable { text: shown(), reason })?;
    let mut legal = Vec::new();
    hive.legal_moves(position, &mut legal);
    if legal.contains(&lowest_in_hand(position, mv)) { Ok(mv) } else { Err(MoveError::Illegal { text: shown(), ply }) }
}

/// Returns the move that the rules list for `mv`: equal pieces enter by their numbers, records number them in any order.
#[must_use]
pub fn lowest_in_hand(position: &Position, mv: Move) -> Move {
    let Some(piece) = mv.piece() else { return mv };
    if position.is_on_board(piece) || !position.is_in_play(piece) {
        return mv;
    }
    let lowest = position.pieces_in_hand(piece.side()).find(|other| other.kind() == piece.kind());
    Move::new(lowest.unwrap_or(piece), mv.target())
}

pub(super) fn read_move(position: &Position, text: &str) -> Result<Move, String> {
    if text.len() > MOVE_TEXT_BYTES_MAX {
        return Err(format!("longer than {MOVE_TEXT_BYTES_MAX} bytes"));
    }
    let mut words = text.split_whitespace();
    let first = words.next().ok_or("empty")?;
    let second = words.next();
    if words.next().is_some() {
        return Err("more than two words".to_owned());
    }
    if first.eq_ignore_ascii_case("pass") && second.is_none() {
        return Ok(Move::PASS);
    }
    let piece: Piece = first.parse()?;
    match second {
        Some(place) => Ok(Move::new(piece, read_place(position, place)?)),
        None if position.ply() == 0 => Ok(Move::new(piece, Cell::ORIGIN)),
        None => Err("only the first piece of a game needs no reference piece".to_owned()),
    }
}

/// Reads `bQ-`, `\wA1`, `wS2`: a cell told by a piece on the board.
fn read_place(position: &Position, text: &str) -> Result<Cell, String> {
    let direction = Direction::ALL.into_iter().find_map(|direction| {
        let (before, after) = marks(direction);
        let name = text.strip_prefix(before)?.strip_suffix(after)?;
        // Every text ends and starts with nothing: one of the two is the mark.
        Some((direction, name))
    });
    let (direction, name) = direction.map_or((None, text), |(direction, name)| (Some(direction), name));
    let reference: Piece = name.parse()?;
    let cell = position.cell_of(reference).ok_or_else(|| format!("{reference} is not on the board"))?;
    let Some(direction) = direction else { return Ok(cell) };
    let target = cell.neighbour(direction);
    match position.top(target) {
        Some(top) => Err(format!("{text} is occupied: a climb there is written {top}")),
        None => Ok(target),
    }
}

/// What is written before and after the reference piece, for a piece that lies in `direction` from it.
const fn marks(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::NorthEast => ("", "/"),
        Direction::East => ("", "-"),
        Direction::SouthEast => ("", "\\"),
        Direction::SouthWest => ("/", ""),
        Direction::West => ("-", ""),
        Direction::NorthWest => ("\\", ""),
    }
}

/// The order in which reference pieces are preferred: Q A G S B M L P by number, White's before Black's.
fn tile_number(piece: Piece) -> (Side, usize, u8) {
    use PieceKind::{Ant, Beetle, Grasshopper, Ladybug, Mosquito, Pillbug, Queen, Spider};
    let order = [Queen, Ant, Grasshopper, Spider, Beetle, Mosquito, Ladybug, Pillbug];
    let rank = order.iter().position(|kind| *kind == piece.kind()).unwrap_or(order.len());
    (piece.side(), rank, piece.number())
}
