//! `alveare.Game`: which game is played, and how networks are shown it.

use pyo3::prelude::*;
use serde_json::{Map, Value};
use shared::catalog::GameSpec;
use shared::encoding::{Encoding, PlaneShape};
use shared::game::hive::GameType;

use super::Position;
use crate::error::value_error;
use crate::played::{AnyGame, NotebookGame, by_game};

/// Which game is played, and how networks are shown it.
///
/// Game("hive") is Hive with all expansions; type="Base" or "Base+" and some of M, L, P leaves some out. Game("dama") is
/// Italian draughts. A game is cut off as a draw after ply_limit plies, by default 200 and 300. frame is the side of the
/// square of cells of Hive that networks see, 8 to 32; policy is how moves of draughts are numbered, "lossless" or
/// "from4". A network was made for one of these.
///
/// Raises ValueError for an unknown game or a number out of range.
#[pyclass(frozen, eq, module = "alveare", skip_from_py_object)]
#[derive(Clone)]
pub struct Game {
    spec: GameSpec,
    any: AnyGame,
}

impl PartialEq for Game {
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
    }
}

impl Game {
    /// Returns the game that is specified.
    ///
    /// # Errors
    /// `ValueError` for a game without networks.
    pub fn of_spec(spec: GameSpec) -> PyResult<Self> {
        let any = AnyGame::new(&spec).map_err(value_error)?;
        Ok(Self { spec, any })
    }

    /// Returns the game of this name with what is usual.
    ///
    /// # Errors
    /// `ValueError` if there is none.
    pub fn named(name: &str) -> PyResult<Self> {
        Self::new(name, None, None, None, None)
    }

    /// Returns the game that Python hands over, or names.
    ///
    /// # Errors
    /// `TypeError` if it is neither, `ValueError` if there is no such game.
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        match given.cast::<Self>() {
            Ok(game) => Ok(game.get().clone()),
            Err(_) => Self::named(&given.extract::<String>()?),
        }
    }

    /// Returns the game of a position.
    pub fn of_any(any: AnyGame) -> Self {
        Self { spec: by_game!(&any, game => game.spec()), any }
    }

    /// Returns the game with its type.
    pub const fn any(&self) -> &AnyGame {
        &self.any
    }

    /// Returns the specification.
    pub const fn spec(&self) -> &GameSpec {
        &self.spec
    }

    /// Returns the shape of the planes.
    pub fn shape(&self) -> PlaneShape {
        by_game!(&self.any, game => game.encoding().plane_shape())
    }
}

#[pymethods]
impl Game {
    #[new]
    #[pyo3(signature = (name, *, r#type=None, frame=None, policy=None, ply_limit=None))]
    fn new(
        name: &str,
        r#type: Option<&str>,
        frame: Option<u8>,
        policy: Option<&str>,
        ply_limit: Option<u32>,
    ) -> PyResult<Self> {
        let all = GameType::MLP.to_string();
        let usual_type = (name == "hive").then_some(all.as_str());
        let entries = [
            ("name", Some(Value::from(name))),
            ("game_type", r#type.or(usual_type).map(Value::from)),
            ("frame", frame.map(Value::from)),
            ("policy", policy.map(Value::from)),
            ("ply_limit", ply_limit.map(Value::from)),
        ];
        let written: Map<String, Value> =
            entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        Self::of_spec(serde_json::from_value(Value::Object(written)).map_err(value_error)?)
    }

    /// "hive" or "dama".
    #[getter]
    fn name(&self) -> &'static str {
        self.spec.name()
    }

    /// The UHP game type of Hive, such as "Base+MLP"; "dama" for draughts.
    #[getter]
    fn r#type(&self) -> String {
        self.spec.type_name()
    }

    /// Shape of the planes of a position: planes, rows, columns.
    #[getter]
    fn plane_shape(&self) -> (usize, usize, usize) {
        let PlaneShape { planes, rows, columns } = self.shape();
        (planes, rows, columns)
    }

    /// Number of policy indices.
    #[getter]
    fn policy_size(&self) -> usize {
        by_game!(&self.any, game => game.encoding().policy_size())
    }

    /// Returns the position that text tells, by default the initial one, after moves are played from there.
    ///
    /// Hive is told as a UHP GameString ("Base;InProgress;White[2];wS1;bS1 wS1-"), draughts as a FEN
    /// ("W:W21,K7,30:BK3,12,14"). Raises ValueError for a text that is no position, and for moves that are not legal.
    #[pyo3(signature = (text=None, moves=None))]
    fn new_position(&self, text: Option<&str>, moves: Option<Vec<String>>) -> PyResult<Position> {
        let moves = moves.unwrap_or_default();
        by_game!(&self.any, game => {
            Ok(Position::new(NotebookGame::any_position(game.position(text, &moves).map_err(value_error)?)))
        })
    }

    /// The game as settings write it, JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.spec).map_err(value_error)
    }

    /// Returns the game that to_json wrote. Raises ValueError if the text is none.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Self::of_spec(serde_json::from_str(text).map_err(value_error)?)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.spec.to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> PyResult<String> {
        let Value::Object(written) = serde_json::to_value(&self.spec).map_err(value_error)? else {
            return Ok(self.spec.to_string());
        };
        let shown = ["game_type", "frame", "policy", "ply_limit"];
        let arguments = shown.iter().filter_map(|key| {
            let key_shown = if *key == "game_type" { "type" } else { key };
            written.get(*key).map(|value| format!(", {key_shown}={value}"))
        });
        Ok(format!("Game(\"{}\"{})", self.spec.name(), arguments.collect::<String>()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.to_json()?,)))
    }
}
