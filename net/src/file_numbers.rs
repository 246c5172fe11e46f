//! The numbers of a network file as bytes, and the SHA-256 over them: what reader and writer share.

use sha2::{Digest, Sha256};

/// Reads numbers of `N` bytes each; bytes behind the last whole number are left out.
pub(crate) fn numbers_of<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f32) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(move |chunk| read(*chunk))
}

/// Returns the SHA-256 in hex of all tensors, names included, in the order of their names.
pub(crate) fn numbers_sha256(mut tensors: Vec<(&str, &[u8])>) -> String {
    tensors.sort_unstable_by_key(|&(name, _)| name);
    let mut hash = Sha256::new();
    for (name, numbers) in tensors {
        hash.update(name.as_bytes());
        hash.update(numbers);
    }
    hex(&hash.finalize())
}

/// Writes a digest in hex.
pub(crate) fn hex(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
