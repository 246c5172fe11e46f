//! Samples as tensors in a `.safetensors` file that any program reads (docs/export.md).
//!
//! The planes of many samples take more than the memory, so they are written as they come; the other tensors, which are
//! small, are written at the end, and the header, whose space was reserved, last.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Context;
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use samples::part_file::{PartFile, PartFileError};
use shared::encoding::{Encoding, PlaneShape, Symmetry, TrainingBatch};
use shared::record::Sample;
use shared::record::batch::{SampleScratch, StoredSample, push_sample};

/// The message where samples are asked for and there are none.
pub const NO_POSITIONS: &str = "there are no positions to learn from";
/// Bytes in front of the tensors: the length of the header and the header, filled up with spaces.
const START_BYTES: usize = 2048;
/// The length of the header is a number of eight bytes.
const LENGTH_BYTES: usize = 8;
/// Bytes of each number in the tensors.
const NUMBER_BYTES: usize = 4;

/// A file of samples that is being written.
pub struct SampleFile {
    file: PartFile,
    tensor_shape: Option<SampleShape>,
    move_starts: Vec<i32>,
    policy_indices: Vec<i32>,
    policy_targets: Vec<f32>,
    value_targets: Vec<f32>,
    search_values: Vec<f32>,
    games: Vec<i32>,
}

/// Shape of planes and policy: the same for all samples of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SampleShape {
    planes: PlaneShape,
    policy_size: usize,
}

impl SampleFile {
    /// Begins a file that will be `path`.
    ///
    /// # Errors
    /// [`PartFileError`]: `path` is a folder, a pipe or a device, or the system refuses to create the file.
    pub fn create(path: &Path) -> Result<Self, PartFileError> {
        let mut file = PartFile::create(path)?;
        file.write(&[b' '; START_BYTES])?;
        Ok(Self {
            file,
            tensor_shape: None,
            move_starts: vec![0],
            policy_indices: Vec::new(),
            policy_targets: Vec::new(),
            value_targets: Vec::new(),
            search_values: Vec::new(),
            games: Vec::new(),
        })
    }

    /// Returns the number of samples so far.
    pub const fn sample_count(&self) -> usize {
        self.games.len()
    }

    /// Appends the samples of the game with this number.
    ///
    /// # Errors
    /// If a sample does not decode, or the file cannot be written.
    pub fn push<E: Encoding>(&mut self, encoding: &E, samples: &[Sample], game: usize) -> anyhow::Result<()> {
        let shape = SampleShape { planes: encoding.plane_shape(), policy_size: encoding.policy_size() };
        anyhow::ensure!(*self.tensor_shape.get_or_insert(shape) == shape, "the games have planes of different shapes");
        let mut batch = TrainingBatch::default();
        let mut scratch = SampleScratch::new(encoding);
        for sample in samples {
            let policy_target = &sample.policy_target.to_bytes();
            let stored = StoredSample {
                packed: &sample.packed,
                policy_target,
                value_target: sample.outcome_value,
                outlook: None,
            };
            push_sample(encoding, &stored, Symmetry::default(), &mut batch, &mut scratch)?;
        }
        self.search_values.extend(samples.iter().map(|sample| sample.search_value.unwrap_or(f32::NAN)));
        self.put(&batch, shape.planes, game)
    }

    fn put(&mut self, batch: &TrainingBatch, planes: PlaneShape, game: usize) -> anyhow::Result<()> {
        let (start, game) = (self.policy_indices.len(), i32::try_from(game)?);
        self.file.write(&bytes_of(&batch.input.planes.to_dense(planes), f32::to_le_bytes))?;
        for end in &batch.input.move_ends {
            let end =
                i32::try_from(start + *end as usize).context("more moves than 32 bits count: export fewer games")?;
            self.move_starts.push(end);
            self.games.push(game);
        }
        self.policy_indices.extend(batch.input.policy_indices.iter().map(|index| i32::from(*index)));
        self.policy_targets.extend_from_slice(&batch.policy_targets);
        self.value_targets.extend_from_slice(&batch.value_targets);
        Ok(())
    }

    /// Ends the file; `game` is the specification of the game, JSON.
    ///
    /// # Errors
    /// If there are no samples, or the file cannot be written.
    pub fn finish(mut self, game: &str) -> anyhow::Result<()> {
        let shape = self.tensor_shape.filter(|_| self.sample_count() > 0).context(NO_POSITIONS)?;
        let start = self.start(shape, game)?;
        self.file.write(&bytes_of(&self.value_targets, f32::to_le_bytes))?;
        self.file.write(&bytes_of(&self.search_values, f32::to_le_bytes))?;
        self.file.write(&bytes_of(&self.move_starts, i32::to_le_bytes))?;
        self.file.write(&bytes_of(&self.policy_indices, i32::to_le_bytes))?;
        self.file.write(&bytes_of(&self.policy_targets, f32::to_le_bytes))?;
        self.file.write(&bytes_of(&self.games, i32::to_le_bytes))?;
        Ok(self.file.finish(&start)?)
    }

    /// Returns the header: the tensors in the order in which they lie in the file.
    fn start(&self, shape: SampleShape, game: &str) -> anyhow::Result<Vec<u8>> {
        let (samples, moves) = (self.sample_count(), self.policy_indices.len());
        let PlaneShape { planes, rows, columns } = shape.planes;
        let tensors = [
            ("planes", Dtype::F32, vec![samples, planes, rows, columns]),
            ("value_targets", Dtype::F32, vec![samples]),
            ("search_values", Dtype::F32, vec![samples]),
            ("move_starts", Dtype::I32, vec![samples + 1]),
            ("policy_indices", Dtype::I32, vec![moves]),
            ("policy_targets", Dtype::F32, vec![moves]),
            ("games", Dtype::I32, vec![samples]),
        ];
        let mut end = 0;
        let tensors = tensors.map(|(name, dtype, shape)| {
            let start = end;
            end += shape.iter().product::<usize>() * NUMBER_BYTES;
            (name.to_owned(), TensorInfo { dtype, shape, data_offsets: (start, end) })
        });
        let metadata =
            [("game".to_owned(), game.to_owned()), ("policy_size".to_owned(), shape.policy_size.to_string())];
        let header = serde_json::to_vec(&Metadata::new(Some(HashMap::from(metadata)), tensors.into())?)?;
        let length = START_BYTES - LENGTH_BYTES;
        anyhow::ensure!(
            header.len() <= length,
            "the header takes {} bytes, {length} are reserved for it",
            header.len()
        );
        let mut start = (length as u64).to_le_bytes().to_vec();
        start.extend(header);
        start.resize(START_BYTES, b' ');
        Ok(start)
    }
}

fn bytes_of<T: Copy>(numbers: &[T], to_bytes: impl Fn(T) -> [u8; NUMBER_BYTES]) -> Vec<u8> {
    numbers.iter().flat_map(|number| to_bytes(*number)).collect()
}
