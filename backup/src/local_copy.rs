//! What a backup is made from: a folder with the database as it was at one moment, and the files that it names.

use std::io;
use std::path::{Path, PathBuf};

use store::{DATABASE_FILE, NetworkState, Reader};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::chunks::ChunkId;
use super::manifest::RunFacts;
use super::{BackupError, COPY_FOLDER};

/// How often the copy is begun anew because the trainer has replaced all checkpoints that it names.
const TRY_COUNT_MAX: u32 = 5;

/// A consistent copy of a run. Its folder is deleted when it is dropped.
#[derive(Debug)]
pub struct LocalCopy {
    folder: CopyFolder,
    /// How far the run was.
    pub(super) run: RunFacts,
    /// The files, the database last: what it names is stored before it.
    pub(super) files: Vec<CopiedFile>,
}

/// A file of the copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopiedFile {
    /// Where it lies below the run directory, and below the folder of the copy.
    pub(super) path: String,
    /// Its SHA-256 as the store has it; `None` for the database.
    pub(super) sha256: Option<ChunkId>,
    /// Whether a backup without it is useless: the best network, a candidate, the checkpoint.
    pub(super) is_needed: bool,
}

/// The folder of a copy, deleted when it is dropped.
#[derive(Debug)]
struct CopyFolder(PathBuf);

impl CopyFolder {
    /// Makes it empty, whatever a learner that was killed left there.
    fn create(run_dir: &Path) -> Result<Self, BackupError> {
        let folder = run_dir.join(COPY_FOLDER);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(BackupError::io("delete", folder)(error));
            }
            _ => {}
        }
        std::fs::create_dir_all(folder.join("networks")).map_err(BackupError::io("create", &folder))?;
        Ok(Self(folder))
    }
}

impl Drop for CopyFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            debug!(folder = %self.0.display(), %error, "copy not deleted");
        }
    }
}

impl LocalCopy {
    /// Makes a copy of the run in `run_dir`, in a folder there: the database page by page, networks and the newest
    /// checkpoint as hard links, which stay when the trainer deletes the file. The writer goes on meanwhile.
    ///
    /// Networks that were rejected are left out: nothing reads them again, and they may be deleted at any time.
    ///
    /// # Errors
    /// [`BackupError::Stopped`] once `stop` is cancelled; [`BackupError::MissingFile`] and [`BackupError::NoCheckpoint`]
    /// for a run that is not whole; [`BackupError::Database`] and [`BackupError::Io`] if the disk fails.
    pub fn make(run_dir: &Path, stop: &CancellationToken) -> Result<Self, BackupError> {
        for _ in 0..TRY_COUNT_MAX {
            match Self::try_make(run_dir, stop) {
                Err(BackupError::NoCheckpoint) => {}
                made => return made,
            }
        }
        Err(BackupError::NoCheckpoint)
    }

    fn try_make(run_dir: &Path, stop: &CancellationToken) -> Result<Self, BackupError> {
        let folder = CopyFolder::create(run_dir)?;
        let reader = Reader::of_run(run_dir)?;
        reader.hold_still()?;
        // Links first, while what is seen is hardly older than what is there.
        let mut files = Vec::new();
        let checkpoint_step = link_checkpoint(run_dir, &folder.0, &reader, &mut files)?;
        link_networks(run_dir, &folder.0, &reader, &mut files)?;
        let run = facts(&reader, checkpoint_step)?;
        if !reader.copy_to(&folder.0.join(DATABASE_FILE), || !stop.is_cancelled())? {
            return Err(BackupError::Stopped);
        }
        files.push(CopiedFile { path: DATABASE_FILE.to_owned(), sha256: None, is_needed: true });
        Ok(Self { folder, run, files })
    }

    /// Returns where a file of the copy lies.
    pub(super) fn path_of(&self, file: &CopiedFile) -> PathBuf {
        self.folder.0.join(&file.path)
    }
}

fn facts(reader: &Reader, training_step: u64) -> Result<RunFacts, BackupError> {
    let (run, best) = (reader.run()?, reader.best_network()?);
    Ok(RunFacts {
        run_id: run.run_id,
        game: run.game,
        training_step,
        generation: best.as_ref().and_then(|best| best.generation).unwrap_or_default().get(),
        best_network_id: best.map_or(0, |best| best.network.network_id.get()),
        finished_game_count: reader.finished_self_play_count()?,
    })
}

/// Links the newest checkpoint that is still there; returns the steps behind it, 0 if the store names none.
fn link_checkpoint(
    run_dir: &Path,
    folder: &Path,
    reader: &Reader,
    files: &mut Vec<CopiedFile>,
) -> Result<u64, BackupError> {
    let rows = reader.checkpoints()?;
    for row in &rows {
        if link(run_dir, folder, &row.file)? {
            files.push(CopiedFile { path: row.file.clone(), sha256: ChunkId::parse(&row.sha256), is_needed: true });
            return Ok(row.training_step);
        }
    }
    if rows.is_empty() { Ok(0) } else { Err(BackupError::NoCheckpoint) }
}

fn link_networks(
    run_dir: &Path,
    folder: &Path,
    reader: &Reader,
    files: &mut Vec<CopiedFile>,
) -> Result<(), BackupError> {
    for row in reader.networks()? {
        let is_needed = match row.state {
            NetworkState::Rejected => continue,
            NetworkState::Best | NetworkState::Candidate => true,
            NetworkState::FormerBest => false,
        };
        let path = row.network.file;
        if link(run_dir, folder, &path)? {
            files.push(CopiedFile { path, sha256: ChunkId::parse(&row.network.sha256), is_needed });
        } else if is_needed {
            return Err(BackupError::MissingFile(run_dir.join(path)));
        } else {
            debug!(file = path, "an old network is not there: left out of the backup");
        }
    }
    Ok(())
}

/// Links a file of the run into the folder of the copy; returns whether it is there. Where the file system has no links,
/// it is copied.
fn link(run_dir: &Path, folder: &Path, path: &str) -> Result<bool, BackupError> {
    let (from, to) = (run_dir.join(path), folder.join(path));
    let linked = std::fs::hard_link(&from, &to).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Err(error),
        _ => std::fs::copy(&from, &to).map(|_| ()),
    });
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(BackupError::io("copy", from)(error)),
    }
}
