//! `alveare.search`: a tree search by PUCT, with a network, a function of Python, or neither.

use std::time::{Duration, Instant};

use net::NetworkEvaluator;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use shared::catalog::NetworkGame;
use shared::game::Game;
use shared::search::{
    Evaluator, Proof, RootSelection, Search, SearchPreset, SearchSettings, UniformEvaluator, select_leaves,
};

use crate::callable::CallableEvaluator;
use crate::error::{evaluation_error, value_error};
use crate::network::Network;
use crate::played::{NotebookGame, TypedPosition, by_game};
use crate::rules::Position;

/// How often a search looks whether Ctrl-C was pressed.
const SIGNAL_TIME: Duration = Duration::from_millis(100);

/// What a search knows of a position. Values are those of the side to move there, -1 to 1.
///
/// The dictionaries have the legal moves in the order of the search: proven wins first, proven losses last, the others by
/// visits and prior.
#[pyclass(frozen, module = "alveare")]
pub struct SearchResult {
    /// The move to play: the most visited one, unless temperature chose another.
    #[pyo3(get)]
    best_move: String,
    /// What the position is worth: the proven value, else the mean of the simulations.
    #[pyo3(get)]
    value: f32,
    /// "win", "draw" or "loss" if the result is proven, else None.
    #[pyo3(get)]
    proof: Option<&'static str>,
    /// Simulations made: fewer than asked for if the result was proven before.
    #[pyo3(get)]
    simulations: u32,
    /// The best play for both sides as far as the tree knows it.
    #[pyo3(get)]
    principal_variation: Vec<String>,
    moves: Vec<FoundMove>,
    policy: Vec<(String, f32)>,
}

/// What is known of a legal move.
struct FoundMove {
    text: String,
    prior: f32,
    visit_count: u32,
    value: Option<f32>,
}

#[pymethods]
impl SearchResult {
    /// Simulations through each move.
    #[getter]
    fn visits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.moves.iter().map(|found| (&found.text, found.visit_count)))
    }

    /// Prior of each move, after noise.
    #[getter]
    fn priors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.moves.iter().map(|found| (&found.text, found.prior)))
    }

    /// Mean value of the simulations through each move; None without any.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.moves.iter().map(|found| (&found.text, found.value)))
    }

    /// Share of each move that a network would learn; the sum is 1.
    #[getter]
    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.policy.iter().map(|(text, share)| (text, share)))
    }

    fn __repr__(&self) -> String {
        format!("<SearchResult {}: value {:+.3}, {} simulations>", self.best_move, self.value, self.simulations)
    }
}

fn dict<'py, 'a, V: IntoPyObject<'py>>(
    py: Python<'py>,
    mut entries: impl Iterator<Item = (&'a String, V)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    entries.try_for_each(|(text, value)| dict.set_item(text, value))?;
    Ok(dict)
}

/// Searches a position.
///
/// network is a Network, None (equal priors, and a draw as the value of every position), or a function that is called with
/// a list of positions and returns for each its priors, by move or in the order of legal_moves, and its value for the side
/// to move, -1 to 1. Positions inside a search do not know the moves that led to them.
///
/// simulations counts those through the position, at least 2. exploration is c_puct: by default 1.25 for Hive and 1 for
/// draughts, 2.5 without a network. policy_temperature takes all priors to the power of 1 / it. With dirichlet_alpha above
/// 0, noise makes up dirichlet_weight of the priors of the position. temperature above 0 draws the best move by the visits.
/// root="gumbel" shares the simulations out as Gumbel AlphaZero does. batch_size leaves are evaluated at once. The same
/// seed gives the same result.
///
/// Raises ValueError for a finished game, a network of another game, a setting out of range, and for answers of the
/// function that do not fit the positions; what the function raises is passed on. A search with a network or none lets other threads of Python run.
#[pyfunction]
#[pyo3(signature = (
    position, network=None, *, simulations=800, exploration=None, policy_temperature=1.0, dirichlet_alpha=0.0,
    dirichlet_weight=0.25, temperature=0.0, root="puct", batch_size=8, seed=0
))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn search(
    py: Python<'_>,
    position: &Bound<'_, Position>,
    network: Option<&Bound<'_, PyAny>>,
    simulations: u32,
    exploration: Option<f32>,
    policy_temperature: f32,
    dirichlet_alpha: f32,
    dirichlet_weight: f32,
    temperature: f32,
    root: &str,
    batch_size: u32,
    seed: u64,
) -> PyResult<SearchResult> {
    let root: RootSelection = serde_json::from_value(root.into()).map_err(value_error)?;
    let settings = SearchSettings {
        policy_temperature,
        dirichlet_alpha,
        dirichlet_weight,
        temperature,
        temperature_after: temperature,
        root,
        leaves_per_game: batch_size,
        ..SearchPreset::AlphaZero.settings(simulations)
    };
    by_game!(position.get().any(), typed => search_typed(py, typed, network, exploration, settings, seed))
}

