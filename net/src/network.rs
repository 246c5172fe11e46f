//! Trainable weights, and their files.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tch::{Kind, Tensor};

use crate::file::{Contents, NetworkFile, read_header};
use crate::file_writer::{self, Numbers, Vector};
use crate::header::Header;
use crate::layout::{Fill, Layout, Slots};
use crate::model::{Model, NormConvolution, norm_model};
use crate::named::Named;
use crate::{Device, NetError, NetworkShape, NetworkSpec};

/// A network with all its weights in f32. One thread owns it; it may be sent to another.
pub struct Network {
    pub(crate) spec: NetworkSpec,
    pub(crate) device: Device,
    pub(crate) layout: Layout,
    /// All trainable weights, f32, in the order of `layout.weights`.
    pub(crate) weights: Tensor,
    /// Running means and variances of the batch norms, f32, in the order of `layout.statistics`.
    pub(crate) statistics: Tensor,
}

impl NetworkFile {
    /// Loads the network onto `device`, as what the file says it is.
    ///
    /// # Errors
    /// [`NetError::Corrupt`] if a tensor is missing, damaged or not finite; [`NetError::Torch`] if memory does not
    /// suffice.
    pub fn load(&self, device: Device) -> Result<Network, NetError> {
        self.load_as(&self.spec()?, device)
    }

    /// Loads the network onto `device`, as one of `spec`.
    ///
    /// # Errors
    /// As [`NetworkFile::load`] and [`NetworkFile::expect`].
    pub fn load_as(&self, spec: &NetworkSpec, device: Device) -> Result<Network, NetError> {
        Network::from_contents(&self.contents()?, spec, device)
    }
}

impl Network {
    /// Makes an untrained network. The same seed gives the same weights on every machine.
    ///
    /// # Errors
    /// [`NetError::Settings`] if there can be no such network, [`NetError::Torch`] if memory does not suffice.
    pub fn random(spec: &NetworkSpec, device: Device, seed: u64) -> Result<Self, NetError> {
        spec.shape.check()?;
        let layout = Layout::new(&spec.shape);
        let mut random = Pcg64::seed_from_u64(seed);
        let weights = filled(&layout.weights, &mut random);
        let statistics = filled(&layout.statistics, &mut random);
        let upload = |values: &[f32]| Tensor::f_from_slice(values)?.f_to_device(device.0);
        let (weights, statistics) = (upload(&weights)?, upload(&statistics)?);
        Ok(Self { spec: spec.clone(), device, layout, weights, statistics })
    }

    /// Reads a network (or the network of a checkpoint) from `path` onto `device`, as one of `spec`.
    ///
    /// # Errors
    /// [`NetError::Io`]; [`NetError::Corrupt`]; [`NetError::OtherGame`] or [`NetError::Mismatch`] if the file is not a
    /// network of `spec`.
    pub fn load(path: &Path, spec: &NetworkSpec, device: Device) -> Result<Self, NetError> {
        NetworkFile::read(path)?.load_as(spec, device)
    }

    /// Returns what the network in `path` plays, and its shape, without reading its weights.
    ///
    /// # Errors
    /// [`NetError::Io`], or [`NetError::Corrupt`] (a file of a game or encoding that this program does not know among
    /// them).
    pub fn spec_of(path: &Path) -> Result<NetworkSpec, NetError> {
        let (name, header) = read_header(path)?;
        header.spec(&name)
    }

    /// Checks that the network in `path` can be used as one of `wanted`, without reading its weights.
    ///
    /// # Errors
    /// [`NetError::Io`]; [`NetError::Corrupt`]; [`NetError::OtherGame`] or [`NetError::Mismatch`].
    pub fn check_file(path: &Path, wanted: &NetworkSpec) -> Result<(), NetError> {
        let (name, header) = read_header(path)?;
        header.expect(&name, wanted)
    }

    /// Writes the network to `path` so that the file is there whole or not at all, and returns its SHA-256 in hex.
    ///
    /// # Errors
    /// [`NetError::Io`] naming what the file system refused; an older file of that name is then untouched.
    pub fn save(&self, path: &Path) -> Result<String, NetError> {
        file_writer::write(path, &self.to_bytes()?)
    }

