//! The network as a function of tensors: trunk, policy head, value head.
//!
//! Written once over [`Convolve`]: with [`NormConvolution`] it trains, with the convolutions of `folded` and `int8` it
//! answers. He et al. 2015 (residual blocks), Silver et al. 2017 (heads).

use tch::{Kind, Tensor};

use crate::NetError;
use crate::affine::Affine;
use crate::grid::Grid;
use crate::named::Named;
use crate::outlook::{OutlookHeads, OutlookOutput};
use crate::settings::{Architecture, NetworkShape, PolicyHead, Trunk};

/// Variance added before the root, as in every published AlphaZero.
pub(crate) const NORM_EPSILON: f64 = 1e-5;
/// Share of the newest batch in the running statistics.
const NORM_MOMENTUM: f64 = 0.1;

/// A convolution that keeps the cells, with what follows it in a residual network. Numbers are f32 or half precision:
/// [B, C, H, W], channels last, on a frame; [N, C] on active cells.
pub(crate) trait Convolve {
    /// Convolution and batch norm.
    fn apply(&self, input: &Tensor, grid: &Grid) -> Result<Tensor, NetError>;

    /// The same and a rectifier.
    fn apply_relu(&self, input: &Tensor, grid: &Grid) -> Result<Tensor, NetError> {
        Ok(self.apply(input, grid)?.f_relu_()?)
    }

