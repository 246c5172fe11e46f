//! Backups: manifests, chunks and where they are kept.

use backup::{BackupTime, BackupUrl, ChunkId, Manifest, compress, decompress};

/// Most bytes of a chunk that is unpacked here.
const CHUNK_BYTES_MAX: u64 = 1 << 16;

/// A manifest: what is accepted comes out of a round trip unchanged, and its sizes can be summed.
pub fn backup_manifest(bytes: &[u8]) {
    let Ok(manifest) = Manifest::read("fuzz", bytes) else { return };
    let _ = manifest.byte_count();
    let written = serde_json::to_vec(&manifest).unwrap_or_else(|error| panic!("{manifest:?}: {error}"));
    let again = Manifest::read("fuzz", &written).unwrap_or_else(|error| panic!("{manifest:?}: {error}"));
    assert_eq!(again, manifest, "a manifest after a round trip");
}

/// A chunk as it is stored: of arbitrary bytes only those with the right SHA-256 come out.
pub fn backup_chunk(bytes: &[u8]) {
    let id = ChunkId::of(b"abc");
    assert_eq!(ChunkId::parse(&id.to_string()), Some(id), "a SHA-256 after a round trip");
    let unpacked = decompress(bytes, 3, id);
    assert!(unpacked.is_none_or(|unpacked| unpacked == b"abc"), "another chunk than was asked for");
    assert!(decompress(bytes, CHUNK_BYTES_MAX, id).is_none(), "a chunk of another size");
    let stored = compress(bytes).unwrap_or_else(|error| panic!("{error}"));
    let unpacked = decompress(&stored, bytes.len() as u64, ChunkId::of(bytes));
    assert_eq!(unpacked.as_deref(), Some(bytes), "a chunk after a round trip");
}

/// The place of backups, or the name of one.
pub fn backup_url(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(time) = BackupTime::from_name(text) {
        assert_eq!(time.name(), text, "the name of a backup after a round trip");
    }
    match text.parse::<BackupUrl>() {
        Ok(url) if url.folder().is_none() => {
            assert_eq!(url.to_string().parse(), Ok(url), "{text}");
        }
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().contains('\n'), "one line: {error}"),
    }
}