    /// Writes the network as [`Network::save`] does, kernels and matrices in half precision: half the size, for
    /// publication. What is loaded from it differs by one part in 2,000 in each of these weights.
    ///
    /// # Errors
    /// As [`Network::save`].
    pub fn save_half(&self, path: &Path) -> Result<String, NetError> {
        file_writer::write(path, &self.encode(Numbers::Half)?)
    }

    /// Returns the bytes of the file that [`Network::save`] writes: equal weights give equal bytes.
    ///
    /// # Errors
    /// [`NetError::Torch`] if the weights cannot be fetched from the device.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NetError> {
        self.encode(Numbers::Single)
    }

    fn encode(&self, numbers: Numbers) -> Result<Vec<u8>, NetError> {
        file_writer::encode(&Header::network(&self.spec), &self.vectors("")?, numbers)
    }

    /// Returns a copy on `device` that shares no memory with this one.
    ///
    /// # Errors
    /// [`NetError::Torch`] if memory does not suffice.
    pub fn copy_to(&self, device: Device) -> Result<Self, NetError> {
        let copy = |values: &Tensor| values.f_to_device_(device.0, Kind::Float, false, true);
        let (weights, statistics) = (copy(&self.weights)?, copy(&self.statistics)?);
        Ok(Self { spec: self.spec.clone(), device, layout: self.layout.clone(), weights, statistics })
    }

    /// Returns the mean of this network and others: of each weight, and of the statistics of its batch norms. Networks of
    /// one training lie so near to each other that their mean is a network too, and often a better one than any of them
    /// (Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima and Better Generalization").
    ///
    /// # Errors
    /// [`NetError::Torch`] if another one has another shape, or memory does not suffice.
    pub fn mean_with(&self, others: &[Self]) -> Result<Self, NetError> {
        let mut mean = self.copy_to(self.device)?;
        for other in others {
            mean.weights = mean.weights.f_add(&other.weights.f_to_device(self.device.0)?)?;
            mean.statistics = mean.statistics.f_add(&other.statistics.f_to_device(self.device.0)?)?;
        }
        let count = (others.len() + 1) as f64;
        mean.weights = mean.weights.f_div_scalar(count)?;
        mean.statistics = mean.statistics.f_div_scalar(count)?;
        Ok(mean)
    }

    /// Returns what the network plays, and its shape.
    #[must_use]
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> &NetworkShape {
        &self.spec.shape
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

    pub(crate) fn from_contents(contents: &Contents<'_>, spec: &NetworkSpec, device: Device) -> Result<Self, NetError> {
        contents.expect(spec)?;
        spec.shape.check()?;
        let layout = Layout::new(&spec.shape);
        let weights = contents.vector("", &layout.weights, device.0)?;
        let statistics = contents.vector("", &layout.statistics, device.0)?;
        Ok(Self { spec: spec.clone(), device, layout, weights, statistics })
    }

    /// The two flat vectors with their names, as a file wants them.
    pub(crate) fn vectors(&self, prefix: &'static str) -> Result<Vec<Vector<'_>>, NetError> {
        Ok(vec![
            Vector::new(prefix, &self.layout.weights, &self.weights)?,
            Vector::new(prefix, &self.layout.statistics, &self.statistics)?,
        ])
    }

    /// Returns the network as a function. `training`: weights want gradients, batch norms use and update statistics.
    pub(crate) fn model(&self, training: bool) -> Result<(Model<NormConvolution>, Vec<Tensor>), NetError> {
        let weights = Named::new(&[(&self.layout.weights, &self.weights)], training)?;
        let statistics = Named::new(&[(&self.layout.statistics, &self.statistics)], false)?;
        let model = norm_model(self.shape(), &weights, &statistics, training)?;
        let slots = self.layout.weights.slots.iter();
        Ok((model, slots.map(|slot| weights.get(&slot.name)).collect::<Result<_, _>>()?))
    }
}

/// Fills a flat vector as its slots say.
pub(crate) fn filled(slots: &Slots, random: &mut Pcg64) -> Vec<f32> {
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
