//! Putting a run back: every chunk and every file is checked, and the database appears last, when all else is there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use futures_util::{StreamExt, TryStreamExt, stream};
use store::lock::FolderLock;
use store::{DATABASE_FILE, LOCK_FILE};

use super::chunks::FileHash;
use super::manifest::{BackupFile, RunFacts};
use super::{BackupError, BackupPlace, BackupTime, Manifest};

/// Folder in the run directory that a restore writes to. Beside it would not do: the run directory may be a volume.
const RESTORE_FOLDER: &str = "restore.tmp";
/// Chunks under way at once.
const CHUNKS_AT_ONCE: usize = 16;
/// What an empty directory may hold: the lock, and what a new file system comes with.
const OF_AN_EMPTY_DIR: [&str; 2] = [LOCK_FILE, "lost+found"];

/// Returns whether there is a run in this directory: a restore would write over it.
#[must_use]
pub fn has_run(run_dir: &Path) -> bool {
    run_dir.join(DATABASE_FILE).metadata().is_ok_and(|file| file.len() > 0)
}

/// Returns the newest backup that is not after `at`, which says how the user put it.
///
/// # Errors
/// [`BackupError::NoBackup`] if there is none, [`BackupError::Place`].
pub async fn find(place: &BackupPlace, at: Option<std::time::SystemTime>) -> Result<BackupTime, BackupError> {
    let backups = place.backups().await?;
    let found = backups.into_iter().rev().find(|backup| at.is_none_or(|at| backup.get() <= at));
    found.ok_or_else(|| {
        let of = at.map(|at| format!(" made at {} or before", humantime::format_rfc3339_seconds(at)));
        BackupError::NoBackup { url: place.url().to_owned(), of: of.unwrap_or_default() }
    })
}

/// Puts a backup into an empty run directory, which is made if it is not there. `progress` gets the bytes written so
/// far and of all. Returns how far the run is.
///
/// Safe if killed at any point: there is no run before there is all of it, and the next restore begins anew.
///
/// # Errors
/// [`BackupError::NotEmpty`], [`BackupError::InUse`]; [`BackupError::MissingObject`] and [`BackupError::DamagedObject`]
/// for a backup that is not whole; [`BackupError::Place`] and [`BackupError::Io`].
pub async fn restore(
    place: &BackupPlace,
    backup: BackupTime,
    run_dir: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<RunFacts, BackupError> {
    let manifest = place.manifest(backup).await?;
    fs::create_dir_all(run_dir).map_err(BackupError::io("create", run_dir))?;
    let lock = FolderLock::take(&run_dir.join(LOCK_FILE)).map_err(BackupError::io("lock", run_dir))?;
    let _lock = lock.ok_or_else(|| BackupError::InUse(run_dir.to_owned()))?;
    let folder = make_room(run_dir)?;
    let (mut done, all) = (0, manifest.byte_count());
    progress(done, all);
    for file in &manifest.files {
        write_file(place, file, &folder.join(&file.path), |written| {
            done += written;
            progress(done, all);
        })
        .await?;
    }
    move_in(&manifest, &folder, run_dir)?;
    Ok(manifest.run)
}

/// Checks that the run directory is empty, but for what a restore that was cut short left there, which is deleted.
fn make_room(run_dir: &Path) -> Result<PathBuf, BackupError> {
    let folder = run_dir.join(RESTORE_FOLDER);
    let was_cut_short = folder.is_dir() && !has_run(run_dir);
    for entry in fs::read_dir(run_dir).map_err(BackupError::io("read", run_dir))? {
        let entry = entry.map_err(BackupError::io("read", run_dir))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if OF_AN_EMPTY_DIR.contains(&name.as_str()) || (name == RESTORE_FOLDER && was_cut_short) {
            continue;
        }
        let is_leftover = was_cut_short && (name == "networks" || name.starts_with("checkpoint-"));
        if !is_leftover {
            return Err(BackupError::NotEmpty { dir: run_dir.to_owned(), found: name });
        }
        let path = entry.path();
        let deleted = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        deleted.map_err(BackupError::io("delete", path))?;
    }
    if was_cut_short {
        fs::remove_dir_all(&folder).map_err(BackupError::io("delete", &folder))?;
    }
    fs::create_dir_all(folder.join("networks")).map_err(BackupError::io("create", &folder))?;
    Ok(folder)
}

/// Writes one file, chunk by chunk, and checks it.
async fn write_file(
    place: &BackupPlace,
    file: &BackupFile,
    path: &Path,
    mut progress: impl FnMut(u64),
) -> Result<(), BackupError> {
    let mut out = File::create(path).map_err(BackupError::io("create", path))?;
    let mut hash = FileHash::default();
    let chunks = stream::iter(&file.chunks).map(|chunk| place.chunk(&file.path, *chunk));
    let mut chunks = chunks.buffered(CHUNKS_AT_ONCE);
    while let Some(bytes) = chunks.try_next().await? {
        hash.add(&bytes);
        out.write_all(&bytes).map_err(BackupError::io("write", path))?;
        progress(bytes.len() as u64);
    }
    out.sync_all().map_err(BackupError::io("write", path))?;
    let (found, object) = (hash.finish(), file.sha256.to_string());
    if found == file.sha256 { Ok(()) } else { Err(BackupError::DamagedObject { file: file.path.clone(), object }) }
}

/// Moves the files to where they belong, the database last.
fn move_in(manifest: &Manifest, folder: &Path, run_dir: &Path) -> Result<(), BackupError> {
    let networks = run_dir.join("networks");
    fs::create_dir_all(&networks).map_err(BackupError::io("create", &networks))?;
    let (database, others): (Vec<_>, Vec<_>) = manifest.files.iter().partition(|file| file.path == DATABASE_FILE);
    for files in [others, database] {
        for file in files {
            let to = run_dir.join(&file.path);
            fs::rename(folder.join(&file.path), &to).map_err(BackupError::io("move to", to))?;
        }
        sync_dir(&networks).and_then(|()| sync_dir(run_dir)).map_err(BackupError::io("sync", run_dir))?;
    }
    fs::remove_dir_all(folder).map_err(BackupError::io("delete", folder))
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
