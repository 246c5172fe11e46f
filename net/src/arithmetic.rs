//! How much arithmetic a network is: what an evaluation costs, whatever computes it.

use crate::layout::Layout;
use crate::settings::{NetworkShape, Trunk};

/// Floating-point operations of an evaluation; a multiplication and the addition behind it are two.
///
/// Counted are convolutions, with the zeros beyond an edge, and fully connected layers. Batch norm (folded into the
/// convolutions), rectifiers and the reading of logits are left out: below 2 % of the whole from 32 filters on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arithmetic {
    per_position: u64,
    per_active_cell: u64,
    cell_count: u64,
}

impl Arithmetic {
    /// Operations of a training step for each one of an evaluation: a forward pass, and a backward pass that computes
    /// the gradients of both numbers and weights (Kaplan et al. 2020, "Scaling Laws for Neural Language Models", 2.1).
    pub const TRAINING_FACTOR: f64 = 3.0;

    /// Returns the operations of evaluating so many positions, which have so many active cells together. A trunk of the
    /// frame computes all cells, whichever are active.
    #[must_use]
    pub fn evaluation_flop(&self, position_count: u64, active_cell_count: u64) -> f64 {
        self.per_position as f64 * position_count as f64 + self.per_active_cell as f64 * active_cell_count as f64
    }

    /// Returns the operations of evaluating one position of which every cell is active: no position takes more.
    #[must_use]
    pub fn evaluation_flop_max(&self) -> f64 {
        self.evaluation_flop(1, self.cell_count)
    }
}

impl NetworkShape {
    /// Returns the number of trainable weights of a network of this shape.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        Layout::new(self).weights.count as usize
    }

    /// Returns how much arithmetic an evaluation by a network of this shape is.
    #[must_use]
    pub fn arithmetic(&self) -> Arithmetic {
        let (mut once, mut each_cell) = (0, 0);
        // Matrices and kernels are multiplied; biases and batch norms, which have one dimension, are not counted.
        for slot in Layout::new(self).weights.slots.iter().filter(|slot| slot.dims.len() > 1) {
            *if slot.is_per_cell { &mut each_cell } else { &mut once } += 2 * slot.count() as u64;
        }
        let cell_count = self.cell_count() as u64;
        match self.settings.trunk {
            Trunk::Frame => Arithmetic { per_position: once + each_cell * cell_count, per_active_cell: 0, cell_count },
            Trunk::Cells => Arithmetic { per_position: once, per_active_cell: each_cell, cell_count },
        }
    }
}

#[cfg(test)]
mod tests {
    use shared::encoding::{Neighbourhood, PlaneShape};

    use super::*;
    use crate::{Architecture, NetworkSettings, PolicyHead};

    /// Two blocks of eight filters on 5 x 5 cells, 200 policy indices.
    fn shape(
        architecture: Architecture,
        policy_head: PolicyHead,
        neighbourhood: Option<Neighbourhood>,
    ) -> NetworkShape {
        let trunk = if neighbourhood.is_some() { Trunk::Cells } else { Trunk::Frame };
        NetworkShape {
            planes: PlaneShape { planes: 4, rows: 5, columns: 5 },
            policy_size: 200,
            placement_kinds: 3,
            neighbourhood,
            feature_count: usize::from(architecture == Architecture::DamaCnn),
            ending_count: 0,
            settings: NetworkSettings {
                architecture,
                blocks: 2,
                filters: 8,
                trunk,
                policy_head,
                value_hidden: 16,
                global_pooling_every: 0,
                outlook_heads: false,
            },
        }
    }

    #[test]
    fn the_operations_of_small_networks_are_those_counted_by_hand() {
        let flop = |architecture, head, neighbourhood| {
            let arithmetic = shape(architecture, head, neighbourhood).arithmetic();
            [arithmetic.evaluation_flop(1, 0), arithmetic.evaluation_flop(0, 1)]
        };
        let (residual, hexagon) = (Architecture::Residual, Some(Neighbourhood::Hexagon));
        // Multiply-adds of a frame: the first convolution, two blocks of two.
        let trunk = 4.0 * 9.0 * 8.0 * 25.0 + 4.0 * (8.0 * 9.0 * 8.0 * 25.0);
        let value = 8.0 * 25.0 + 25.0 * 16.0 + 16.0;
        assert_eq!(flop(residual, PolicyHead::Spatial, None), [2.0 * (trunk + (3.0 + 32.0) * 8.0 * 25.0 + value), 0.0]);
        let full = 8.0 * 2.0 * 25.0 + 50.0 * 200.0;
        assert_eq!(flop(residual, PolicyHead::Full, None), [2.0 * (trunk + full + value), 0.0]);
        // A cell and its six neighbours; the value reads mean and maximum of eight filters.
        let (trunk, value) = (7.0 * 4.0 * 8.0 + 4.0 * (7.0 * 8.0 * 8.0), 16.0 * 16.0 + 16.0);
        let spatial = flop(residual, PolicyHead::Spatial, hexagon);
        assert_eq!(spatial, [2.0 * value, 2.0 * (trunk + 35.0 * 8.0)]);
        let full = flop(residual, PolicyHead::Full, hexagon);
        assert_eq!(full, [2.0 * (value + 50.0 * 200.0), 2.0 * (trunk + 7.0 * 8.0 * 2.0)]);
        // Two convolutions, the last plane as a number beside 200 of the trunk.
        let trunk = 3.0 * 9.0 * 8.0 * 25.0 + 8.0 * 9.0 * 8.0 * 25.0;
        let heads = 201.0 * 200.0 + 201.0 * 16.0 + 16.0;
        assert_eq!(flop(Architecture::DamaCnn, PolicyHead::Full, None), [2.0 * (trunk + heads), 0.0]);
    }

    #[test]
    fn no_position_takes_more_than_one_with_every_cell_active() {
        let frame = shape(Architecture::Residual, PolicyHead::Full, None).arithmetic();
        assert_eq!(frame.evaluation_flop_max(), frame.evaluation_flop(1, 7));
        let cells = shape(Architecture::Residual, PolicyHead::Full, Some(Neighbourhood::Hexagon)).arithmetic();
        assert_eq!(cells.evaluation_flop_max(), cells.evaluation_flop(1, 25));
    }
}
