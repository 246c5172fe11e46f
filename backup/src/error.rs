//! Why a backup cannot be made, found or restored.

use std::io;
use std::path::PathBuf;

use store::{SCHEMA_VERSION, StoreError};

/// Why a backup cannot be made, found or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The place cannot be opened.
    #[error("open {url}")]
    Open {
        /// The place.
        url: String,
        /// What the client of the store reported.
        source: object_store::Error,
    },
    /// The folder of the backups is not there.
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    /// The store cannot be read or written.
    #[error("{what}")]
    Place {
        /// What was tried.
        what: String,
        /// What the store or the way to it reported.
        source: object_store::Error,
    },
    /// A file of this machine cannot be read or written.
    #[error("{action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// The run's database cannot be read or copied.
    #[error("the run's database")]
    Database(#[from] StoreError),
    /// A file that the run needs is missing.
    #[error("{} is missing: the store names it", .0.display())]
    MissingFile(PathBuf),
    /// A file of the run has changed since it was written.
    #[error("{} is damaged: its SHA-256 is not the one in the store", .0.display())]
    DamagedFile(PathBuf),
    /// None of the checkpoints that the store names is there.
    #[error("none of the checkpoints that the store names is there")]
    NoCheckpoint,
    /// The place holds backups of another run.
    #[error("{url} holds backups of run {found}, this is run {own}: give each run a backup.url of its own")]
    OtherRun {
        /// The place.
        url: String,
        /// The run whose backups are there.
        found: String,
        /// The run at work.
        own: String,
    },
    /// A manifest cannot be understood.
    #[error("backup {name} is damaged: {problem}: choose an older one with --at (--list shows all)")]
    DamagedManifest {
        /// The backup.
        name: String,
        /// What is wrong with it.
        problem: ManifestProblem,
    },
    /// A manifest is written by a later version of this program.
    #[error("backup {name} has format {found}, this program knows up to {known}: use a newer program")]
    NewerFormat {
        /// The backup.
        name: String,
        /// The version of its format.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// The database in a backup is of a later version of this program.
    #[error(
        "the backup's store has schema version {found}, this program knows up to {SCHEMA_VERSION}: use a newer program"
    )]
    NewerSchema {
        /// The version of its schema.
        found: u32,
    },
    /// A part of a file is not what the manifest names.
    #[error("{file}: object {object} is damaged: choose an older backup with --at (--list shows all)")]
    DamagedObject {
        /// The file it belongs to.
        file: String,
        /// The object.
        object: String,
    },
    /// A part of a file is not there.
    #[error("{file}: object {object} is missing: choose an older backup with --at (--list shows all)")]
    MissingObject {
        /// The file it belongs to.
        file: String,
        /// The object.
        object: String,
    },
    /// There is no backup at all, or none as old.
    #[error("{url} holds no backup{of}")]
    NoBackup {
        /// The place.
        url: String,
        /// Which backups were looked for: empty for any.
        of: String,
    },
    /// The run directory holds something.
    #[error("{} is not empty: it holds {found}; name another folder", dir.display())]
    NotEmpty {
        /// The run directory.
        dir: PathBuf,
        /// An entry of it.
        found: String,
    },
    /// Another process has the run directory.
    #[error("run directory {} is in use by another learner", .0.display())]
    InUse(PathBuf),
    /// It was asked to stop.
    #[error("stopped")]
    Stopped,
}

/// What is wrong with a manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestProblem {
    /// It cannot be read or written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It names a file that no run has.
    #[error("{path:?} is no file of a run")]
    OtherFile {
        /// The path, as it is named.
        path: String,
    },
    /// It names a file again.
    #[error("{path} is named twice")]
    NamedTwice {
        /// The path below the run directory.
        path: String,
    },
    /// The chunks of a file are too large, or have another size together.
    #[error("the chunks of {path} do not make up its size")]
    OtherSize {
        /// The path below the run directory.
        path: String,
    },
    /// It names no database.
    #[error("it has no database")]
    NoDatabase,
}

impl BackupError {
    /// Returns what makes an error of a file operation.
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// Returns what makes an error of an operation of the store of backups.
    pub(super) fn place(what: impl Into<String>) -> impl FnOnce(object_store::Error) -> Self {
        let what = what.into();
        move |source| Self::Place { what, source }
    }
}