    /// The same, `residual` added before the rectifier.
    fn apply_add_relu(&self, input: &Tensor, residual: &Tensor, grid: &Grid) -> Result<Tensor, NetError> {
        Ok(self.apply(input, grid)?.f_add_(residual)?.f_relu_()?)
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
    fn apply(&self, input: &Tensor, grid: &Grid) -> Result<Tensor, NetError> {
        // Gradients come back to the weights in 32 bits.
        let output = convolve(input, &self.weight.f_to_kind(input.kind())?, None, grid)?;
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

/// Convolves with stride 1 and zeros beyond the edge.
pub(crate) fn convolve(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    grid: &Grid,
) -> Result<Tensor, NetError> {
    match grid {
        Grid::Frame { .. } => {
            let padding = weight.size().last().map_or(0, |size| size / 2);
            Ok(input.f_conv2d(weight, bias, 1, padding, 1, 1)?)
        }
        Grid::Cells(cells) => cells.convolve_to_learn(input, weight, bias),
    }
}

/// What follows the first convolution.
pub(crate) enum Block<C> {
    /// Two convolutions, what came in added before the second rectifier. With `pool`, what is made of mean and maximum
    /// of each filter that came in, over all cells of the position, is added to each of them before the first rectifier
    /// (global pooling; Wu 2019, "Accelerating Self-Play Learning in Go", 3.3).
    Residual { first: C, second: C, pool: Option<Affine> },
    /// One convolution.
    Plain(C),
}

/// What turns the trunk into numbers from which logits are read.
pub(crate) enum Policy<C> {
    /// 1 x 1 to two filters, flattened.
    Full { convolution: C, output: Affine },
    /// The whole trunk, flattened.
    Straight { output: Affine },
    /// Maps, read at cells.
    Spatial { maps: Affine },
}

/// What the value head knows of the trunk.
pub(crate) enum Summary<C> {
    /// 1 x 1 to one filter, flattened.
    Convolution(C),
    /// Mean and maximum over the active cells.
    Pooled,
    /// The whole trunk, flattened.
    Straight,
}

/// What turns the trunk into a value.
pub(crate) struct ValueHead<C> {
    pub summary: Summary<C>,
    pub hidden: Affine,
    pub output: Affine,
}

/// A whole network.
pub(crate) struct Model<C> {
    /// Planes at the end that no convolution reads: one number each.
    pub feature_count: usize,
    pub first: C,
    pub blocks: Vec<Block<C>>,
    pub policy: Policy<C>,
    pub value: ValueHead<C>,
    /// `None` where it only answers.
    pub outlook: Option<OutlookHeads>,
}

/// A network's output for B positions, before the legal moves are looked up.
pub(crate) struct ModelOutput {
    /// Full head: logits [B, A]. Spatial head: maps [cells, placement kinds + 32], cells as [`Grid::row`] counts them.
    pub policy: Tensor,
    /// Values, f32 [B], -1..=1.
    pub value: Tensor,
    /// What the outlook heads predict, if there are some.
    pub outlook: Option<OutlookOutput>,
}

/// What the heads read.
struct Seen<'a> {
    trunk: Tensor,
    /// Trunk and features in one row a position, [B, C * H * W + features], for heads that read all of it.
    flat: Option<Tensor>,
    grid: &'a Grid,
}

impl<C: Convolve> Model<C> {
    /// Runs the network on planes as [`crate::planes::upload`] makes them.
    pub(crate) fn forward(&self, planes: &Tensor, grid: &Grid) -> Result<ModelOutput, NetError> {
        let (maps, features) = self.split(planes)?;
        let mut trunk = self.first.apply_relu(maps.as_ref().unwrap_or(planes), grid)?;
        for block in &self.blocks {
            trunk = block.forward(&trunk, grid)?;
        }
        let flat = match (&self.policy, features) {
            (Policy::Straight { .. }, None) => Some(flatten(&trunk)?),
            (Policy::Straight { .. }, Some(features)) => Some(Tensor::f_cat(&[flatten(&trunk)?, features], 1)?),
            _ => None,
        };
        let seen = Seen { trunk, flat, grid };
        let policy = self.policy.forward(&seen)?;
        let hidden = self.value.hidden(&seen)?;
        let outlook = self.outlook.as_ref().map(|heads| heads.forward(&seen.cells()?, &hidden)).transpose()?;
        Ok(ModelOutput { policy, value: self.value.forward(&hidden)?, outlook })
    }

    /// Returns the planes for convolutions, channels last, and the features [B, count], if there are any.
    fn split(&self, planes: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>), NetError> {
        if self.feature_count == 0 {
            return Ok((None, None));
        }
        let count = self.feature_count as i64;
        let first = planes.size()[1] - count;
        let maps = channels_last(&planes.f_narrow(1, 0, first)?)?;
        // The same number in all cells: the first will do.
        let features = planes.f_narrow(1, first, count)?.f_select(3, 0)?.f_select(2, 0)?;
        Ok((Some(maps), Some(features)))
    }

    /// Returns the same network with other convolutions and layers, to answer alone.
    pub(crate) fn map<D>(
        &self,
        convolution: impl Fn(&C) -> Result<D, NetError>,
        affine: impl Fn(&Affine) -> Result<Affine, NetError>,
    ) -> Result<Model<D>, NetError> {
        let block = |block: &Block<C>| -> Result<Block<D>, NetError> {
            Ok(match block {
                Block::Residual { first, second, pool } => Block::Residual {
                    first: convolution(first)?,
                    second: convolution(second)?,
                    pool: pool.as_ref().map(&affine).transpose()?,
                },
                Block::Plain(only) => Block::Plain(convolution(only)?),
            })
        };
        Ok(Model {
            feature_count: self.feature_count,
            first: convolution(&self.first)?,
            blocks: self.blocks.iter().map(block).collect::<Result<_, NetError>>()?,
            policy: match &self.policy {
                Policy::Full { convolution: maps, output } => {
                    Policy::Full { convolution: convolution(maps)?, output: affine(output)? }
                }
                Policy::Straight { output } => Policy::Straight { output: affine(output)? },
                Policy::Spatial { maps } => Policy::Spatial { maps: affine(maps)? },
            },
            value: ValueHead {
                summary: match &self.value.summary {
                    Summary::Convolution(maps) => Summary::Convolution(convolution(maps)?),
                    Summary::Pooled => Summary::Pooled,
                    Summary::Straight => Summary::Straight,
                },
                hidden: affine(&self.value.hidden)?,
                output: affine(&self.value.output)?,
            },
            outlook: None,
        })
    }
}

impl<C> Model<C> {
    /// Returns the convolutions of the blocks, in the order in which they are applied.
    pub(crate) fn block_convolutions(&self) -> impl Iterator<Item = &C> {
        self.blocks.iter().flat_map(|block| match block {
            Block::Residual { first, second, .. } => vec![first, second],
            Block::Plain(only) => vec![only],
        })
    }

    /// Returns the same, to be changed.
    pub(crate) fn block_convolutions_mut(&mut self) -> impl Iterator<Item = &mut C> {
        self.blocks.iter_mut().flat_map(|block| match block {
            Block::Residual { first, second, .. } => vec![first, second],
            Block::Plain(only) => vec![only],
        })
    }
}

impl<C: Convolve> Block<C> {
    fn forward(&self, trunk: &Tensor, grid: &Grid) -> Result<Tensor, NetError> {
        match self {
            Self::Residual { first, second, pool } => {
                let inner = match pool {
                    None => first.apply_relu(trunk, grid)?,
                    Some(pool) => {
                        let whole = grid.broadcast(&pool.apply(&grid.pool(trunk)?)?)?;
                        first.apply_add_relu(trunk, &whole, grid)?
                    }
                };
                second.apply_add_relu(&inner, trunk, grid)
            }
            Self::Plain(only) => only.apply_relu(trunk, grid),
        }
    }
}

impl Seen<'_> {
    /// Returns the trunk as one row a cell, as [`Grid::row`] counts them.
    fn cells(&self) -> Result<Tensor, NetError> {
        match self.grid {
            Grid::Cells(_) => Ok(self.trunk.shallow_clone()),
            // Channels last: without a copy.
            Grid::Frame { .. } => {
                let filters = self.trunk.size()[1];
                Ok(self.trunk.f_permute([0, 2, 3, 1])?.f_reshape([-1, filters])?)
            }
        }
    }

    fn flat(&self) -> Result<&Tensor, NetError> {
        self.flat.as_ref().ok_or_else(|| NetError::Torch("a head that wants a flattened trunk".into()))
    }
}

impl<C: Convolve> Policy<C> {
    fn forward(&self, seen: &Seen<'_>) -> Result<Tensor, NetError> {
        match (self, seen.grid) {
            (Self::Full { convolution, output }, grid) => {
                let maps = convolution.apply_relu(&seen.trunk, grid)?;
                output.apply(&match grid {
                    Grid::Frame { .. } => flatten(&maps)?,
                    Grid::Cells(cells) => cells.spread(&maps)?,
                })
            }
            (Self::Straight { output }, _) => output.apply(seen.flat()?),
            (Self::Spatial { maps }, _) => maps.apply(&seen.cells()?),
        }
    }
}

impl<C: Convolve> ValueHead<C> {
    /// Returns the hidden layer, [B, hidden].
    fn hidden(&self, seen: &Seen<'_>) -> Result<Tensor, NetError> {
        let mut hidden = match (&self.summary, seen.grid) {
            (Summary::Convolution(maps), grid) => self.hidden.apply(&flatten(&maps.apply_relu(&seen.trunk, grid)?)?)?,
            (Summary::Pooled, grid) => self.hidden.apply(&grid.pool(&seen.trunk)?)?,
            (Summary::Straight, _) => self.hidden.apply(seen.flat()?)?,
        };
        Ok(hidden.f_relu_()?)
    }