fn search_typed<G: NotebookGame>(
    py: Python<'_>,
    position: &TypedPosition<G>,
    network: Option<&Bound<'_, PyAny>>,
    exploration: Option<f32>,
    settings: SearchSettings,
    seed: u64,
) -> PyResult<SearchResult> {
    let usual = if network.is_some() { <G as NetworkGame>::EXPLORATION } else { settings.exploration };
    let settings = SearchSettings { exploration: exploration.unwrap_or(usual), ..settings };
    let game = position.game().game.clone();
    let mut search = Search::new(game, position.position().clone(), settings, seed).map_err(value_error)?;
    let Some(network) = network else {
        py.detach(|| run(&mut search, &mut UniformEvaluator::default()))?;
        return Ok(result(position, search));
    };
    if let Ok(network) = network.cast::<Network>() {
        let network = network.get();
        let typed: &NetworkEvaluator<G> = G::network_of(network.any()).ok_or_else(|| network.refusal())?;
        py.detach(|| {
            network.set_threads();
            run(&mut search, &mut typed.clone())
        })?;
    } else {
        let mut evaluator = CallableEvaluator::new(network.clone().unbind(), position.game().clone());
        let ended = py.detach(|| run(&mut search, &mut evaluator));
        evaluator.take_error().map_or(ended, Err)?;
    }
    Ok(result(position, search))
}

/// Runs the search until it is done.
///
/// # Errors
/// Those of the evaluator; what Python raises at Ctrl-C.
fn run<G: Game>(search: &mut Search<G>, evaluator: &mut dyn Evaluator<G>) -> PyResult<()> {
    let batch_size = search.settings().leaves_per_game.min(evaluator.batch_size_max());
    let mut leaves = vec![];
    let mut looked_at = Instant::now();
    while !search.is_done() {
        select_leaves(search, batch_size, &mut leaves);
        if leaves.is_empty() {
            break;
        }
        evaluator.evaluate(search, &leaves).map_err(evaluation_error)?;
        if looked_at.elapsed() >= SIGNAL_TIME {
            Python::attach(|py| py.check_signals())?;
            looked_at = Instant::now();
        }
    }
    Ok(())
}

fn result<G: NotebookGame>(position: &TypedPosition<G>, mut search: Search<G>) -> SearchResult {
    let reports = search.move_reports();
    let texts = position.texts(&reports.iter().map(|report| report.mv).collect::<Vec<_>>());
    let moves = reports.iter().zip(texts).map(|(report, text)| FoundMove {
        text,
        prior: report.prior,
        visit_count: report.visit_count,
        value: report.value.map(|value| value.get()),
    });
    let moves = moves.collect();
    let shares = search.improved_policy().unwrap_or_else(|| {
        let visits = search.visit_counts();
        let sum = visits.iter().map(|(_, count)| *count).sum::<u32>().max(1) as f32;
        visits.into_iter().map(|(mv, count)| (mv, count as f32 / sum)).collect()
    });
    let (shared_moves, shares): (Vec<_>, Vec<f32>) = shares.into_iter().unzip();
    SearchResult {
        best_move: position.texts(&[search.choose_move()]).swap_remove(0),
        value: search.root_value().get(),
        proof: match search.proof() {
            Proof::Win => Some("win"),
            Proof::Draw => Some("draw"),
            Proof::Loss => Some("loss"),
            Proof::Unknown => None,
        },
        simulations: search.simulation_count(),
        principal_variation: position.line(&search.principal_variation()),
        moves,
        policy: position.texts(&shared_moves).into_iter().zip(shares).collect(),
    }
}
