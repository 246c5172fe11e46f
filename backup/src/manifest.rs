//! What a backup consists of: a JSON file that names every chunk of every file by its SHA-256. It is written last, so
//! what has a manifest is whole.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use store::{DATABASE_FILE, SCHEMA_VERSION};

use super::chunks::{CHUNK_BYTES_MAX, ChunkId};
use super::{BackupError, ManifestProblem};

/// Version of the manifest's format, and of how chunks are stored.
pub const FORMAT_VERSION: u32 = 1;

/// When a backup was made, to the millisecond: its name, and the order of backups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BackupTime(SystemTime);

impl BackupTime {
    /// Returns the time of a backup that is made at `now`, later than the one made last whatever the clock says.
    #[must_use]
    pub fn after(last: Option<Self>, now: SystemTime) -> Self {
        let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(since_epoch.as_millis() as u64);
        Self(last.map_or(now, |last| now.max(last.0 + Duration::from_millis(1))))
    }

    /// Returns the time itself.
    #[must_use]
    pub const fn get(self) -> SystemTime {
        self.0
    }

    /// Returns the name of the backup: the time without colons, which not every store and file system takes.
    #[must_use]
    pub fn name(self) -> String {
        self.to_string().replace(':', "-")
    }

    /// Reads a name; `None` for what is no backup's.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let (date, time) = name.split_once('T')?;
        let time = humantime::parse_rfc3339(&format!("{date}T{}", time.replace('-', ":"))).ok().map(Self)?;
        (time.name() == name).then_some(time)
    }
}

impl fmt::Display for BackupTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_rfc3339_millis(self.0).fmt(formatter)
    }
}

/// One chunk of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// SHA-256 of its bytes before they are compressed: the name of its object.
    pub sha256: ChunkId,
    /// Bytes before they are compressed.
    pub size: u64,
}

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFile {
    /// Where it lies below the run directory.
    pub path: String,
    /// Its bytes.
    pub size: u64,
    /// SHA-256 of the whole file.
    pub sha256: ChunkId,
    /// What it is put together from, in order.
    pub chunks: Vec<Chunk>,
}

/// How far the run was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Name of the run.
    pub run_id: String,
    /// What it plays, JSON as in the store.
    pub game: String,
    /// Steps behind the checkpoint.
    pub training_step: u64,
    /// Generation of the best network.
    pub generation: u32,
    /// Number of the best network; 0 if there is none yet.
    pub best_network_id: u32,
    /// Finished self-play games.
    pub finished_game_count: u64,
}

/// All that a backup consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the program that wrote it.
    pub format_version: u32,
    /// When it was made, RFC 3339, UTC.
    pub created_at: String,
    /// Version of the program that made it.
    pub program_version: String,
    /// Version of the tables of the database.
    pub schema_version: u32,
    /// How far the run was.
    pub run: RunFacts,
    /// The files: the database, networks, one checkpoint.
    pub files: Vec<BackupFile>,
}

/// The part of a manifest that every version of it has.
#[derive(Deserialize)]
struct Versioned {
    format_version: u32,
}

impl Manifest {
    /// Describes a backup.
    #[must_use]
    pub fn new(at: BackupTime, run: RunFacts, files: Vec<BackupFile>) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            created_at: at.to_string(),
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            schema_version: SCHEMA_VERSION,
            run,
            files,
        }
    }

    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// [`BackupError::NewerFormat`], [`BackupError::NewerSchema`], or [`BackupError::DamagedManifest`] if it is no
    /// manifest, names a file that no run has, or files that their chunks do not add up to.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, BackupError> {
        let damaged = |problem| BackupError::DamagedManifest { name: name.to_owned(), problem };
        let versioned: Versioned = serde_json::from_slice(bytes).map_err(|error| damaged(error.into()))?;
        let found = versioned.format_version;
        if found > FORMAT_VERSION {
            return Err(BackupError::NewerFormat { name: name.to_owned(), found, known: FORMAT_VERSION });
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| damaged(error.into()))?;
        if manifest.schema_version > SCHEMA_VERSION {
            return Err(BackupError::NewerSchema { found: manifest.schema_version });
        }
        manifest.check().map_err(damaged)?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), ManifestProblem> {
        for (index, file) in self.files.iter().enumerate() {
            let path = file.path.clone();
            if !is_run_file(&path) {
                return Err(ManifestProblem::OtherFile { path });
            }
            if self.files[..index].iter().any(|other| other.path == path) {
                return Err(ManifestProblem::NamedTwice { path });
            }
            let is_bounded = file.chunks.iter().all(|chunk| chunk.size <= CHUNK_BYTES_MAX);
            let size = file.chunks.iter().try_fold(0u64, |sum, chunk| sum.checked_add(chunk.size));
            if !is_bounded || size != Some(file.size) {
                return Err(ManifestProblem::OtherSize { path });
            }
        }
        let has_database = self.files.iter().any(|file| file.path == DATABASE_FILE);
        if has_database { Ok(()) } else { Err(ManifestProblem::NoDatabase) }
    }

    /// Returns the bytes of all files.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

