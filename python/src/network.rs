//! `alveare.Network`: a trained network, computed in this process.

use std::path::{Path, PathBuf};

use net::{Device, DeviceChoice, NetError, NetworkEvaluator, NetworkFile};
use networks::NetworkSource;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use shared::catalog::GameSpec;
use shared::precision::AnswerPrecision;

use crate::error::{evaluation_error, file_error, value_error};
use crate::played::{AnyNetwork, AnyPosition, NotebookGame, TypedGame, by_game};
use crate::rules::{Game, Position};

/// Positions that are computed together: more would take memory and no less time.
const BATCH_SIZE_MAX: usize = 256;

/// Moves with their priors.
type Priors = Vec<(String, f32)>;

/// A trained network of one of the games.
///
/// source is "ready" (the network that the package carries for game, by default that of Hive), a .safetensors file, a
/// folder of a training, or a run directory, which means its best network. device is "cpu" or "auto": the package has no
/// libraries for GPUs. threads is how many threads compute one batch, 0 for one on each core.
///
/// Raises OSError if the file cannot be read, ValueError if the network is of another game than game, RuntimeError for the
/// device "cuda:N".
#[pyclass(frozen, module = "alveare")]
pub struct Network {
    name: String,
    spec: GameSpec,
    threads: usize,
    any: AnyNetwork,
}

impl Network {
    /// Returns the network with its type.
    pub const fn any(&self) -> &AnyNetwork {
        &self.any
    }

    /// Returns the error for a position of another game.
    pub fn refusal(&self) -> PyErr {
        PyValueError::new_err(format!("network {}: plays {}, the position is of another game", self.name, self.spec))
    }

    /// Sets how many threads compute a batch of the calling thread.
    pub fn set_threads(&self) {
        net::set_threads(self.threads);
    }
}

#[pymethods]
impl Network {
    #[new]
    #[pyo3(signature = (source, *, game=None, device="cpu", threads=1))]
    fn new(
        py: Python<'_>,
        source: PathBuf,
        game: Option<&Bound<'_, PyAny>>,
        device: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let wanted = game.map_or_else(|| Game::named("hive"), Game::of)?;
        let choice: DeviceChoice = device.parse().map_err(value_error)?;
        let must_be_it = game.is_some();
        py.detach(|| open(&source, &wanted, must_be_it, choice, threads))
    }

    /// The game and the way to see it that the network was made for.
    #[getter]
    fn game(&self) -> PyResult<Game> {
        Game::of_spec(self.spec.clone())
    }

    /// Evaluates positions of its game, of any type, many at once.
    ///
    /// Returns for each position a prior for each legal move, whose sum is 1, and the value, -1 to 1 for the side to move.
    /// Raises ValueError for a position of another game.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        positions: Vec<Bound<'py, Position>>,
    ) -> PyResult<Vec<(Bound<'py, PyDict>, f32)>> {
        let positions: Vec<&AnyPosition> = positions.iter().map(|position| position.get().any()).collect();
        let evaluated = py.detach(|| by_game!(&self.any, network => self.evaluate_typed(network, &positions)))?;
        let answer = |(priors, value): (Priors, f32)| {
            let by_move = PyDict::new(py);
            priors.into_iter().try_for_each(|(mv, prior)| by_move.set_item(mv, prior))?;
            Ok((by_move, value))
        };
        evaluated.into_iter().map(answer).collect()
    }

    fn __repr__(&self) -> String {
        format!("<Network {} of {}>", self.name, self.spec)
    }
}

impl Network {
    fn evaluate_typed<G: NotebookGame>(
        &self,
        network: &NetworkEvaluator<G>,
        positions: &[&AnyPosition],
    ) -> PyResult<Vec<(Priors, f32)>> {
        self.set_threads();
        let mut network = network.clone();
        let mut evaluated = Vec::with_capacity(positions.len());
        for batch in positions.chunks(BATCH_SIZE_MAX) {
            let typed = batch.iter().map(|position| G::position_of(position).ok_or_else(|| self.refusal()));
            let with_moves = typed.map(|position| position.map(|position| (position, position.moves())));
            let batch = with_moves.collect::<PyResult<Vec<_>>>()?;
            let shown = batch.iter().map(|(at, moves)| (&at.game().game, at.position(), moves.as_slice()));
            let answers = network.evaluate_positions(shown).map_err(evaluation_error)?;
            let answers = answers.leaves(batch.iter().map(|(_, moves)| moves.len()));
            let named = batch.iter().zip(answers).map(|((position, moves), (priors, value))| {
                (position.texts(moves).into_iter().zip(priors.iter().copied()).collect(), value.get())
            });
            evaluated.extend(named);
        }
        Ok(evaluated)
    }
}

fn open(source: &Path, wanted: &Game, must_be_it: bool, choice: DeviceChoice, threads: usize) -> PyResult<Network> {
    let source = NetworkSource::from(source);
    let unavailable = |error: NetError| PyRuntimeError::new_err(error.to_string());
    let device = match choice {
        DeviceChoice::Cpu | DeviceChoice::Auto => Device::CPU,
        DeviceChoice::Cuda(_) => {
            let advice =
                "on a GPU a network of PyTorch can evaluate, called by a function that alveare.search is given";
            let refusal = format!("device {choice}: this package has no libraries for GPUs; {advice}");
            return Err(PyRuntimeError::new_err(refusal));
        }
    };
    let bytes = source.read(wanted.spec()).map_err(file_error)?;
    let file = NetworkFile::from_bytes(source.to_string(), bytes).map_err(file_error)?;
    let spec = file.spec().map_err(file_error)?.game;
    let game = Game::of_spec(spec.clone())?;
    if must_be_it && wanted.spec().name() != spec.name() {
        let refusal = format!("network {source}: plays {spec}, this wants {}", wanted.spec());
        return Err(PyValueError::new_err(refusal));
    }
    let any = by_game!(game.any(), game => open_typed(game, &file, device)).map_err(unavailable)?;
    Ok(Network { name: source.to_string(), spec, threads, any })
}

fn open_typed<G: NotebookGame>(_: &TypedGame<G>, file: &NetworkFile, device: Device) -> Result<AnyNetwork, NetError> {
    NetworkEvaluator::open(file, device, AnswerPrecision::Auto).map(G::any_network)
}
