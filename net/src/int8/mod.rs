//! Convolutions in whole numbers of 8 bits, for answers of a processor: the weights of each output share a step, and the
//! numbers that come in from each filter, of which none is below 0, share another one (Jacob et al. 2018, "Quantization
//! and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2; the steps of what comes in lie in
//! the weights). Between the convolutions numbers have 32 bits, so what the residual blocks add up is never rounded.
//!
//! `calibration` finds how large what comes in is, on positions of games that the network plays.

mod calibration;

use std::time::Duration;

use tch::{Kind, Tensor};

use crate::folded::FoldedConvolution;
use crate::grid::CellGrid;
use crate::product_time::fastest;
use crate::{Device, NetError};

pub(crate) use calibration::{Ranges, calibrate};

/// Largest number of 8 bits with a sign.
const LARGEST: f64 = 127.0;
/// What comes in may be so many times larger than anything that came in while the network played a few games: to cut off
/// what is larger costs more than coarser steps. Of 0.8 to 2.5 times, 1.6 and 2 changed the answers of the ready networks
/// least.
const RANGE_MARGIN: f64 = 1.75;
/// Steps of weights are at least so large: a filter that adds nothing has none.
const STEP_MIN: f64 = 1e-20;

/// A convolution of the blocks, with its batch norm.
pub(crate) struct Int8Convolution {
    /// i8 [taps * C, outputs].
    weight: Tensor,
    /// What one of a product is worth, f32 [outputs].
    step: Tensor,
    /// f32 [outputs].
    bias: Tensor,
    /// How many steps one is of what comes in, f32 [C]; 0 for a filter in which nothing ever comes in.
    steps_in: Tensor,
}

impl Int8Convolution {
    /// Rounds a convolution of 32 bits, into which numbers of 0 to `highest`, f32 [C], come.
    pub(crate) fn new(convolution: &FoldedConvolution, highest: &Tensor) -> Result<Self, NetError> {
        let (outputs, width) = (convolution.weight.size()[0], highest.size()[0]);
        let step_in = highest.f_mul_scalar(RANGE_MARGIN / LARGEST)?;
        let weight = convolution.weight.f_view([outputs, -1, width])?.f_mul(&step_in)?.f_view([outputs, -1])?;
        let step = weight.f_abs()?.f_amax([1], true)?.f_div_scalar(LARGEST)?.f_clamp_min(STEP_MIN)?;
        let rounded = weight.f_div(&step)?.f_round()?.f_to_kind(Kind::Int8)?;
        let none = step_in.f_zeros_like()?;
        let steps_in = step_in.f_reciprocal()?.f_where_self(&step_in.f_gt(0.0)?, &none)?;
        Ok(Self {
            weight: rounded.f_tr()?,
            step: step.f_squeeze_dim(1)?,
            bias: convolution.bias.shallow_clone(),
            steps_in,
        })
    }

    /// Convolves [N + S, C], none below 0, to f32 [N + S, outputs], spare rows zero.
    pub(crate) fn apply(&self, input: &Tensor, grid: &CellGrid) -> Result<Tensor, NetError> {
        let sums = grid.convolve_int8(&rounded(input, &self.steps_in)?, &self.weight)?;
        let output = worth(&sums, &self.step, &self.bias)?;
        grid.clear_spare_rows(&output)?;
        Ok(output)
    }
}

/// Returns numbers [rows, C], none below 0, in whole steps: i8.
fn rounded(numbers: &Tensor, steps: &Tensor) -> Result<Tensor, NetError> {
    // To 8 bits is towards 0: with a half more it is to the nearest.
    let half = Tensor::f_full([1], 0.5, (Kind::Float, numbers.device()))?;
    let mut steps = half.f_addcmul(&numbers.f_to_kind(Kind::Float)?, steps)?;
    Ok(steps.f_clamp_max_(LARGEST)?.f_to_kind(Kind::Int8)?)
}

/// Returns what sums of products, i32 [rows, outputs], are worth: f32.
fn worth(sums: &Tensor, step: &Tensor, bias: &Tensor) -> Result<Tensor, NetError> {
    Ok(bias.f_addcmul(&sums.f_to_kind(Kind::Float)?, step)?)
}

/// Returns the seconds that a product of these sides takes on a processor in 8 bits, with the rounding of what a convolution
/// of `sides[2]` filters reads, the least of what `time` allows.
///
/// # Errors
/// [`NetError::Torch`] if memory does not suffice, or the processor cannot multiply such numbers.
pub(crate) fn fastest_product([rows, inner, columns]: [i64; 3], time: Duration) -> Result<f64, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let matrix = |size| Tensor::f_rand(size, (Kind::Float, tch::Device::Cpu));
    let whole = |size| matrix(size)?.f_mul_scalar(LARGEST)?.f_to_kind(Kind::Int8);
    let (numbers, scales) = (matrix([rows, columns])?, matrix([1, columns])?);
    let (left, right) = (whole([rows, inner])?, whole([columns, inner])?.f_tr()?);
    fastest(Device::CPU, 1, time, || {
        let _ = rounded(&numbers, &scales)?;
        let _ = worth(&left.f_internal_int_mm(&right)?, &scales, &scales)?;
        Ok(())
    })
}