/// Returns whether a path of a manifest is one that a run has: nothing else is ever written by a restore.
fn is_run_file(path: &str) -> bool {
    let name = path.strip_prefix("networks/").unwrap_or(path);
    let is_weights = name.strip_suffix(".safetensors").is_some_and(|stem| {
        !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    });
    path == DATABASE_FILE || is_weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(paths: &[&str]) -> Manifest {
        let run = RunFacts {
            run_id: "r".into(),
            game: "{}".into(),
            training_step: 7,
            generation: 1,
            best_network_id: 2,
            finished_game_count: 3,
        };
        let chunk = Chunk { sha256: ChunkId::of(b"abc"), size: 3 };
        let file = |path: &&str| BackupFile {
            path: (*path).to_owned(),
            size: 3,
            sha256: ChunkId::of(b"abc"),
            chunks: vec![chunk],
        };
        Manifest::new(BackupTime::after(None, SystemTime::now()), run, paths.iter().map(file).collect())
    }

    fn read(manifest: &Manifest) -> Result<Manifest, BackupError> {
        Manifest::read("m", &serde_json::to_vec(manifest).unwrap())
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let written =
            manifest(&["alveare.db", "networks/network-000001.safetensors", "checkpoint-000000007.safetensors"]);
        assert_eq!(read(&written).unwrap(), written);
    }

    #[test]
    fn a_manifest_that_names_other_files_or_sizes_is_refused() {
        for path in
            ["../x.safetensors", "/etc/x.safetensors", "networks/../x.safetensors", "token", "networks/.safetensors"]
        {
            let error = read(&manifest(&["alveare.db", path])).unwrap_err().to_string();
            assert!(error.contains("is no file of a run"), "{path}: {error}");
        }
        assert!(read(&manifest(&["alveare.db", "alveare.db"])).unwrap_err().to_string().contains("twice"));
        assert!(read(&manifest(&["a.safetensors"])).unwrap_err().to_string().contains("no database"));
        let mut longer = manifest(&["alveare.db"]);
        longer.files[0].size += 1;
        assert!(read(&longer).unwrap_err().to_string().contains("do not make up"));
        assert!(matches!(Manifest::read("m", b"{\"format_version\":1}"), Err(BackupError::DamagedManifest { .. })));
        assert!(matches!(
            Manifest::read("m", b"{\"format_version\":2}"),
            Err(BackupError::NewerFormat { found: 2, .. })
        ));
    }

    #[test]
    fn names_are_times_in_order_whatever_the_clock_says() {
        let at = |text| humantime::parse_rfc3339(text).unwrap();
        let first = BackupTime::after(None, at("2026-11-29T05:50:08.123Z"));
        assert_eq!(first.name(), "2026-11-29T05-50-08.123Z");
        assert_eq!(BackupTime::from_name(&first.name()), Some(first));
        let second = BackupTime::after(Some(first), at("2020-01-01T00:00:00Z"));
        assert!(second > first && second.name() > first.name());
        for wrong in ["", "x", "2026-11-29", "2026-11-29T05:50:08.123Z", "2026-11-29T05-50-08Z"] {
            assert_eq!(BackupTime::from_name(wrong), None, "{wrong}");
        }
    }
}
