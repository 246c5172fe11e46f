//! Files of weights: safetensors with one metadata entry, written so that a file is there whole or not at all.
//!
//! The entry `alveare` holds a JSON object: format version, shape, training step, whatever the caller adds, and the
//! SHA-256 of all numbers, so that a flipped bit is found too. Format: docs/training.md.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tch::{Kind, Tensor};

use crate::layout::Slots;
use crate::{NetError, NetworkShape};

/// Version of names, order and metadata. A reader refuses any other.
const FORMAT: u32 = 1;
/// Name of the metadata entry.
const ENTRY: &str = "alveare";
/// Headers beyond this are not ours: the largest network's takes 60 kB.
const HEADER_BYTES_MAX: u64 = 16 << 20;

/// The metadata of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Header {
    pub format: u32,
    pub shape: NetworkShape,
    /// Steps trained so far; `None` in a file without momentum.
    pub training_step: Option<u64>,
    pub extra: BTreeMap<String, String>,
    sha256: String,
}

impl Header {
    pub(crate) fn network(shape: NetworkShape) -> Self {
        Self { format: FORMAT, shape, training_step: None, extra: BTreeMap::new(), sha256: String::new() }
    }

    pub(crate) fn checkpoint(shape: NetworkShape, training_step: u64, extra: BTreeMap<String, String>) -> Self {
        Self { training_step: Some(training_step), extra, ..Self::network(shape) }
    }

    fn parse(file: &str, metadata: Option<&HashMap<String, String>>) -> Result<Self, NetError> {
        let corrupt = |reason: String| NetError::Corrupt { file: file.to_owned(), reason };
        let text = metadata.and_then(|metadata| metadata.get(ENTRY));
        let text =
            text.ok_or_else(|| corrupt(format!("has no metadata named {ENTRY}: not written by this program")))?;
        let header: Self = serde_json::from_str(text).map_err(|error| corrupt(format!("metadata: {error}")))?;
        if header.format != FORMAT {
            return Err(corrupt(format!("format version {}, this program reads {FORMAT}", header.format)));
        }
        Ok(header)
    }
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
}

/// Returns the bytes of a file.
pub(crate) fn encode(header: &Header, vectors: &[Vector<'_>]) -> Result<Vec<u8>, NetError> {
    let refused = |reason: String| NetError::Corrupt { file: "(new)".to_owned(), reason };
    let mut views = Vec::new();
    for vector in vectors {
        for slot in &vector.slots.slots {
            let dims = slot.dims.iter().map(|&dim| dim as usize).collect();
            let range = slot.start as usize * 4..(slot.start + slot.count()) as usize * 4;
            let view = TensorView::new(Dtype::F32, dims, &vector.bytes[range]);
            views.push((format!("{}{}", vector.prefix, slot.name), view.map_err(|error| refused(error.to_string()))?));
        }
    }
    let sha256 = numbers_sha256(views.iter().map(|(name, view)| (name.as_str(), view.data())).collect());
    let header = Header { sha256, ..header.clone() };
    let text = serde_json::to_string(&header).map_err(|error| refused(error.to_string()))?;
    let metadata = HashMap::from([(ENTRY.to_owned(), text)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| refused(error.to_string()))
}

/// Returns the SHA-256 in hex of all tensors, names included, in the order of their names.
fn numbers_sha256(mut tensors: Vec<(&str, &[u8])>) -> String {
    tensors.sort_unstable_by_key(|&(name, _)| name);
    let mut hash = Sha256::new();
    for (name, numbers) in tensors {
        hash.update(name.as_bytes());
        hash.update(numbers);
    }
    hex(&hash.finalize())
}

/// The bytes of a file, and its name for errors.
pub(crate) struct Bytes {
    file: String,
    bytes: Vec<u8>,
}

impl Bytes {
    pub(crate) fn contents(&self) -> Result<Contents<'_>, NetError> {
        Contents::parse(&self.file, &self.bytes)
    }
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Bytes, NetError> {
    let bytes = fs::read(path).map_err(io_error(path, "read it"))?;
    Ok(Bytes { file: path.display().to_string(), bytes })
}

/// Reads the metadata of a file and leaves its tensors alone.
pub(crate) fn read_header(path: &Path) -> Result<Header, NetError> {
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
        return Err(corrupt("it is no .safetensors file".into()));
    }
    let mut text = vec![0; length as usize];
    file.read_exact(&mut text).map_err(|_| corrupt("cut off inside the header".into()))?;
    let metadata: Metadata = serde_json::from_slice(&text).map_err(|error| corrupt(format!("header: {error}")))?;
    Header::parse(&name, metadata.metadata.as_ref())
}

/// A parsed file.
pub(crate) struct Contents<'a> {
    file: String,
    pub header: Header,
    tensors: SafeTensors<'a>,
}

impl<'a> Contents<'a> {
    pub(crate) fn parse(file: &str, bytes: &'a [u8]) -> Result<Self, NetError> {
        let corrupt = |error: safetensors::SafeTensorError| NetError::Corrupt {
            file: file.to_owned(),
            reason: format!("not a whole safetensors file: {error}"),
        };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(corrupt)?;
        let header = Header::parse(file, metadata.metadata().as_ref())?;
        let tensors = SafeTensors::deserialize(bytes).map_err(corrupt)?;
        let contents = Self { file: file.to_owned(), header, tensors };
        let found = numbers_sha256(contents.tensors.iter().map(|(name, view)| (name, view.data())).collect());
        if found != contents.header.sha256 {
            return Err(contents.corrupt("its numbers are not those that were written (SHA-256 differs)".into()));
        }
        Ok(contents)
    }

    /// Refuses a file of another shape.
    pub(crate) fn expect_shape(&self, wanted: &NetworkShape) -> Result<(), NetError> {
        if self.header.shape == *wanted {
            return Ok(());
        }
        let (found, wanted) = (self.header.shape.to_string(), wanted.to_string());
        Err(NetError::Mismatch { file: self.file.clone(), found, wanted })
    }

    /// Returns the flat vector of `slots`, f32, on `device`.
    pub(crate) fn vector(&self, prefix: &str, slots: &Slots, device: tch::Device) -> Result<Tensor, NetError> {
        let bytes = self.gather(prefix, slots)?;
        Ok(Tensor::f_from_data_size(&bytes, &[slots.count], Kind::Float)?.f_to_device(device)?)
    }

    fn gather(&self, prefix: &str, slots: &Slots) -> Result<Vec<u8>, NetError> {
        let mut bytes = Vec::with_capacity(slots.count as usize * 4);
        for slot in &slots.slots {
            let name = format!("{prefix}{}", slot.name);
            let tensor = self.tensors.tensor(&name).map_err(|_| self.corrupt(format!("has no tensor {name}")))?;
            let dims_agree = tensor.shape().iter().map(|&dim| dim as i64).eq(slot.dims.iter().copied());
            if tensor.dtype() != Dtype::F32 || !dims_agree {
                let found = format!("{:?} {:?}", tensor.dtype(), tensor.shape());
                return Err(self.corrupt(format!("tensor {name} is {found}, expected F32 {:?}", slot.dims)));
            }
            bytes.extend_from_slice(tensor.data());
        }
        Ok(bytes)
    }

    pub(crate) fn corrupt(&self, reason: String) -> NetError {
        NetError::Corrupt { file: self.file.clone(), reason }
    }
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

fn io_error(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> NetError {
    let path: PathBuf = path.to_owned();
    move |source| NetError::Io { path, action, source }
}

fn hex(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
