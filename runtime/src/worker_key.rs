//! The key of a worker: a secret of its process, shown with each call beside its name, so that nobody else can speak in
//! that name.

use std::fmt;

use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

/// Metadata that holds the name.
pub const WORKER_ID_HEADER: &str = "alveare-worker-id";
/// Metadata that holds the key.
pub const WORKER_KEY_HEADER: &str = "alveare-worker-key";
/// Fewest and most characters of a key.
const KEY_LENGTHS: std::ops::RangeInclusive<usize> = 32..=128;

/// A worker's secret. Never shown, not even by `{:?}`.
#[derive(Clone, PartialEq, Eq)]
pub struct WorkerKey {
    text: String,
    header: MetadataValue<Ascii>,
}

impl fmt::Debug for WorkerKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WorkerKey(..)")
    }
}

/// A key is too short to be a secret, too long, or cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the worker's key must be {} to {} visible ASCII characters", KEY_LENGTHS.start(), KEY_LENGTHS.end())]
pub struct WorkerKeyError;

impl WorkerKey {
    /// Makes a key of `text`, which should be random: 32 hexadecimal digits, for example.
    ///
    /// # Errors
    /// [`WorkerKeyError`] unless it is 32 to 128 visible ASCII characters.
    pub fn new(text: impl Into<String>) -> Result<Self, WorkerKeyError> {
        let text = text.into();
        let is_usable = KEY_LENGTHS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        let mut header: MetadataValue<Ascii> = text.parse().map_err(|_| WorkerKeyError)?;
        header.set_sensitive(true);
        if is_usable { Ok(Self { text, header }) } else { Err(WorkerKeyError) }
    }

    /// Reads the key that a call shows; `None` if it shows none.
    ///
    /// # Errors
    /// [`WorkerKeyError`] if it is not a key.
    pub fn shown(metadata: &MetadataMap) -> Option<Result<Self, WorkerKeyError>> {
        let shown = metadata.get(WORKER_KEY_HEADER)?;
        Some(shown.to_str().map_err(|_| WorkerKeyError).and_then(Self::new))
    }

    /// Returns the characters of the key, to be hashed.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.text
    }

    pub(crate) fn header(&self) -> MetadataValue<Ascii> {
        self.header.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_long_and_never_shown() {
        for text in ["", "short", &"k".repeat(129), &format!("{} ", "k".repeat(40))] {
            assert!(WorkerKey::new(text).is_err(), "{text:?}");
        }
        let key = WorkerKey::new("k".repeat(32)).unwrap();
        assert_eq!(format!("{key:?}"), "WorkerKey(..)");
        let mut metadata = MetadataMap::new();
        assert!(WorkerKey::shown(&metadata).is_none());
        metadata.insert(WORKER_KEY_HEADER, key.header());
        assert_eq!(WorkerKey::shown(&metadata), Some(Ok(key)));
    }
}
