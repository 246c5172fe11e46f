//! Writing network files, so that a file is there whole or not at all. Format: docs/training.md.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use half::f16;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use sha2::{Digest, Sha256};
use tch::Tensor;

use crate::NetError;
use crate::error::io_error;
use crate::file_numbers::{hex, numbers_of, numbers_sha256};
use crate::header::Header;
use crate::layout::{Slot, Slots};

/// The numbers of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// 32 bits: what training goes on from.
    Single,
    /// Kernels and matrices in 16 bits (IEEE 754 half precision), vectors in 32: half the size, for publication.
    Half,
}

/// A flat vector on its way into a file.
pub(crate) struct Vector<'a> {
    prefix: &'static str,
    slots: &'a Slots,
    /// f32, little endian.
    bytes: Vec<u8>,
}

impl<'a> Vector<'a> {
    /// Fetches `values` from its device. Names become `prefix` + name of the slot.
    pub(crate) fn new(prefix: &'static str, slots: &'a Slots, values: &Tensor) -> Result<Self, NetError> {
        let mut bytes = vec![0; slots.count as usize * 4];
        values.f_copy_data_u8(&mut bytes, slots.count as usize)?;
        Ok(Self { prefix, slots, bytes })
    }

    /// Returns the numbers of `slot` as they stand in the file.
    fn tensor(&self, slot: &Slot, numbers: Numbers) -> (Dtype, Cow<'_, [u8]>) {
        let bytes = &self.bytes[slot.start as usize * 4..(slot.start + slot.count()) as usize * 4];
        let half = (numbers == Numbers::Half && slot.dims.len() > 1).then(|| half_of(bytes)).flatten();
        half.map_or((Dtype::F32, bytes.into()), |half| (Dtype::F16, half.into()))
    }
}

/// Returns numbers in half precision; `None` if one is too large for it.
fn half_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut half = Vec::with_capacity(bytes.len() / 2);
    for value in numbers_of(bytes, f32::from_le_bytes) {
        let value = f16::from_f32(value);
        value.is_finite().then(|| half.extend_from_slice(&value.to_le_bytes()))?;
    }
    Some(half)
}

/// Returns the bytes of a file.
pub(crate) fn encode(header: &Header, vectors: &[Vector<'_>], numbers: Numbers) -> Result<Vec<u8>, NetError> {
    let refused = |reason: String| NetError::Corrupt { file: "(new)".to_owned(), reason };
    let slots = vectors.iter().flat_map(|vector| vector.slots.slots.iter().map(move |slot| (vector, slot)));
    let tensors: Vec<_> = slots.map(|(vector, slot)| (vector.prefix, slot, vector.tensor(slot, numbers))).collect();
    let mut views = Vec::with_capacity(tensors.len());
    for (prefix, slot, (dtype, bytes)) in &tensors {
        let dims = slot.dims.iter().map(|&dim| dim as usize).collect();
        let view = TensorView::new(*dtype, dims, bytes).map_err(|error| refused(error.to_string()))?;
        views.push((format!("{prefix}{}", slot.name), view));
    }
    let sha256 = numbers_sha256(views.iter().map(|(name, view)| (name.as_str(), view.data())).collect());
    let mut header = header.clone();
    header.sha256 = sha256;
    let metadata = header.to_metadata().map_err(|error| refused(error.to_string()))?;
    safetensors::serialize(views, Some(metadata)).map_err(|error| refused(error.to_string()))
}

/// Writes `bytes` beside `path`, syncs, renames, syncs the folder. Returns the SHA-256 of the file in hex.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<String, NetError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = folder.join(name);
    let written =
        write_synced(&part, bytes).and_then(|()| fs::rename(&part, path).map_err(io_error(path, "rename it")));
    if let Err(error) = written {
        // Whether or not it can be removed, the error to report is the first one.
        let _ = fs::remove_file(&part);
        return Err(error);
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_error(path, "sync its folder"))?;
    Ok(hex(&Sha256::digest(bytes)))
}

fn write_synced(part: &Path, bytes: &[u8]) -> Result<(), NetError> {
    let mut file = File::create(part).map_err(io_error(part, "create it"))?;
    file.write_all(bytes).map_err(io_error(part, "write it"))?;
    file.sync_all().map_err(io_error(part, "sync it"))
}
