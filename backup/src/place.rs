//! The place of backups, opened: `backups/TIME.json` are the manifests, `chunks/AB/SHA256.gz` what they name.
//!
//! A folder and an S3-compatible store look the same from here on. Objects appear whole or not at all.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig};

use super::chunks::{ChunkId, compress, decompress};
use super::manifest::Chunk;
use super::{BackupError, BackupTime, BackupUrl, Manifest};

const MANIFESTS: &str = "backups";
const CHUNKS: &str = "chunks";
/// How long one request is tried again; the next backup tries anew.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
/// How often.
const RETRY_COUNT_MAX: usize = 4;

/// Whether the place may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It must be there.
    Read,
    /// A folder that is not there is made.
    Write,
}

/// The place of backups, opened.
#[derive(Debug, Clone)]
pub struct BackupPlace {
    store: Arc<dyn ObjectStore>,
    url: String,
}

/// A chunk that is there, and since when.
pub(super) struct StoredChunk {
    pub(super) id: ChunkId,
    pub(super) location: Path,
    pub(super) stored_at: SystemTime,
}

impl BackupPlace {
    /// Opens a place. Of an S3 store nothing is asked yet: credentials, region and endpoint come from the environment
    /// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`), or from the machine's role.
    ///
    /// # Errors
    /// [`BackupError::NoFolder`], [`BackupError::Io`] for a folder that cannot be made, [`BackupError::Open`] for
    /// variables of the environment that make no sense.
    pub fn open(url: &BackupUrl, access: Access) -> Result<Self, BackupError> {
        let open_error = |source| BackupError::Open { url: url.to_string(), source };
        let store: Arc<dyn ObjectStore> = match url {
            BackupUrl::Folder(folder) => {
                if access == Access::Write {
                    std::fs::create_dir_all(folder).map_err(BackupError::io("create", folder))?;
                } else if !folder.is_dir() {
                    return Err(BackupError::NoFolder(folder.clone()));
                }
                Arc::new(LocalFileSystem::new_with_prefix(folder).map_err(open_error)?.with_fsync(true))
            }
            BackupUrl::S3 { bucket, prefix } => {
                Arc::new(PrefixStore::new(open_s3(bucket).map_err(open_error)?, prefix.as_str()))
            }
        };
        Ok(Self { store, url: url.to_string() })
    }

    /// Uses a store that is open already.
    #[must_use]
    pub fn of_store(store: Arc<dyn ObjectStore>, url: &str) -> Self {
        Self { store, url: url.to_owned() }
    }

    /// Returns how the user named it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns all backups, oldest first.
    ///
    /// # Errors
    /// [`BackupError::Place`].
    pub async fn backups(&self) -> Result<Vec<BackupTime>, BackupError> {
        let time_of = |object: ObjectMeta| BackupTime::from_name(object.location.filename()?.strip_suffix(".json")?);
        let listed = self.store.list(Some(&Path::from(MANIFESTS)));
        let found = listed.try_filter_map(|object| async { Ok(time_of(object)) }).try_collect::<Vec<_>>().await;
        let mut times = found.map_err(BackupError::place(format!("list the backups in {}", self.url)))?;
        times.sort_unstable();
        Ok(times)
    }

    /// Reads the manifest of a backup.
    ///
    /// # Errors
    /// [`BackupError::Place`], or as [`Manifest::read`].
    pub async fn manifest(&self, backup: BackupTime) -> Result<Manifest, BackupError> {
        let name = backup.name();
        let bytes = async { self.store.get(&manifest_path(backup)).await?.bytes().await };
        let bytes = bytes.await.map_err(BackupError::place(format!("read backup {name} in {}", self.url)))?;
        Manifest::read(&name, &bytes)
    }

