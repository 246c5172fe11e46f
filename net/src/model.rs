//! The network as a function of tensors: trunk, policy head, value head.
//!
//! Written once over [`Convolve`]: with [`NormConvolution`] it trains, with the folded convolutions of `inference` it
//! answers. He et al. 2015 (residual blocks), Silver et al. 2017 (heads).

use std::collections::HashMap;

use tch::{Kind, Tensor};

use crate::NetError;
use crate::layout::Slots;
use crate::settings::{NetworkShape, PolicyHead};

/// Variance added before the root, as in every published AlphaZero.
pub(crate) const NORM_EPSILON: f64 = 1e-5;
/// Share of the newest batch in the running statistics.
const NORM_MOMENTUM: f64 = 0.1;

/// A convolution that keeps height and width, with what follows it in a residual network.
pub(crate) trait Convolve {
    /// Convolution and batch norm. `input` is f32 [B, C, H, W] (or half precision), channels last.
    fn apply(&self, input: &Tensor) -> Result<Tensor, NetError>;

    /// The same and a rectifier.
    fn apply_relu(&self, input: &Tensor) -> Result<Tensor, NetError> {
        Ok(self.apply(input)?.f_relu_()?)
    }

    /// The same, `residual` added before the rectifier.
    fn apply_add_relu(&self, input: &Tensor, residual: &Tensor) -> Result<Tensor, NetError> {
        Ok(self.apply(input)?.f_add_(residual)?.f_relu_()?)
    }
}

/// A convolution without bias, then batch norm.
pub(crate) struct NormConvolution {
    pub weight: Tensor,
    pub norm_weight: Tensor,
    pub norm_bias: Tensor,
    pub mean: Tensor,
    pub variance: Tensor,
    /// Whether the batch's own statistics are used, and the running ones updated.
    pub training: bool,
}

impl Convolve for NormConvolution {
    fn apply(&self, input: &Tensor) -> Result<Tensor, NetError> {
        let output = convolve(input, &self.weight, None)?;
        Ok(output.f_batch_norm(
            Some(&self.norm_weight),
            Some(&self.norm_bias),
            Some(&self.mean),
            Some(&self.variance),
            self.training,
            NORM_MOMENTUM,
            NORM_EPSILON,
            true,
        )?)
    }
}

/// Convolves with stride 1 and as much padding as keeps height and width.
pub(crate) fn convolve(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor, NetError> {
    let padding = weight.size().last().map_or(0, |size| size / 2);
    Ok(input.f_conv2d(weight, bias, 1, padding, 1, 1)?)
}

/// Weight [outputs, inputs] and bias [outputs].
pub(crate) struct Affine {
    pub weight: Tensor,
    pub bias: Tensor,
}

impl Affine {
    pub(crate) fn apply(&self, input: &Tensor) -> Result<Tensor, NetError> {
        Ok(input.f_linear(&self.weight, Some(&self.bias))?)
    }
}

/// What turns the trunk into numbers from which logits are read.
pub(crate) enum Policy<C> {
    Full { convolution: C, output: Affine },
    Spatial { maps: Affine },
}

/// What turns the trunk into a value.
pub(crate) struct ValueHead<C> {
    pub convolution: C,
    pub hidden: Affine,
    pub output: Affine,
}

/// A whole network.
pub(crate) struct Model<C> {
    pub first: C,
    pub blocks: Vec<(C, C)>,
    pub policy: Policy<C>,
    pub value: ValueHead<C>,
}

/// What a network says about B positions, before the legal moves are looked up.
pub(crate) struct Said {
    /// Full head: logits [B, A]. Spatial head: maps [B * H * W, placement kinds + 32].
    pub policy: Tensor,
    /// Values, f32 [B], -1..=1.
    pub value: Tensor,
}

impl<C: Convolve> Model<C> {
    /// Runs the network on planes [B, C, H, W], channels last.
    pub(crate) fn forward(&self, planes: &Tensor) -> Result<Said, NetError> {
        let mut trunk = self.first.apply_relu(planes)?;
        for (first, second) in &self.blocks {
            trunk = second.apply_add_relu(&first.apply_relu(&trunk)?, &trunk)?;
        }
        Ok(Said { policy: self.policy.forward(&trunk)?, value: self.value.forward(&trunk)? })
    }
}

impl<C: Convolve> Policy<C> {
    fn forward(&self, trunk: &Tensor) -> Result<Tensor, NetError> {
        match self {
            Self::Full { convolution, output } => output.apply(&flatten(&convolution.apply_relu(trunk)?)?),
            Self::Spatial { maps } => {
                let filters = trunk.size()[1];
                // Channels last: one row a cell, without a copy.
                maps.apply(&trunk.f_permute([0, 2, 3, 1])?.f_reshape([-1, filters])?)
            }
        }
    }
}

impl<C: Convolve> ValueHead<C> {
    fn forward(&self, trunk: &Tensor) -> Result<Tensor, NetError> {
        let hidden = self.hidden.apply(&flatten(&self.convolution.apply_relu(trunk)?)?)?.f_relu_()?;
        Ok(self.output.apply(&hidden)?.f_to_kind(Kind::Float)?.f_tanh()?.f_flatten(0, -1)?)
    }
}

/// [B, C, H, W] to [B, C * H * W], in that order whatever the memory layout.
fn flatten(maps: &Tensor) -> Result<Tensor, NetError> {
    Ok(maps.f_flatten(1, -1)?)
}

/// Tensors by name, each taken once.
pub(crate) struct Named<'a>(HashMap<&'a str, Tensor>);

