//! A larger network that answers as a smaller one does, to go on learning from there.
//!
//! New filters, blocks and heads start as in any new network, but nothing that was there reads the new filters, and a new
//! block begins as the identity: so every answer stays what it was, and the gradients find the new weights from the first
//! step on. Function-preserving growth: Chen et al. 2016, "Net2Net: Accelerating Learning via Knowledge Transfer", which
//! copies filters where this begins with zeros behind them.

use std::collections::HashMap;

use rand::SeedableRng;
use rand_pcg::Pcg64;
use tch::{Kind, Tensor};

use crate::layout::{Layout, Slot, Slots};
use crate::network::filled;
use crate::{Device, NetError, Network, NetworkSettings, NetworkShape, NetworkSpec};

impl NetworkShape {
    /// Returns whether a network of this shape can grow into one of `larger`: as many blocks, filters and hidden units or
    /// more, and all else the same, but for pooling and outlook heads that may be added.
    #[must_use]
    pub fn grows_into(&self, larger: &Self) -> bool {
        let NetworkSettings { blocks, filters, value_hidden, global_pooling_every, outlook_heads, .. } =
            larger.settings;
        let old = self.settings;
        let is_larger = blocks >= old.blocks && filters >= old.filters && value_hidden >= old.value_hidden;
        let keeps_pooling = old.global_pooling_every == 0 || old.global_pooling_every == global_pooling_every;
        let keeps_heads = outlook_heads || !old.outlook_heads;
        let settings = NetworkSettings { blocks, filters, value_hidden, global_pooling_every, outlook_heads, ..old };
        let grown = Self { settings, ending_count: larger.ending_count, ..*self };
        // The heads of a plain network read the whole trunk, cell by cell: there they would have to be laid out anew.
        is_larger && keeps_pooling && keeps_heads && grown == *larger && self.feature_count == 0
    }
}

impl NetworkSpec {
    /// Returns whether a network of this specification can grow into one of `larger`: one of the same game, and of a shape
    /// that it can grow into ([`NetworkShape::grows_into`]).
    #[must_use]
    pub fn grows_into(&self, larger: &Self) -> bool {
        self.game.has_networks_of(&larger.game) && self.shape.grows_into(&larger.shape)
    }
}

impl Network {
    /// Returns a network of `spec` that answers as this one does, new weights filled from `seed`.
    ///
    /// # Errors
    /// [`NetError::Mismatch`] if this one cannot grow into it ([`NetworkSpec::grows_into`]), [`NetError::Torch`] if memory
    /// does not suffice.
    pub fn grown_to(&self, spec: &NetworkSpec, seed: u64) -> Result<Self, NetError> {
        if !self.spec.grows_into(spec) {
            let (found, wanted) = (self.spec.to_string(), spec.to_string());
            return Err(NetError::Mismatch { file: "to grow".to_owned(), found, wanted });
        }
        spec.shape.check()?;
        let layout = Layout::new(&spec.shape);
        let mut random = Pcg64::seed_from_u64(seed);
        let weights = self.grow(&self.layout.weights, &self.weights, &layout.weights, &mut random)?;
        let statistics = self.grow(&self.layout.statistics, &self.statistics, &layout.statistics, &mut random)?;
        Ok(Self { spec: spec.clone(), device: self.device, layout, weights, statistics })
    }

    fn grow(&self, old: &Slots, values: &Tensor, new: &Slots, random: &mut Pcg64) -> Result<Tensor, NetError> {
        let mut old_values = vec![0.0_f32; old.count as usize];
        values.f_to_device(Device::CPU.0)?.f_to_kind(Kind::Float)?.f_copy_data(&mut old_values, old.count as usize)?;
        let mut grown = filled(new, random);
        let old_slots: HashMap<&str, &Slot> = old.slots.iter().map(|slot| (slot.name.as_str(), slot)).collect();
        for slot in &new.slots {
            let Some(before) = old_slots.get(slot.name.as_str()) else { continue };
            let [from, to] = [range(before), range(slot)];
            take_over(&old_values[from], Table::of(before), &mut grown[to], Table::of(slot));
        }
        Ok(Tensor::f_from_slice(&grown)?.f_to_device(self.device.0)?)
    }
}

fn range(slot: &Slot) -> std::ops::Range<usize> {
    let start = slot.start as usize;
    start..start + slot.count() as usize
}

/// How the numbers of a weight lie: [outputs, repeats, inputs, kernel].
#[derive(Debug, Clone, Copy)]
struct Table {
    outputs: usize,
    repeats: usize,
    inputs: usize,
    kernel: usize,
}

impl Table {
    fn of(slot: &Slot) -> Self {
        let dims: Vec<usize> = slot.dims.iter().map(|&size| size as usize).collect();
        let (repeats, inputs) = (slot.input_repeats, dims.get(1).copied().unwrap_or(1) / slot.input_repeats);
        Self { outputs: dims[0], repeats, inputs, kernel: dims.iter().skip(2).product() }
    }

    fn at(self, [output, repeat, input]: [usize; 3]) -> std::ops::Range<usize> {
        let start = ((output * self.repeats + repeat) * self.inputs + input) * self.kernel;
        start..start + self.kernel
    }
}

/// Copies what was there into the corner that stands for it; its outputs read nothing of the new inputs.
fn take_over(old: &[f32], old_table: Table, new: &mut [f32], new_table: Table) {
    for output in 0..old_table.outputs {
        for repeat in 0..old_table.repeats {
            for input in 0..new_table.inputs {
                let (to, place) = (new_table.at([output, repeat, input]), [output, repeat, input]);
                if input < old_table.inputs {
                    new[to].copy_from_slice(&old[old_table.at(place)]);
                } else {
                    new[to].fill(0.0);
                }
            }
        }
    }
}
