//! Where each tensor of a network lies: all trainable weights in one flat vector, all running statistics in another.
//!
//! One vector makes a step of the optimizer, the norm of the gradient and a rollback one operation each, and gives the
//! names of a file of weights one place to be written down.

use crate::settings::{Architecture, NetworkShape, PolicyHead, Trunk};

/// Numbers that a cell offers as the source of a movement, and as many as its target (spatial head).
pub(crate) const EMBEDDING: i64 = 16;

/// How the names of running variances end.
const VARIANCE: &str = ".running_var";

/// How a tensor starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fill {
    /// Normal with variance 2 / fan in (He et al. 2015): convolutions followed by a rectifier.
    Normal {
        deviation: f64,
    },
    /// Uniform in -bound..bound with bound 1 / sqrt(fan in): layers that end in logits or a value.
    Uniform {
        bound: f64,
    },
    Zero,
    One,
}

/// One named tensor inside a flat vector.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub name: String,
    pub dims: Vec<i64>,
    pub start: i64,
    pub fill: Fill,
    /// Whether it is multiplied with each cell that the trunk computes, and not once a position.
    pub is_per_cell: bool,
    /// How often its inputs stand one after the other: once for each cell that a convolution over active cells gathers,
    /// twice where mean and maximum are read.
    pub input_repeats: usize,
}

impl Slot {
    pub(crate) fn count(&self) -> i64 {
        self.dims.iter().product()
    }

    /// Returns whether the numbers are running variances, which are never below 0.
    pub(crate) fn is_variance(&self) -> bool {
        self.name.ends_with(VARIANCE)
    }
}

/// The tensors of one flat vector, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots {
    pub slots: Vec<Slot>,
    pub count: i64,
}

impl Slots {
    fn add(&mut self, name: String, dims: &[i64], fill: Fill) {
        let slot = Slot { name, dims: dims.to_vec(), start: self.count, fill, is_per_cell: false, input_repeats: 1 };
        self.count += slot.count();
        self.slots.push(slot);
    }

    /// Notes that the newest slot of this name is multiplied with each cell.
    fn mark_per_cell(&mut self, name: &str) {
        if let Some(slot) = self.slots.iter_mut().rfind(|slot| slot.name == name) {
            slot.is_per_cell = true;
        }
    }

    /// Notes how often the inputs of the newest slot of this name are repeated.
    fn repeat_inputs(&mut self, name: &str, repeats: usize) {
        if let Some(slot) = self.slots.iter_mut().rfind(|slot| slot.name == name) {
            slot.input_repeats = repeats;
        }
    }

    /// Changes the start of the newest slot whose name ends so.
    fn fill_last(&mut self, ending: &str, fill: Fill) {
        if let Some(slot) = self.slots.iter_mut().rfind(|slot| slot.name.ends_with(ending)) {
            slot.fill = fill;
        }
    }
}

/// All tensors of a network of one shape.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub weights: Slots,
    pub statistics: Slots,
}

/// What one output number of a convolution reads.
#[derive(Debug, Clone, Copy)]
enum Kernel {
    /// A square of this many cells a side.
    Square(i64),
    /// This many cells: the cell itself, then its neighbours.
    Neighbours(i64),
}

impl Layout {
    pub(crate) fn new(shape: &NetworkShape) -> Self {
        let mut layout = Self { weights: Slots::default(), statistics: Slots::default() };
        match shape.settings.architecture {
            Architecture::Residual => layout.residual(shape),
            Architecture::DamaCnn => layout.plain(shape),
        }
        layout.affine("value.output", 1, i64::from(shape.settings.value_hidden));
        if shape.settings.outlook_heads {
            layout.affine("outlook.pieces", 1, i64::from(shape.settings.filters));
            layout.affine("outlook.ending", shape.ending_count as i64, i64::from(shape.settings.value_hidden));
        }
        layout
    }

