//! The tensors of a network by name: views of the flat vectors that hold all of them.

use std::collections::HashMap;

use tch::Tensor;

use crate::NetError;
use crate::layout::Slots;

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
