//! `alveare.read_samples`: positions to learn from as arrays of numpy, named as in the tensors of `learner export`.

use std::path::{Path, PathBuf};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray4, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use samples::dataset::{DataSet, is_data_set};
use samples::human_games::{GameTypes, ReadSettings, encoding_of, read_games, samples_of};
use shared::catalog::NetworkGame;
use shared::encoding::{Encoding, PlaneShape, Symmetry, TrainingBatch};
use shared::game::hive::Hive;
use shared::record::Sample;
use shared::record::batch::{SampleError, SampleScratch, StoredSample, push_sample};
use shared::seed::mix_seed;

use crate::error::{file_error, value_error};
use crate::played::{NotebookGame, TypedGame, by_game};
use crate::rules::{Game, Position};

/// Positions to learn from, packed: arrays are made of those that are asked for.
#[pyclass(frozen, module = "alveare")]
pub struct Samples {
    game: Game,
    samples: Vec<Sample>,
    /// The game of each sample, from 0.
    games: Vec<i32>,
}

/// Samples as arrays: B positions with M legal moves together.
#[pyclass(frozen, get_all, module = "alveare")]
pub struct SampleBatch {
    /// Input planes, float32 [B, planes, rows, columns], from the side to move.
    planes: Py<PyArray4<f32>>,
    /// How each game ended for the side to move, float32 [B]: 1 won, 0 drawn, -1 lost.
    value_targets: Py<PyArray1<f32>>,
    /// Value of the position after its search, for the side to move, float32 [B]; not a number where there was no search.
    search_values: Py<PyArray1<f32>>,
    /// The legal moves of position i are those from move_starts[i] up to, not including, move_starts[i + 1]: int32 [B + 1].
    move_starts: Py<PyArray1<i32>>,
    /// Policy index of each legal move, int32 [M].
    policy_indices: Py<PyArray1<i32>>,
    /// Share of each legal move, float32 [M]; sums to 1 for each position.
    policy_targets: Py<PyArray1<f32>>,
    /// The game of each position, int32 [B], from 0.
    games: Py<PyArray1<i32>>,
    /// Number of policy indices.
    policy_size: usize,
}

/// Reads positions to learn from.
///
/// path is a data set (learner export --dataset, alveare selfplay --out), which says its game itself, or, for Hive, human
/// games: GameStrings, PGN, SGF of BoardSpace, tables, archives, or a folder of them. game, by default Hive with all
/// expansions, is what those are read as: games of types with more expansions, and without a result, are left out.
///
/// Warns of what is damaged or cannot be read. Raises OSError if the file cannot be read, ValueError if nothing is in it.
#[pyfunction]
#[pyo3(signature = (path, *, game=None))]
pub fn read_samples(py: Python<'_>, path: PathBuf, game: Option<&Bound<'_, PyAny>>) -> PyResult<Samples> {
    let wanted = game.map(Game::of).transpose()?;
    let (samples, warning) =
        py.detach(|| if is_data_set(&path) { read_data_set(&path) } else { read_human_games(&path, wanted.as_ref()) })?;
    if let Some(warning) = warning {
        py.import("warnings")?.call_method1("warn", (warning, py.get_type::<PyUserWarning>()))?;
    }
    if let Some(wanted) = wanted
        && wanted.spec().name() != samples.game.spec().name()
    {
        let text = format!("{}: samples of {}, not of {}", path.display(), samples.game.spec(), wanted.spec());
        return Err(PyValueError::new_err(text));
    }
    Ok(samples)
}

type Read = (Samples, Option<String>);

fn read_data_set(path: &Path) -> PyResult<Read> {
    let mut data = DataSet::open(path).map_err(file_error)?;
    let mut samples = Samples { game: Game::of_spec(data.spec().clone())?, samples: vec![], games: vec![] };
    let mut number = 0;
    while let Some(games) = data.next_games().map_err(file_error)? {
        for game in games {
            samples.push(number, game.samples);
            number += 1;
        }
    }
    Ok((samples, data.loss()))
}

fn read_human_games(path: &Path, wanted: Option<&Game>) -> PyResult<Read> {
    let usual = Game::named("hive")?;
    let spec = wanted.unwrap_or(&usual).spec();
    let encoding = encoding_of(spec).map_err(value_error)?;
    let read = read_games(&[path.to_owned()], ReadSettings::default()).map_err(file_error)?;
    let own = encoding.game().rules().game_type;
    let frame = Hive::view_of(spec).unwrap_or(Hive::USUAL_VIEW);
    let game = Game::of_spec(encoding.game().spec(frame))?;
    let mut samples = Samples { game, samples: vec![], games: vec![] };
    for (number, game) in (0..).zip(&read.games) {
        let outcome = game.outcome.filter(|_| GameTypes::All.takes(own, game.rules.game_type));
        if let Some(outcome) = outcome {
            samples.push(number, samples_of(&encoding, game, outcome).samples);
        }
    }
    let dropped =
        read.dropped.first().map(|first| format!("{} games or texts were dropped; {first}", read.dropped.len()));
    if samples.samples.is_empty() {
        let reason =
            dropped.unwrap_or_else(|| format!("{} games, none with a result and of this type", read.games.len()));
        return Err(PyValueError::new_err(format!("{}: no positions to learn from: {reason}", path.display())));
    }
    Ok((samples, dropped))
}

