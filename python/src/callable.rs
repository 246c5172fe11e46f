//! A function of Python that evaluates the leaves of a search.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use shared::game::Value;
use shared::search::{EvaluationError, Evaluator, LeafId, LeafSource};

use crate::played::{NotebookGame, TypedGame, TypedPosition};
use crate::rules::Position;

/// Evaluates leaves by calling Python with a list of positions.
pub struct CallableEvaluator<G: NotebookGame> {
    callable: Py<PyAny>,
    game: TypedGame<G>,
    /// What the function raised, or what is wrong with its answer.
    error: Option<PyErr>,
}

impl<G: NotebookGame> CallableEvaluator<G> {
    /// Makes an evaluator of positions of `game`.
    pub const fn new(callable: Py<PyAny>, game: TypedGame<G>) -> Self {
        Self { callable, game, error: None }
    }

    /// Takes the exception with which the evaluation ended.
    pub fn take_error(&mut self) -> Option<PyErr> {
        self.error.take()
    }

    /// Returns priors in the order of the legal moves, and the value, for each position.
    fn ask(&self, py: Python<'_>, positions: Vec<TypedPosition<G>>) -> PyResult<Vec<(Vec<f32>, Value)>> {
        let shown = positions.iter().map(|position| Position::new(G::any_position(position.clone())));
        let answers = self.callable.bind(py).call1((PyList::new(py, wrapped(py, shown)?)?,))?;
        let answers: Vec<(Bound<'_, PyAny>, f32)> = answers.extract()?;
        if answers.len() != positions.len() {
            let text = format!("the evaluator answered {} positions of {}", answers.len(), positions.len());
            return Err(PyValueError::new_err(text));
        }
        positions.iter().zip(answers).map(|(position, (priors, value))| answer(position, &priors, value)).collect()
    }
}

impl<G: NotebookGame> Evaluator<G> for CallableEvaluator<G> {
    fn evaluate(&mut self, source: &mut dyn LeafSource<G>, leaves: &[LeafId]) -> Result<(), EvaluationError> {
        let position = |leaf: &LeafId| self.game.without_history(source.leaf_position(*leaf).clone());
        let positions = leaves.iter().map(position).collect();
        let answers = Python::attach(|py| self.ask(py, positions)).map_err(|error| {
            self.error = Some(error);
            EvaluationError::InvalidAnswer("the evaluator raised an exception".to_owned())
        })?;
        for (leaf, (priors, value)) in leaves.iter().zip(answers) {
            source.expand(*leaf, &priors, value);
        }
        Ok(())
    }
}

fn wrapped<'py>(py: Python<'py>, positions: impl Iterator<Item = Position>) -> PyResult<Vec<Bound<'py, Position>>> {
    positions.map(|position| Bound::new(py, position)).collect()
}

/// Checks the answer to one position.
fn answer<G: NotebookGame>(
    position: &TypedPosition<G>,
    priors: &Bound<'_, PyAny>,
    value: f32,
) -> PyResult<(Vec<f32>, Value)> {
    let texts = position.texts(&position.moves());
    let priors = match priors.cast::<PyDict>() {
        Ok(by_move) => ordered(&texts, by_move)?,
        Err(_) => priors.extract::<Vec<f32>>()?,
    };
    let is_distribution =
        priors.iter().all(|prior| prior.is_finite() && *prior >= 0.0) && priors.iter().sum::<f32>() > 0.0;
    let refuse = |what: String| Err(PyValueError::new_err(format!("the evaluator answered {what}")));
    if priors.len() != texts.len() {
        return refuse(format!("{} priors for {} legal moves", priors.len(), texts.len()));
    }
    if !is_distribution {
        return refuse("priors that are not numbers of at least 0 with a sum above 0".to_owned());
    }
    if !(-1.0..=1.0).contains(&value) {
        return refuse(format!("the value {value}, which is not in -1..=1"));
    }
    Ok((priors, Value::new(value)))
}

/// Returns the priors of a dictionary in the order of the moves; a move that is not in it has the prior 0.
fn ordered(texts: &[String], by_move: &Bound<'_, PyDict>) -> PyResult<Vec<f32>> {
    let mut found_count = 0;
    let mut priors = Vec::with_capacity(texts.len());
    for text in texts {
        let prior = by_move.get_item(text)?;
        found_count += usize::from(prior.is_some());
        priors.push(prior.map_or(Ok(0.0), |prior| prior.extract())?);
    }
    if found_count < by_move.len() {
        return Err(PyValueError::new_err("the evaluator answered priors of moves that are not legal"));
    }
    Ok(priors)
}