    fn residual(&mut self, shape: &NetworkShape) {
        let filters = i64::from(shape.settings.filters);
        let hidden = i64::from(shape.settings.value_hidden);
        let cells = shape.cell_count() as i64;
        let kernel = match shape.neighbourhood {
            None => Kernel::Square(3),
            Some(neighbourhood) => Kernel::Neighbours(1 + neighbourhood.offsets().len() as i64),
        };
        self.norm_convolution("first", filters, shape.planes.planes as i64, kernel);
        for block in 0..shape.settings.blocks {
            self.norm_convolution(&format!("block.{block}.first"), filters, filters, kernel);
            self.norm_convolution(&format!("block.{block}.second"), filters, filters, kernel);
            // Every block starts as the identity (Goyal et al. 2017): otherwise an untrained network, whose batch
            // norms have seen nothing yet, doubles its activations' variance in each block and shouts at random.
            self.weights.fill_last(".norm.weight", Fill::Zero);
            if shape.settings.pools_in(block) {
                let name = format!("block.{block}.pool");
                // At first it adds nothing.
                self.pooled_affine(&name, filters, filters);
                self.weights.fill_last(".pool.weight", Fill::Zero);
            }
        }
        match shape.settings.policy_head {
            PolicyHead::Full => {
                let kernel = if shape.neighbourhood.is_none() { Kernel::Square(1) } else { kernel };
                self.norm_convolution("policy.convolution", 2, filters, kernel);
                self.affine("policy.output", shape.policy_size as i64, 2 * cells);
            }
            PolicyHead::Spatial => {
                self.affine("policy.maps", map_count(shape), filters);
                self.weights.mark_per_cell("policy.maps.weight");
            }
        }
        match shape.settings.trunk {
            Trunk::Frame => {
                self.norm_convolution("value.convolution", 1, filters, Kernel::Square(1));
                self.affine("value.hidden", hidden, cells);
            }
            Trunk::Cells => self.pooled_affine("value.hidden", hidden, filters),
        }
    }

    fn plain(&mut self, shape: &NetworkShape) {
        let filters = i64::from(shape.settings.filters);
        let flat = filters * shape.cell_count() as i64 + shape.feature_count as i64;
        self.norm_convolution("first", filters, shape.map_plane_count() as i64, Kernel::Square(3));
        for number in 1..shape.settings.blocks {
            self.norm_convolution(&format!("plain.{number}"), filters, filters, Kernel::Square(3));
        }
        self.affine("policy.output", shape.policy_size as i64, flat);
        self.affine("value.hidden", i64::from(shape.settings.value_hidden), flat);
    }

    /// A convolution without bias, and its batch norm.
    fn norm_convolution(&mut self, name: &str, outputs: i64, inputs: i64, kernel: Kernel) {
        let dims = match kernel {
            Kernel::Square(size) => vec![outputs, inputs, size, size],
            Kernel::Neighbours(count) => vec![outputs, count * inputs],
        };
        let deviation = (2.0 / dims[1..].iter().product::<i64>() as f64).sqrt();
        self.weights.add(format!("{name}.weight"), &dims, Fill::Normal { deviation });
        self.weights.mark_per_cell(&format!("{name}.weight"));
        if let Kernel::Neighbours(count) = kernel {
            self.weights.repeat_inputs(&format!("{name}.weight"), count as usize);
        }
        self.weights.add(format!("{name}.norm.weight"), &[outputs], Fill::One);
        self.weights.add(format!("{name}.norm.bias"), &[outputs], Fill::Zero);
        self.statistics.add(format!("{name}.norm.running_mean"), &[outputs], Fill::Zero);
        self.statistics.add(format!("{name}.norm{VARIANCE}"), &[outputs], Fill::One);
    }

    /// A fully connected layer behind mean and maximum of each filter.
    fn pooled_affine(&mut self, name: &str, outputs: i64, filters: i64) {
        self.affine(name, outputs, 2 * filters);
        self.weights.repeat_inputs(&format!("{name}.weight"), 2);
    }

    fn affine(&mut self, name: &str, outputs: i64, inputs: i64) {
        let bound = 1.0 / (inputs as f64).sqrt();
        self.weights.add(format!("{name}.weight"), &[outputs, inputs], Fill::Uniform { bound });
        self.weights.add(format!("{name}.bias"), &[outputs], Fill::Zero);
    }
}

/// Numbers that the spatial head computes for each cell: a map a placement kind, then source, then target embedding.
pub(crate) fn map_count(shape: &NetworkShape) -> i64 {
    shape.placement_kinds as i64 + 2 * EMBEDDING
}
