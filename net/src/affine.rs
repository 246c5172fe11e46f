//! A fully connected layer.

use tch::Tensor;

use crate::NetError;

/// Weight [outputs, inputs] and bias [outputs].
pub(crate) struct Affine {
    pub weight: Tensor,
    pub bias: Tensor,
}

impl Affine {
    pub(crate) fn shallow_clone(&self) -> Self {
        Self { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone() }
    }

    pub(crate) fn apply(&self, input: &Tensor) -> Result<Tensor, NetError> {
        let kind = input.kind();
        Ok(input.f_linear(&self.weight.f_to_kind(kind)?, Some(&self.bias.f_to_kind(kind)?))?)
    }
}
