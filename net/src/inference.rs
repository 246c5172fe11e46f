//! The network as it answers leaves: batch norm folded into the convolutions, no gradients, channels last.

use std::time::{Duration, Instant};

use shared::catalog::GameSpec;
use shared::encoding::NetworkInput;
use tch::{Kind, Tensor};

use crate::folded::{FoldedConvolution, fold_model};
use crate::grid::Grid;
use crate::int8::{Int8Convolution, Ranges, calibrate};
use crate::model::{Convolve, Model, NormConvolution};
use crate::moves::{MoveIndex, check_input};
use crate::planes::upload;
use crate::{Device, NetError, Network, NetworkOutput, NetworkShape, Precision, Trunk};

/// A network that only answers. One thread owns it; it may be sent to another.
pub struct InferenceNetwork {
    shape: NetworkShape,
    model: Model<InferenceConvolution>,
    device: Device,
    kind: Kind,
    /// Rising; empty = never pad.
    batch_sizes: Vec<usize>,
}

impl InferenceNetwork {
    /// Folds `network` for `device`. Batches of frames are padded with empty positions to the next of `batch_sizes`
    /// (any order; none: never padded), so that the libraries below prepare for few sizes; larger batches, and active
    /// cells, stay as they are.
    ///
    /// # Errors
    /// [`NetError::Torch`] if memory does not suffice.
    pub fn new(
        network: &Network,
        device: Device,
        precision: Precision,
        batch_sizes: &[usize],
    ) -> Result<Self, NetError> {
        let _no_gradients = tch::no_grad_guard();
        let kind = precision.kind();
        let (trained, _) = network.model(false)?;
        let folded = fold_model(&trained, device.0, kind)?;
        let convolution = |it: &FoldedConvolution| Ok(InferenceConvolution::Folded(it.shallow_clone()));
        let mut batch_sizes = batch_sizes.to_vec();
        batch_sizes.sort_unstable();
        let model = folded.map(convolution, |affine| Ok(affine.shallow_clone()))?;
        let mut answering = Self { shape: *network.shape(), model, device, kind, batch_sizes };
        if precision == Precision::Int8 {
            answering.round_to_int8(&trained, &network.spec().game)?;
        }
        Ok(answering)
    }

    /// Rounds the convolutions of the blocks to 8 bits.
    fn round_to_int8(&mut self, model: &Model<NormConvolution>, game: &GameSpec) -> Result<(), NetError> {
        let wide = fold_model(model, self.device.0, Kind::Float)?;
        let shape = self.shape;
        let Ranges(highest) = calibrate(&wide, (&shape, game), &mut |input, output| self.evaluate(input, output))?;
        let rounded = wide.block_convolutions().zip(&highest).map(|(it, highest)| Int8Convolution::new(it, highest));
        for (convolution, rounded) in self.model.block_convolutions_mut().zip(rounded) {
            *convolution = InferenceConvolution::Int8(rounded?);
        }
        Ok(())
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> &NetworkShape {
        &self.shape
    }

    /// Returns the device that answers.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns how many positions are computed for `batch` of them, the padding included.
    #[must_use]
    pub fn computed_batch(&self, batch: usize) -> usize {
        self.shape.computed_batch(&self.batch_sizes, batch)
    }

    /// Evaluates all positions of `input` into `output`, whatever that held before.
    ///
    /// # Errors
    /// [`NetError::Batch`] if `input` contradicts itself or the shape; [`NetError::Torch`] if the device fails.
    /// `output` is then empty.
    pub fn evaluate(&mut self, input: &NetworkInput, output: &mut NetworkOutput) -> Result<(), NetError> {
        output.clear();
        check_input(&self.shape, input)?;
        if input.is_empty() {
            return Ok(());
        }
        let _no_gradients = tch::no_grad_guard();
        let uploaded = self.upload(input)?;
        let answers = self.forward(&uploaded)?;
        read_back(&answers, input, output)
    }

    /// Evaluates as [`Self::evaluate`] does, waits for the device after each stage, and returns how long each took: for
    /// measurements. The stages of a GPU cannot overlap then.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn evaluate_in_stages(
        &mut self,
        input: &NetworkInput,
        output: &mut NetworkOutput,
    ) -> Result<StageTimes, NetError> {
        let started_at = Instant::now();
        output.clear();
        check_input(&self.shape, input)?;
        if input.is_empty() {
            return Ok(StageTimes::default());
        }
        let _no_gradients = tch::no_grad_guard();
        let uploaded = self.upload(input)?;
        self.device.wait();
        let uploaded_at = Instant::now();
        let answers = self.forward(&uploaded)?;
        self.device.wait();
        let answered_at = Instant::now();
        read_back(&answers, input, output)?;
        Ok(StageTimes {
            upload: uploaded_at - started_at,
            forward: answered_at - uploaded_at,
            read_back: answered_at.elapsed(),
        })
    }

