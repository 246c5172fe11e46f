//! Trainable weights, and their files.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tch::{Kind, Tensor};

use crate::file::{self, Contents, Header};
use crate::layout::{Fill, Layout, Slots};
use crate::model::{Model, Named, NormConvolution, norm_model};
use crate::{Device, NetError, NetworkShape};

/// A network with all its weights in f32. One thread owns it; it may be sent to another.
pub struct Network {
    pub(crate) shape: NetworkShape,
    pub(crate) device: Device,
    pub(crate) layout: Layout,
    /// All trainable weights, f32, in the order of `layout.weights`.
    pub(crate) weights: Tensor,
    /// Running means and variances of the batch norms, f32, in the order of `layout.statistics`.
    pub(crate) statistics: Tensor,
}

impl Network {
    /// Makes an untrained network. The same seed gives the same weights on every machine.
    ///
    /// # Errors
    /// [`NetError::Settings`] if there can be no such network, [`NetError::Torch`] if memory does not suffice.
    pub fn random(shape: &NetworkShape, device: Device, seed: u64) -> Result<Self, NetError> {
        shape.check()?;
        let layout = Layout::new(shape);
        let mut random = Pcg64::seed_from_u64(seed);
        let weights = filled(&layout.weights, &mut random);
        let statistics = filled(&layout.statistics, &mut random);
        let upload = |values: &[f32]| Tensor::f_from_slice(values)?.f_to_device(device.0);
        let (weights, statistics) = (upload(&weights)?, upload(&statistics)?);
        Ok(Self { shape: *shape, device, layout, weights, statistics })
    }

    /// Reads a network (or the network of a checkpoint) from `path` onto `device`.
    ///
    /// # Errors
    /// [`NetError::Io`], [`NetError::Corrupt`], or [`NetError::Mismatch`] if the file's shape is not `shape`.
    pub fn load(path: &Path, shape: &NetworkShape, device: Device) -> Result<Self, NetError> {
        Self::from_contents(&file::read(path)?.contents()?, shape, device)
    }

    /// Reads a network from the bytes of a file.
    ///
    /// # Errors
    /// As [`Network::load`].
    pub fn from_bytes(bytes: &[u8], shape: &NetworkShape, device: Device) -> Result<Self, NetError> {
        Self::from_contents(&Contents::parse("(bytes)", bytes)?, shape, device)
    }

    /// Reads the shape of the network in `path` without its weights.
    ///
    /// # Errors
    /// [`NetError::Io`] or [`NetError::Corrupt`].
    pub fn shape_of(path: &Path) -> Result<NetworkShape, NetError> {
        Ok(file::read_header(path)?.shape)
    }

    /// Writes the network to `path` so that the file is there whole or not at all, and returns its SHA-256 in hex.
    ///
    /// # Errors
    /// [`NetError::Io`] naming what the file system refused; an older file of that name is then untouched.
    pub fn save(&self, path: &Path) -> Result<String, NetError> {
        file::write(path, &self.to_bytes()?)
    }

    /// Returns the bytes of the file that [`Network::save`] writes: equal weights give equal bytes.
    ///
    /// # Errors
    /// [`NetError::Torch`] if the weights cannot be fetched from the device.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NetError> {
        file::encode(&Header::network(self.shape), &self.vectors("")?)
    }

    /// Returns a copy on `device` that shares no memory with this one.
    ///
    /// # Errors
    /// [`NetError::Torch`] if memory does not suffice.
    pub fn copy_to(&self, device: Device) -> Result<Self, NetError> {
        let copy = |values: &Tensor| values.f_to_device_(device.0, Kind::Float, false, true);
        let (weights, statistics) = (copy(&self.weights)?, copy(&self.statistics)?);
        Ok(Self { shape: self.shape, device, layout: self.layout.clone(), weights, statistics })
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> &NetworkShape {
        &self.shape
    }

    /// Returns the device that holds the weights.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the number of trainable weights.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        self.layout.weights.count as usize
    }

    pub(crate) fn from_contents(
        contents: &Contents<'_>,
        shape: &NetworkShape,
        device: Device,
    ) -> Result<Self, NetError> {
        contents.expect_shape(shape)?;
        shape.check()?;
        let layout = Layout::new(shape);
        let weights = contents.vector("", &layout.weights, device.0)?;
        let statistics = contents.vector("", &layout.statistics, device.0)?;
        Ok(Self { shape: *shape, device, layout, weights, statistics })
    }

    /// The two flat vectors with their names, as a file wants them.
    pub(crate) fn vectors(&self, prefix: &'static str) -> Result<Vec<file::Vector<'_>>, NetError> {
        Ok(vec![
            file::Vector::new(prefix, &self.layout.weights, &self.weights)?,
            file::Vector::new(prefix, &self.layout.statistics, &self.statistics)?,
        ])
    }

    /// Returns the network as a function. `training`: weights want gradients, batch norms use and update statistics.
    pub(crate) fn model(&self, training: bool) -> Result<(Model<NormConvolution>, Vec<Tensor>), NetError> {
        let weights = Named::new(&[(&self.layout.weights, &self.weights)], training)?;
        let statistics = Named::new(&[(&self.layout.statistics, &self.statistics)], false)?;
        let model = norm_model(&self.shape, &weights, &statistics, training)?;
        let slots = self.layout.weights.slots.iter();
        Ok((model, slots.map(|slot| weights.get(&slot.name)).collect::<Result<_, _>>()?))
    }
}

/// Fills a flat vector as its slots say.
fn filled(slots: &Slots, random: &mut Pcg64) -> Vec<f32> {
    let mut values = Vec::with_capacity(slots.count as usize);
    for slot in &slots.slots {
        let count = slot.count() as usize;
        match slot.fill {
            Fill::Zero => values.extend(std::iter::repeat_n(0.0, count)),
            Fill::One => values.extend(std::iter::repeat_n(1.0, count)),
            Fill::Uniform { bound } => {
                values.extend((0..count).map(|_| random.random_range(-bound..bound) as f32));
            }
            Fill::Normal { deviation } => values.extend((0..count).map(|_| (deviation * normal(random)) as f32)),
        }
    }
    values
}

/// A normal number by Box and Muller, the second of the pair not used.
fn normal(random: &mut Pcg64) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}
