//! Reading network files: safetensors with one metadata entry.
//!
//! The entry ([`Header`]) says what the network plays and how it is built, and holds the SHA-256 of all numbers, so
//! that a flipped bit is found too. Format: docs/training.md.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use half::f16;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use tch::Tensor;

use crate::error::io_error;
use crate::file_numbers::{numbers_of, numbers_sha256};
use crate::header::Header;
use crate::layout::{Slot, Slots};
use crate::{NetError, NetworkSpec};

/// Headers beyond this are not ours: the largest network's takes 60 kB.
const HEADER_BYTES_MAX: u64 = 16 << 20;

/// A network file in memory: what it plays may be asked before its weights are loaded.
pub struct NetworkFile {
    /// Its path, or what else names it in errors.
    name: String,
    bytes: Cow<'static, [u8]>,
    header: Header,
}

impl NetworkFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`NetError::Io`], or [`NetError::Corrupt`] if it is not a network file.
    pub fn read(path: &Path) -> Result<Self, NetError> {
        let bytes = fs::read(path).map_err(io_error(path, "read it"))?;
        Self::from_bytes(path.display().to_string(), bytes)
    }

    /// Takes the bytes of a file, which errors call `name`.
    ///
    /// # Errors
    /// [`NetError::Corrupt`] if they are not a network file.
    pub fn from_bytes(name: impl Into<String>, bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, NetError> {
        let (name, bytes) = (name.into(), bytes.into());
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(not_whole(&name))?;
        let header = Header::parse(&name, metadata.metadata().as_ref())?;
        Ok(Self { name, bytes, header })
    }

    /// Returns what errors call the file: its path, as a rule.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns what the network plays, and its shape.
    ///
    /// # Errors
    /// [`NetError::Corrupt`] if the file was made for a game or an encoding that this program does not know.
    pub fn spec(&self) -> Result<NetworkSpec, NetError> {
        self.header.spec(&self.name)
    }

    /// Checks that the network can be used as one of `wanted`.
    ///
    /// # Errors
    /// [`NetError::OtherGame`] or [`NetError::Mismatch`].
    pub fn expect(&self, wanted: &NetworkSpec) -> Result<(), NetError> {
        self.header.expect(&self.name, wanted)
    }

    /// Returns the tensors, whose numbers are those that were written.
    pub(crate) fn contents(&self) -> Result<Contents<'_>, NetError> {
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(not_whole(&self.name))?;
        let contents = Contents { file: self, tensors };
        let found = numbers_sha256(contents.tensors.iter().map(|(name, view)| (name, view.data())).collect());
        if found != self.header.sha256 {
            return Err(contents.corrupt("its numbers are not those that were written (SHA-256 differs)".into()));
        }
        Ok(contents)
    }
}

fn not_whole(name: &str) -> impl Fn(safetensors::SafeTensorError) -> NetError {
    move |error| NetError::Corrupt { file: name.to_owned(), reason: format!("not a whole safetensors file: {error}") }
}

/// The tensors of a file.
pub(crate) struct Contents<'a> {
    file: &'a NetworkFile,
    tensors: SafeTensors<'a>,
}

impl Contents<'_> {
    pub(crate) fn header(&self) -> &Header {
        &self.file.header
    }

    /// Refuses a file that cannot be used as a network of `wanted`.
    pub(crate) fn expect(&self, wanted: &NetworkSpec) -> Result<(), NetError> {
        self.file.expect(wanted)
    }

    /// Returns the flat vector of `slots`, f32, on `device`.
    pub(crate) fn vector(&self, prefix: &str, slots: &Slots, device: tch::Device) -> Result<Tensor, NetError> {
        // A damaged header may ask for more numbers than the file can hold.
        let mut values = Vec::with_capacity((slots.count as usize).min(self.file.bytes.len() / size_of::<f16>()));
        for slot in &slots.slots {
            self.read_tensor(&format!("{prefix}{}", slot.name), slot, &mut values)?;
        }
        Ok(Tensor::f_from_slice(&values)?.f_to_device(device)?)
    }

    /// Appends the numbers of the tensor `name`, which must be as `slot` says, and be numbers that a network may have.
    fn read_tensor(&self, name: &str, slot: &Slot, values: &mut Vec<f32>) -> Result<(), NetError> {
        let tensor = self.tensors.tensor(name).map_err(|_| self.corrupt(format!("has no tensor {name}")))?;
        let dims_agree = tensor.shape().iter().map(|&dim| dim as i64).eq(slot.dims.iter().copied());
        let start = values.len();
        match tensor.dtype() {
            Dtype::F32 if dims_agree => values.extend(numbers_of(tensor.data(), f32::from_le_bytes)),
            Dtype::F16 if dims_agree => {
                values.extend(numbers_of(tensor.data(), |bytes| f16::from_le_bytes(bytes).to_f32()));
            }
            dtype => {
                let found = format!("{dtype:?} {:?}", tensor.shape());
                return Err(self.corrupt(format!("tensor {name} is {found}, expected F32 or F16 {:?}", slot.dims)));
            }
        }
        let read = &values[start..];
        if !read.iter().all(|value| value.is_finite()) {
            return Err(self.corrupt(format!("tensor {name} holds a number that is not finite")));
        }
        if slot.is_variance() && read.iter().any(|&value| value < 0.0) {
            return Err(self.corrupt(format!("tensor {name} holds a variance below 0")));
        }
        Ok(())
    }

    pub(crate) fn corrupt(&self, reason: String) -> NetError {
        NetError::Corrupt { file: self.file.name.clone(), reason }
    }
}

/// Reads the metadata of a file and leaves its tensors alone. Returns them with the file's name.
pub(crate) fn read_header(path: &Path) -> Result<(String, Header), NetError> {
    #[derive(Deserialize)]
    struct Metadata {
        #[serde(rename = "__metadata__")]
        metadata: Option<HashMap<String, String>>,
    }
    let name = path.display().to_string();
    let corrupt = |reason: String| NetError::Corrupt { file: name.clone(), reason };
    let mut file = File::open(path).map_err(io_error(path, "open it"))?;
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|_| corrupt("shorter than a header".into()))?;
    let length = u64::from_le_bytes(length);
    if length > HEADER_BYTES_MAX {
        return Err(corrupt("it is not a .safetensors file".into()));
    }
    let mut text = vec![0; length as usize];
    file.read_exact(&mut text).map_err(|_| corrupt("cut off inside the header".into()))?;
    let metadata: Metadata = serde_json::from_slice(&text).map_err(|error| corrupt(format!("header: {error}")))?;
    let header = Header::parse(&name, metadata.metadata.as_ref())?;
    Ok((name, header))
}