impl Samples {
    fn push(&mut self, game: i32, samples: Vec<Sample>) {
        self.games.extend(std::iter::repeat_n(game, samples.len()));
        self.samples.extend(samples);
    }

    fn at(&self, number: usize) -> PyResult<&Sample> {
        let missing = || PyIndexError::new_err(format!("sample {number} of {}", self.samples.len()));
        self.samples.get(number).ok_or_else(missing)
    }
}

#[pymethods]
impl Samples {
    /// The game, and how its positions are shown.
    #[getter]
    fn game(&self) -> Game {
        self.game.clone()
    }

    fn __len__(&self) -> usize {
        self.samples.len()
    }

    /// Returns the position of a sample. The moves that led to it are not known.
    fn position(&self, number: usize) -> PyResult<Position> {
        let sample = self.at(number)?;
        by_game!(self.game.any(), game => {
            Ok(Position::new(NotebookGame::any_position(game.unpack(&sample.packed).map_err(value_error)?)))
        })
    }

    /// Returns the arrays of the samples with these numbers, by default of all, in their order.
    ///
    /// With a symmetry_seed each position is turned or mirrored at random; the same seed and number give the same symmetry.
    /// Raises IndexError for a number that is not there, ValueError for a sample that contradicts itself.
    #[pyo3(signature = (numbers=None, *, symmetry_seed=None))]
    fn batch(&self, py: Python<'_>, numbers: Option<Vec<usize>>, symmetry_seed: Option<u64>) -> PyResult<SampleBatch> {
        let numbers = numbers.unwrap_or_else(|| (0..self.samples.len()).collect());
        let drawn = numbers.iter().map(|number| Ok((*number, self.at(*number)?))).collect::<PyResult<Vec<_>>>()?;
        let (batch, shape, planes) =
            py.detach(|| by_game!(self.game.any(), game => fill(game, &drawn, symmetry_seed))).map_err(value_error)?;
        let input = &batch.input;
        let move_starts = std::iter::once(0).chain(input.move_ends.iter().map(|end| *end as i32)).collect::<Vec<_>>();
        let search_values = drawn.iter().map(|(_, sample)| sample.search_value.unwrap_or(f32::NAN));
        let policy_indices = input.policy_indices.iter().map(|index| i32::from(*index));
        let dimensions = [drawn.len(), shape.planes, shape.rows, shape.columns];
        Ok(SampleBatch {
            planes: planes.into_pyarray(py).reshape(dimensions)?.unbind(),
            search_values: search_values.collect::<Vec<_>>().into_pyarray(py).unbind(),
            move_starts: move_starts.into_pyarray(py).unbind(),
            policy_indices: policy_indices.collect::<Vec<_>>().into_pyarray(py).unbind(),
            policy_targets: batch.policy_targets.into_pyarray(py).unbind(),
            value_targets: batch.value_targets.into_pyarray(py).unbind(),
            games: numbers.iter().map(|number| self.games[*number]).collect::<Vec<_>>().into_pyarray(py).unbind(),
            policy_size: by_game!(self.game.any(), game => game.encoding().policy_size()),
        })
    }

    fn __repr__(&self) -> String {
        format!("<Samples: {} positions of {}>", self.samples.len(), self.game.spec())
    }
}

fn fill<G: NotebookGame>(
    game: &TypedGame<G>,
    drawn: &[(usize, &Sample)],
    symmetry_seed: Option<u64>,
) -> Result<(TrainingBatch, PlaneShape, Vec<f32>), SampleError> {
    let encoding = game.encoding();
    let (mut batch, mut scratch) = (TrainingBatch::default(), SampleScratch::new(&encoding));
    for (number, sample) in drawn {
        let policy_target = sample.policy_target.to_bytes();
        let stored = StoredSample {
            packed: &sample.packed,
            policy_target: &policy_target,
            value_target: sample.outcome_value,
            outlook: None,
        };
        let symmetry =
            symmetry_seed.map_or(0, |seed| mix_seed(seed, *number as u64) % u64::from(encoding.symmetry_count()));
        push_sample(&encoding, &stored, Symmetry(symmetry as u8), &mut batch, &mut scratch)?;
    }
    let shape = encoding.plane_shape();
    let planes = batch.input.planes.to_dense(shape);
    Ok((batch, shape, planes))
}

#[pymethods]
impl SampleBatch {
    /// Returns the policy targets as a dense array, float32 [B, policy_size].
    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (starts, indices, targets) = (
            self.move_starts.bind(py).readonly(),
            self.policy_indices.bind(py).readonly(),
            self.policy_targets.bind(py).readonly(),
        );
        let (starts, indices, targets) = (starts.as_slice()?, indices.as_slice()?, targets.as_slice()?);
        let count = starts.len() - 1;
        let mut dense = vec![0.0; count * self.policy_size];
        for (row, range) in dense.chunks_mut(self.policy_size).zip(starts.windows(2)) {
            for place in range[0] as usize..range[1] as usize {
                row[indices[place] as usize] += targets[place];
            }
        }
        dense.into_pyarray(py).reshape([count, self.policy_size])
    }
}
