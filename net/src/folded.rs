//! Convolutions that already do what the batch norms behind them did: what answers is made of them.

use tch::{Kind, Tensor};

use crate::NetError;
use crate::affine::Affine;
use crate::grid::Grid;
use crate::model::{Convolve, Model, NORM_EPSILON, NormConvolution, channels_last, convolve};

/// A convolution that already does what the batch norm behind it did.
pub(crate) struct FoldedConvolution {
    pub weight: Tensor,
    pub bias: Tensor,
}

impl FoldedConvolution {
    pub(crate) fn shallow_clone(&self) -> Self {
        Self { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone() }
    }
}

impl Convolve for FoldedConvolution {
    fn apply(&self, input: &Tensor, grid: &Grid) -> Result<Tensor, NetError> {
        match grid {
            Grid::Frame { .. } => convolve(input, &self.weight, Some(&self.bias), grid),
            Grid::Cells(cells) => cells.convolve(input, &self.weight, &self.bias),
        }
    }
}

/// weight' = weight * g / sqrt(variance + epsilon), bias' = b - mean * g / sqrt(variance + epsilon).
fn fold(convolution: &NormConvolution, device: tch::Device, kind: Kind) -> Result<FoldedConvolution, NetError> {
    let wide = |tensor: &Tensor| tensor.f_to_device(device)?.f_to_kind(Kind::Double);
    let deviation = wide(&convolution.variance)?.f_add_scalar(NORM_EPSILON)?.f_sqrt()?;
    let scale = wide(&convolution.norm_weight)?.f_div(&deviation)?;
    let wide_weight = wide(&convolution.weight)?;
    let is_frame = wide_weight.dim() == 4;
    let scale_dims: &[i64] = if is_frame { &[-1, 1, 1, 1] } else { &[-1, 1] };
    let weight = wide_weight.f_mul(&scale.f_view(scale_dims)?)?.f_to_kind(kind)?;
    let bias = wide(&convolution.norm_bias)?.f_sub(&wide(&convolution.mean)?.f_mul(&scale)?)?.f_to_kind(kind)?;
    Ok(FoldedConvolution { weight: if is_frame { channels_last(&weight)? } else { weight }, bias })
}

/// Folds a whole network for `device`, in numbers of `kind`.
pub(crate) fn fold_model(
    model: &Model<NormConvolution>,
    device: tch::Device,
    kind: Kind,
) -> Result<Model<FoldedConvolution>, NetError> {
    let convolution = |convolution: &NormConvolution| fold(convolution, device, kind);
    let affine = |affine: &Affine| -> Result<Affine, NetError> {
        let copy = |tensor: &Tensor| tensor.f_to_device_(device, kind, false, true);
        Ok(Affine { weight: copy(&affine.weight)?, bias: copy(&affine.bias)? })
    };
    model.map(convolution, affine)
}