    pub(super) async fn write_manifest(&self, backup: BackupTime, manifest: &Manifest) -> Result<(), BackupError> {
        let what = || format!("write the manifest to {}", self.url);
        let damaged =
            |error: serde_json::Error| BackupError::DamagedManifest { name: backup.name(), problem: error.into() };
        let bytes = serde_json::to_vec(manifest).map_err(damaged)?;
        let written = self.store.put(&manifest_path(backup), bytes.into()).await;
        written.map(|_| ()).map_err(BackupError::place(what()))
    }

    pub(super) async fn delete_manifest(&self, backup: BackupTime) -> Result<(), BackupError> {
        let deleted = self.store.delete(&manifest_path(backup)).await;
        deleted.map_err(BackupError::place(format!("delete backup {} in {}", backup.name(), self.url)))
    }

    /// Compresses and stores a chunk; returns the bytes that were sent.
    pub(super) async fn put_chunk(&self, id: ChunkId, bytes: &[u8]) -> Result<u64, BackupError> {
        let compressed = compress(bytes).map_err(BackupError::io("compress", id.to_string()))?;
        let size = compressed.len() as u64;
        let put = self.store.put(&chunk_path(id), compressed.into()).await;
        put.map(|_| size).map_err(BackupError::place(format!("write to {}", self.url)))
    }

    /// Reads and checks a chunk of `file`.
    pub(super) async fn chunk(&self, file: &str, chunk: Chunk) -> Result<Vec<u8>, BackupError> {
        let object = || chunk.sha256.to_string();
        let stored = async { self.store.get(&chunk_path(chunk.sha256)).await?.bytes().await };
        let stored = match stored.await {
            Err(object_store::Error::NotFound { .. }) => {
                return Err(BackupError::MissingObject { file: file.to_owned(), object: object() });
            }
            stored => stored.map_err(BackupError::place(format!("read from {}", self.url)))?,
        };
        let bytes = decompress(&stored, chunk.size, chunk.sha256);
        bytes.ok_or_else(|| BackupError::DamagedObject { file: file.to_owned(), object: object() })
    }

    /// Returns all chunks that are there.
    pub(super) async fn chunks(&self) -> Result<Vec<StoredChunk>, BackupError> {
        let chunk_of = |object: ObjectMeta| {
            let id = ChunkId::parse(object.location.filename()?.strip_suffix(".gz")?)?;
            Some(StoredChunk { id, stored_at: object.last_modified.into(), location: object.location })
        };
        let listed = self.store.list(Some(&Path::from(CHUNKS)));
        let chunks = listed.try_filter_map(|object| async { Ok(chunk_of(object)) }).try_collect().await;
        chunks.map_err(BackupError::place(format!("list what is in {}", self.url)))
    }

    /// Deletes chunks; returns those that are gone, also if it fails halfway.
    pub(super) async fn delete_chunks(&self, chunks: Vec<StoredChunk>) -> (HashSet<ChunkId>, Result<(), BackupError>) {
        let mut gone = HashSet::new();
        for chunk in chunks {
            if let Err(error) = self.store.delete(&chunk.location).await
                && !matches!(error, object_store::Error::NotFound { .. })
            {
                return (gone, Err(BackupError::place(format!("delete from {}", self.url))(error)));
            }
            gone.insert(chunk.id);
        }
        (gone, Ok(()))
    }
}

fn manifest_path(backup: BackupTime) -> Path {
    Path::from_iter([MANIFESTS, &format!("{}.json", backup.name())])
}

fn chunk_path(id: ChunkId) -> Path {
    let name = id.to_string();
    Path::from_iter([CHUNKS, &name[..2], &format!("{name}.gz")])
}

fn open_s3(bucket: &str) -> Result<impl ObjectStore, object_store::Error> {
    // One provider of cryptography a process; another part of the program may have chosen it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig { max_retries: RETRY_COUNT_MAX, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
    let endpoints = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let endpoint = endpoints.iter().find_map(|key| builder.get_config_value(key));
    // Whoever names a server without encryption means it: such as one on the same machine.
    let is_plain = endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"));
    let builder = if is_plain { builder.with_allow_http(true) } else { builder };
    builder.build()
}