    /// Lays the positions out and puts them on the device.
    fn upload(&self, input: &NetworkInput) -> Result<Uploaded, NetError> {
        let grid = Grid::for_answers(&self.shape, input, (self.device.0, self.kind))?;
        let moves = MoveIndex::new(&self.shape, input, &grid, self.device.0)?;
        let frame_count = self.computed_batch(input.len());
        let planes = upload(input, &self.shape, (&grid, frame_count), self.device.0, self.kind)?;
        Ok(Uploaded { grid, moves, planes })
    }

    /// Returns logits f32 [N] and values f32 [B or more].
    fn forward(&self, uploaded: &Uploaded) -> Result<Answers, NetError> {
        let output = self.model.forward(&uploaded.planes, &uploaded.grid)?;
        Ok(Answers { logits: uploaded.moves.logits(&self.shape, &output.policy)?, values: output.value })
    }
}

/// How long the stages of an evaluation took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Laying positions, cells and moves out on the processor, and bringing them to the device.
    pub upload: Duration,
    /// The network.
    pub forward: Duration,
    /// Fetching logits and values, and the softmax over the legal moves on the processor.
    pub read_back: Duration,
}

impl NetworkShape {
    /// Returns how many positions are computed for `batch` of them where frames are padded to the next of `batch_sizes`,
    /// rising. Active cells are not padded.
    #[must_use]
    pub fn computed_batch(&self, batch_sizes: &[usize], batch: usize) -> usize {
        let padded = batch_sizes.iter().copied().find(|&size| size >= batch);
        padded.filter(|_| self.settings.trunk == Trunk::Frame).unwrap_or(batch)
    }
}

/// The positions of a batch on the device.
struct Uploaded {
    grid: Grid,
    moves: MoveIndex,
    planes: Tensor,
}

/// What the network says of a batch, on the device.
struct Answers {
    logits: Tensor,
    values: Tensor,
}

/// Fetches the answers and makes priors of the logits.
fn read_back(answers: &Answers, input: &NetworkInput, output: &mut NetworkOutput) -> Result<(), NetError> {
    let (mut priors, mut finished) = (std::mem::take(&mut output.priors), std::mem::take(&mut output.values));
    priors.resize(input.policy_indices.len(), 0.0);
    finished.resize(input.len(), 0.0);
    answers.logits.f_copy_data(&mut priors, input.policy_indices.len())?;
    answers.values.f_copy_data(&mut finished, input.len())?;
    (output.priors, output.values) = (priors, finished);
    output.finish(input);
    Ok(())
}

/// A convolution of a network that answers.
enum InferenceConvolution {
    Folded(FoldedConvolution),
    Int8(Int8Convolution),
}

impl Convolve for InferenceConvolution {
    fn apply(&self, input: &Tensor, grid: &Grid) -> Result<Tensor, NetError> {
        match (self, grid) {
            // Behind blocks of 8 bits numbers have 32.
            (Self::Folded(convolution), _) => convolution.apply(&input.f_to_kind(convolution.weight.kind())?, grid),
            (Self::Int8(convolution), Grid::Cells(cells)) => convolution.apply(input, cells),
            (Self::Int8(_), Grid::Frame { .. }) => Err(NetError::Torch("8 bits are for active cells".into())),
        }
    }
}
