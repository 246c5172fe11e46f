//! `alveare.Position`: a position, its moves, and how a network is shown it.

use numpy::{IntoPyArray, PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use shared::encoding::PlaneShape;
use shared::game::{Game as _, Outcome, Side};

use super::Game;
use crate::error::value_error;
use crate::played::{AnyPosition, ByGame, NoHistoryError, NotebookGame, by_game};

/// A position. It never changes: play returns another one, so positions can be keys and be shared.
///
/// Two positions are equal if neither the rules nor a network can tell them apart, however they came about.
#[pyclass(frozen, module = "alveare")]
pub struct Position {
    any: AnyPosition,
}

impl Position {
    /// Returns the position as Python sees it.
    pub const fn new(any: AnyPosition) -> Self {
        Self { any }
    }

    /// Returns the position with its type.
    pub const fn any(&self) -> &AnyPosition {
        &self.any
    }
}

#[pymethods]
impl Position {
    /// The game.
    #[getter]
    fn game(&self) -> Game {
        by_game!(&self.any, position => Game::of_any(NotebookGame::any_game(position.game().clone())))
    }

    /// The legal moves as text, in an order that never changes: UHP MoveStrings ("wA1 wS1-"), or squares of draughts
    /// ("22-18", "22x15"). Empty once the game is over.
    fn legal_moves(&self) -> Vec<String> {
        by_game!(&self.any, position => position.texts(&position.moves()))
    }

    /// Returns the position after a move. Raises ValueError if it is not legal.
    fn play(&self, r#move: &str) -> PyResult<Self> {
        by_game!(&self.any, position => {
            Ok(Self::new(NotebookGame::any_position(position.play(r#move).map_err(value_error)?)))
        })
    }

    /// "white" or "black": whose move is next.
    #[getter]
    fn side_to_move(&self) -> &'static str {
        match by_game!(&self.any, position => position.game().game.side_to_move(position.position())) {
            Side::White => "white",
            Side::Black => "black",
        }
    }

    /// How the game ended for White: 1 won, 0 drawn, -1 lost; None while it goes on.
    #[getter]
    fn result(&self) -> Option<i8> {
        by_game!(&self.any, position => position.outcome()).map(|outcome| match outcome {
            Outcome::Win(Side::White) => 1,
            Outcome::Draw => 0,
            Outcome::Win(Side::Black) => -1,
        })
    }

    /// Whether the game ended at the ply limit: a draw that says nothing about the players.
    #[getter]
    fn is_cut_off(&self) -> bool {
        by_game!(&self.any, position => position.game().game.is_cut_off(position.position()))
    }

    /// Plies since the start of the game.
    #[getter]
    fn ply(&self) -> u32 {
        by_game!(&self.any, position => position.game().game.ply(position.position()))
    }

    /// The moves since start; None if they are not known, as in samples and inside a search.
    #[getter]
    fn moves(&self) -> Option<Vec<String>> {
        by_game!(&self.any, position => position.history()).map(|(_, moves)| moves)
    }

    /// The text of the position that the game began from; None for the initial one, or if it is not known.
    #[getter]
    fn start(&self) -> Option<String> {
        by_game!(&self.any, position => position.history()).and_then(|(start, _)| start)
    }

    /// The position as Game.new_position reads it: a GameString of Hive, which holds the whole game, a FEN of draughts.
    ///
    /// Raises ValueError for Hive if the moves are not known.
    #[getter]
    fn text(&self) -> PyResult<String> {
        by_game!(&self.any, position => position.text()).map_err(value_error)
    }

    /// Returns the planes that a network is shown, float32 [planes, rows, columns], from the side to move.
    fn planes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let PlaneShape { planes, rows, columns } = self.game().shape();
        by_game!(&self.any, position => position.planes()).into_pyarray(py).reshape([planes, rows, columns])
    }

    /// Returns the policy index of a legal move. Raises ValueError if the move is not legal.
    fn policy_index(&self, r#move: &str) -> PyResult<u16> {
        by_game!(&self.any, position => {
            let mv = position.game().game.parse_move(position.position(), r#move).map_err(value_error)?;
            Ok(position.policy_indices(&[mv])[0])
        })
    }

    /// Returns the policy indices of all legal moves, uint16, in the order of legal_moves.
    fn policy_indices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        by_game!(&self.any, position => position.policy_indices(&position.moves())).into_pyarray(py)
    }

    fn __str__(&self) -> String {
        by_game!(&self.any, position => position.game().game.draw(position.position()))
    }

    fn __repr__(&self) -> String {
        match by_game!(&self.any, position => position.text()) {
            Ok(text) => format!("<Position {text}>"),
            Err(NoHistoryError) => format!("<Position of {} at ply {}>", self.game().spec(), self.ply()),
        }
    }

    fn __hash__(&self) -> u64 {
        by_game!(&self.any, position => position.hash())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        match (&self.any, &other.get().any) {
            (ByGame::Hive(one), ByGame::Hive(other)) => one.is_equal(other),
            (ByGame::Dama(one), ByGame::Dama(other)) => one.is_equal(other),
            (ByGame::Hive(_), ByGame::Dama(_)) | (ByGame::Dama(_), ByGame::Hive(_)) => false,
        }
    }

    #[expect(clippy::type_complexity, reason = "what pickle wants: a callable and its arguments")]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Option<String>, Vec<String>))> {
        let (start, moves) =
            by_game!(&self.any, position => position.history()).ok_or_else(|| value_error(NoHistoryError))?;
        Ok((Bound::new(py, self.game())?.getattr("new_position")?, (start, moves)))
    }
}
