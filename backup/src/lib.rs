//! Copies of a run in a folder or an S3-compatible store: made while the run goes on, and put back on a bare machine.
//!
//! A backup is a manifest that names chunks of files ([`Manifest`]). `local_copy` freezes the run at one moment, `upload`
//! stores what is new of it, `restore` puts it back, `thinning` says which backups stay, and `thread` does all that
//! beside a run. Nothing here is waited for by games, training or the store's writer.

mod at_start;
mod chunks;
mod config;
mod error;
mod local_copy;
mod manifest;
mod place;
mod restore;
mod status;
#[cfg(test)]
mod tests;
mod thinning;
mod thread;
mod upload;
mod url;

pub use at_start::restore_at_start;
pub use chunks::{ChunkId, compress, decompress};
pub use config::BackupConfig;
pub use error::{BackupError, ManifestProblem};
pub use local_copy::LocalCopy;
pub use manifest::{BackupFile, BackupTime, Chunk, FORMAT_VERSION, Manifest, RunFacts};
pub use place::{Access, BackupPlace};
pub use restore::{find, has_run, restore};
pub use status::{BackupCounts, BackupStatus};
pub use thread::{BackupParts, BackupThread};
pub use upload::{Uploaded, Uploader};
pub use url::{BackupUrl, BackupUrlError};

/// Folder in the run directory that copies are made in; it takes as much room as the database.
const COPY_FOLDER: &str = "backup.tmp";