impl<'a> Named<'a> {
    /// Makes views of the flat vectors `(slots, values)`.
    pub(crate) fn new(vectors: &[(&'a Slots, &Tensor)], trainable: bool) -> Result<Self, NetError> {
        let mut named = HashMap::new();
        for (slots, values) in vectors {
            for slot in &slots.slots {
                let view = values.f_narrow(0, slot.start, slot.count())?.f_view(slot.dims.as_slice())?.f_detach()?;
                named.insert(slot.name.as_str(), if trainable { view.f_set_requires_grad(true)? } else { view });
            }
        }
        Ok(Self(named))
    }

    pub(crate) fn get(&self, name: &str) -> Result<Tensor, NetError> {
        let tensor = self.0.get(name).map(Tensor::shallow_clone);
        tensor.ok_or_else(|| NetError::Torch(format!("no tensor named {name}")))
    }
}

/// Builds the trainable form of a network from its named weights and statistics.
pub(crate) fn norm_model(
    shape: &NetworkShape,
    weights: &Named<'_>,
    statistics: &Named<'_>,
    training: bool,
) -> Result<Model<NormConvolution>, NetError> {
    let convolution = |name: &str| -> Result<NormConvolution, NetError> {
        Ok(NormConvolution {
            weight: weights.get(&format!("{name}.weight"))?,
            norm_weight: weights.get(&format!("{name}.norm.weight"))?,
            norm_bias: weights.get(&format!("{name}.norm.bias"))?,
            mean: statistics.get(&format!("{name}.norm.running_mean"))?,
            variance: statistics.get(&format!("{name}.norm.running_var"))?,
            training,
        })
    };
    let affine = |name: &str| -> Result<Affine, NetError> {
        Ok(Affine { weight: weights.get(&format!("{name}.weight"))?, bias: weights.get(&format!("{name}.bias"))? })
    };
    let policy = match shape.settings.policy_head {
        PolicyHead::Full => {
            Policy::Full { convolution: convolution("policy.convolution")?, output: affine("policy.output")? }
        }
        PolicyHead::Spatial => Policy::Spatial { maps: affine("policy.maps")? },
    };
    let block = |block| -> Result<_, NetError> {
        Ok((convolution(&format!("block.{block}.first"))?, convolution(&format!("block.{block}.second"))?))
    };
    Ok(Model {
        first: convolution("first")?,
        blocks: (0..shape.settings.blocks).map(block).collect::<Result<_, NetError>>()?,
        policy,
        value: ValueHead {
            convolution: convolution("value.convolution")?,
            hidden: affine("value.hidden")?,
            output: affine("value.output")?,
        },
    })
}

/// Puts planes f32 [B, C, H, W] on `device`, channels last, in `kind`.
pub(crate) fn upload_planes(
    planes: &[f32],
    batch: usize,
    shape: &NetworkShape,
    device: tch::Device,
    kind: Kind,
) -> Result<Tensor, NetError> {
    let dims = [batch as i64, shape.planes.planes as i64, shape.planes.rows as i64, shape.planes.columns as i64];
    let planes = Tensor::f_from_slice(planes)?.f_view(dims)?.f_to_device(device)?.f_to_kind(kind)?;
    channels_last(&planes)
}

/// The same tensor with the channels of a cell side by side in memory.
pub(crate) fn channels_last(maps: &Tensor) -> Result<Tensor, NetError> {
    Ok(maps.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?)
}
