//! The rules of a board game as the search, the learner and the actors see them.
//!
//! One contract, [`Game`], and the vocabulary every game shares: [`Side`], [`Outcome`], [`Value`].
//! Which games exist is known to [`crate::catalog`] alone.

pub mod dama;
mod heuristic;
pub mod hive;
mod repetitions;
pub mod tictactoe;
mod value;

use std::fmt::Debug;

use crate::quoted::Quoted;
use crate::seed::mix_seed;

pub use heuristic::Heuristic;
pub use value::{Outcome, Side, Value};

/// Longest text of a move in bytes, in notation, records and messages: no game writes a longer one, none reads it.
pub const MOVE_TEXT_BYTES_MAX: usize = 64;

/// The rules of one board game. Pure: no clock, no I/O, no hidden randomness.
///
/// Laws, checked by [`crate::conformance::check_game`] for every game:
/// - a position without an outcome has at least one legal move;
/// - equal positions give equal moves in equal order;
/// - a move differs from every other by its [`MoveNumber`];
/// - the text of a move takes at most [`MOVE_TEXT_BYTES_MAX`];
/// - the hash after a play equals the hash of the same position built afresh.
///
/// ```
/// use shared::game::tictactoe::TicTacToe;
/// use shared::game::{Game, Outcome, Side};
///
/// let game = TicTacToe;
/// let mut position = game.initial_position();
/// for text in ["b2", "a1", "b3", "a2", "b1"] {
///     let mv = game.parse_move(&position, text)?;
///     game.play(&mut position, mv);
/// }
/// assert_eq!(game.outcome(&position), Some(Outcome::Win(Side::White)));
///
/// // A finished game has no legal moves.
/// let mut moves = vec![];
/// game.legal_moves(&position, &mut moves);
/// assert!(moves.is_empty());
/// # Ok::<(), shared::game::MoveError>(())
/// ```
pub trait Game: Clone + Send + Sync + 'static {
    /// Everything the rules need to go on: pieces, side to move, history.
    ///
    /// `clone_from` must reuse the memory of its target: the search copies a position per simulation.
    type Position: Clone + Send + Sync + 'static;
    /// What one player does in one ply, at most 8 bytes. A pass is a move, a capture chain is one move.
    type Move: Copy + Eq + Debug + MoveNumber + Send + Sync + 'static;

    /// Returns the position a game starts from.
    fn initial_position(&self) -> Self::Position;
    /// Returns a random endgame to begin a game from, as [`Self::parse_start`] reads it: it goes on, nothing can be taken
    /// at once, and no side is far ahead. The same seed gives the same endgame. `None` if the game has no such starts.
    fn random_endgame(&self, _seed: u64) -> Option<String> {
        None
    }
    /// Reads a position from which a game may begin instead of the initial one; it has no outcome.
    ///
    /// # Errors
    /// [`StartError`] if the text is no such position. Never panics.
    fn parse_start(&self, text: &str) -> Result<Self::Position, StartError> {
        Err(StartError::new(text, "this game begins from its initial position alone"))
    }
    /// Returns the position that a game begins from: the initial one, unless `start` tells another.
    ///
    /// # Errors
    /// As [`Self::parse_start`].
    fn start_position(&self, start: Option<&str>) -> Result<Self::Position, StartError> {
        start.map_or_else(|| Ok(self.initial_position()), |text| self.parse_start(text))
    }
    /// Appends every legal move to `moves`, in an order that never changes. Appends nothing once the game has an outcome.
    fn legal_moves(&self, position: &Self::Position, moves: &mut Vec<Self::Move>);
    /// Returns the move at `share` / 2^32 of the list of legal moves, so a random one for a random `share`; `None` once
    /// the game has an outcome. `scratch` is memory to work in.
    fn choose_move(&self, position: &Self::Position, share: u32, scratch: &mut Vec<Self::Move>) -> Option<Self::Move> {
        scratch.clear();
        self.legal_moves(position, scratch);
        scratch.get(index_at(share, scratch.len())).copied()
    }
    /// Plays `mv`, which must be legal in `position`.
    fn play(&self, position: &mut Self::Position, mv: Self::Move);
    /// Returns the result, or `None` while the game goes on. O(1), repetition and ply limit included.
    fn outcome(&self, position: &Self::Position) -> Option<Outcome>;
    /// Returns the side whose ply is next.
    fn side_to_move(&self, position: &Self::Position) -> Side;
    /// Returns the number of plies played since the start of the game. Where a game begins from another position than
    /// the initial one with Black to move, it counts from 1.
    fn ply(&self, position: &Self::Position) -> u32;
    /// Returns the hash by which repetitions are found: equal for positions that the rules call the same.
    fn hash(&self, position: &Self::Position) -> u64;
    /// Returns the hash by which an evaluation is found again: of the position as [`Self::hash`] has it, and of whatever
    /// else the rules count, such as plies to a limit and repetitions. How the position came about is not in it.
    fn evaluation_hash(&self, position: &Self::Position) -> u64 {
        mix_seed(self.hash(position), self.ply(position).into())
    }
    /// Returns whether the game was cut off at the ply limit (a draw that says nothing about the players).
    fn is_cut_off(&self, position: &Self::Position) -> bool;

    /// Returns the move as people write it, for logs, stores and the wire.
    fn format_move(&self, position: &Self::Position, mv: Self::Move) -> String;
    /// Reads a move that is legal in `position`; any notation that names a legal move is taken.
    ///
    /// # Errors
    /// [`MoveError`] if the text is not a move or the move is not legal. Never panics.
    fn parse_move(&self, position: &Self::Position, text: &str) -> Result<Self::Move, MoveError>;
}

/// Returns the index at `share` / 2^32 of a list: below `length` by one multiplication. For a random `share` each index
/// is as likely as any other but for a bias of `length` / 2^32.
#[inline]
pub(crate) const fn index_at(share: u32, length: usize) -> usize {
    ((share as u64 * length as u64) >> 32) as usize
}

/// Why a text is not a position that a game may begin from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("start position {text:?}: {reason}")]
pub struct StartError {
    text: String,
    reason: String,
}

impl StartError {
    /// Characters of a text that are shown.
    const SHOWN_COUNT_MAX: usize = 120;

    /// Says what is wrong with a text.
    #[must_use]
    pub fn new(text: &str, reason: impl Into<String>) -> Self {
        Self { text: text.chars().take(Self::SHOWN_COUNT_MAX).collect(), reason: reason.into() }
    }
}

/// A move as a number that means the same in every position: how a tree on which several threads work keeps it.
pub trait MoveNumber: Sized {
    /// Returns the number of the move.
    fn number(self) -> u16;
    /// Returns the move with this number. For a number that no move has it may be any move.
    fn of_number(number: u16) -> Self;
}

/// Why a text is not a legal move.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// The text cannot be read as a move of this game.
    #[error("cannot read move {}: {reason}", Quoted(text))]
    Unreadable {
        /// What was read.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The text is a move, but not a legal one here.
    #[error("illegal move {} at ply {ply}", Quoted(text))]
    Illegal {
        /// What was read.
        text: String,
        /// Plies played before it.
        ply: u32,
    },
    /// The game has an outcome already.
    #[error("move {} after the end of the game at ply {ply}", Quoted(text))]
    GameOver {
        /// What was read.
        text: String,
        /// Plies played before it.
        ply: u32,
    },
}