    fn forward(&self, hidden: &Tensor) -> Result<Tensor, NetError> {
        let value = self.output.apply(hidden)?;
        Ok(value.f_to_kind(Kind::Float)?.f_tanh()?.f_flatten(0, -1)?)
    }
}

/// [B, C, H, W] to [B, C * H * W], in that order whatever the memory layout.
fn flatten(maps: &Tensor) -> Result<Tensor, NetError> {
    Ok(maps.f_flatten(1, -1)?)
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
    let settings = &shape.settings;
    let policy = match (settings.architecture, settings.policy_head) {
        (Architecture::DamaCnn, _) => Policy::Straight { output: affine("policy.output")? },
        (Architecture::Residual, PolicyHead::Full) => {
            Policy::Full { convolution: convolution("policy.convolution")?, output: affine("policy.output")? }
        }
        (Architecture::Residual, PolicyHead::Spatial) => Policy::Spatial { maps: affine("policy.maps")? },
    };
    let summary = match (settings.architecture, settings.trunk) {
        (Architecture::DamaCnn, _) => Summary::Straight,
        (Architecture::Residual, Trunk::Frame) => Summary::Convolution(convolution("value.convolution")?),
        (Architecture::Residual, Trunk::Cells) => Summary::Pooled,
    };
    let block = |number| -> Result<_, NetError> {
        let part = |part: &str| convolution(&format!("block.{number}.{part}"));
        let pool = settings.pools_in(number).then(|| affine(&format!("block.{number}.pool"))).transpose()?;
        Ok(Block::Residual { first: part("first")?, second: part("second")?, pool })
    };
    let plain = |number: u32| Ok(Block::Plain(convolution(&format!("plain.{number}"))?));
    Ok(Model {
        feature_count: shape.feature_count,
        first: convolution("first")?,
        blocks: match settings.architecture {
            Architecture::Residual => (0..settings.blocks).map(block).collect::<Result<_, NetError>>()?,
            Architecture::DamaCnn => (1..settings.blocks).map(plain).collect::<Result<_, NetError>>()?,
        },
        policy,
        value: ValueHead { summary, hidden: affine("value.hidden")?, output: affine("value.output")? },
        outlook: match settings.outlook_heads {
            true => Some(OutlookHeads { pieces: affine("outlook.pieces")?, ending: affine("outlook.ending")? }),
            false => None,
        },
    })
}

/// The same tensor with the channels of a cell side by side in memory.
pub(crate) fn channels_last(maps: &Tensor) -> Result<Tensor, NetError> {
    Ok(maps.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?)
}
