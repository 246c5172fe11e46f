//! Files in chunks that are named by their SHA-256: what is the same as before is not stored again, and no file has to
//! fit into memory.
//!
//! SQLite changes a page where it is, and a run appends: most chunks of the database are those of the copy before.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// Bytes of a chunk before it is compressed: small enough that few new pages make few new bytes, large enough that a
/// database of 10 GB is ten thousand objects.
pub const CHUNK_BYTES: u64 = 1 << 20;
/// Most bytes of a chunk that a manifest may name.
pub const CHUNK_BYTES_MAX: u64 = 64 << 20;

/// A SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChunkId([u8; 32]);

impl ChunkId {
    /// Returns the SHA-256 of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl Serialize for ChunkId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ChunkId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is no SHA-256")))
    }
}

/// The SHA-256 of a file that is read or written piece by piece.
#[derive(Debug, Default)]
pub struct FileHash(Sha256);

impl FileHash {
    /// Takes the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the SHA-256 of all bytes.
    #[must_use]
    pub fn finish(self) -> ChunkId {
        ChunkId(self.0.finalize().into())
    }
}

/// Reads the next chunk of a file into `buffer`; empty at its end.
///
/// # Errors
/// [`io::Error`] if the file cannot be read.
pub fn read_chunk(file: &mut File, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    file.take(CHUNK_BYTES).read_to_end(buffer).map(|_| ())
}

/// Compresses a chunk, as `gunzip` reads it: fast, for weights hardly get smaller and a database does at any level.
///
/// # Errors
/// [`io::Error`] if the compressor fails.
pub fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Returns the chunk of `size` bytes with this SHA-256; `None` if that is not what `compressed` holds.
#[must_use]
pub fn decompress(compressed: &[u8], size: u64, sha256: ChunkId) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // One more than there should be: a longer one must not fill the memory.
    GzDecoder::new(compressed).take(size + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == size && ChunkId::of(&bytes) == sha256).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_what_it_was_or_refused() {
        let bytes = b"abc".repeat(1000);
        let (id, size) = (ChunkId::of(&bytes), bytes.len() as u64);
        let stored = compress(&bytes).unwrap();
        assert!(stored.len() < bytes.len());
        assert_eq!(decompress(&stored, size, id), Some(bytes));
        assert_eq!(decompress(&stored, size - 1, id), None, "longer than said");
        assert_eq!(decompress(&stored, size + 1, id), None, "shorter than said");
        assert_eq!(decompress(&stored, size, ChunkId::of(b"other")), None);
        assert_eq!(decompress(&stored[..stored.len() / 2], size, id), None, "cut short");
        assert_eq!(decompress(b"no gzip", size, id), None);
    }

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let id = ChunkId::of(b"abc");
        assert_eq!(id.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(ChunkId::parse(&id.to_string()), Some(id));
        for wrong in ["", "ba78", &id.to_string().to_uppercase(), &id.to_string().replace('b', "g")] {
            assert_eq!(ChunkId::parse(wrong), None, "{wrong}");
        }
    }
}
