//! Storing a copy: what is not there yet goes first, the manifest last, and then old backups are thinned out.
//!
//! Safe if killed at any point: a manifest is only written once all that it names is there, and only what no manifest
//! names is deleted.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::time::{Duration, Instant, SystemTime};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::chunks::{ChunkId, FileHash, read_chunk};
use super::local_copy::CopiedFile;
use super::manifest::{BackupFile, Chunk, RunFacts};
use super::thinning::superfluous;
use super::{BackupError, BackupPlace, BackupTime, LocalCopy, Manifest};

/// Chunks under way at once, each of a MiB: they hide the round trip, and bound the memory.
const CHUNKS_AT_ONCE: usize = 8;
/// Time between two looks for chunks that no manifest names.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// Chunks younger than this stay although no manifest names them: one that is being made may.
const SWEEP_AGE_MIN: Duration = Duration::from_secs(60 * 60);

/// Makes backups of one run, one after the other, and remembers what is there.
#[derive(Debug)]
pub struct Uploader {
    place: BackupPlace,
    /// What is there; `None` before the first look.
    known: Option<Known>,
    swept_at: Option<Instant>,
}

/// What is there.
#[derive(Debug, Default)]
struct Known {
    chunks: HashSet<ChunkId>,
    last: Option<BackupTime>,
    /// Files of the last backup by path: of a network that is there nothing has to be read.
    files: HashMap<String, BackupFile>,
}

/// A backup that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uploaded {
    /// Its name.
    pub time: BackupTime,
    /// How far the run was.
    pub run: RunFacts,
    /// Bytes of all files.
    pub byte_count: u64,
    /// Bytes that were sent, compressed.
    pub sent_byte_count: u64,
}

impl Uploader {
    /// Makes backups in `place`.
    #[must_use]
    pub const fn new(place: BackupPlace) -> Self {
        Self { place, known: None, swept_at: None }
    }

    /// Stores a copy.
    ///
    /// # Errors
    /// [`BackupError::OtherRun`], [`BackupError::DamagedFile`], [`BackupError::Place`] if the store fails,
    /// [`BackupError::Stopped`] once `stop` is cancelled. What was stored by then is not sent again.
    pub async fn upload(
        &mut self,
        copy: &LocalCopy,
        now: SystemTime,
        stop: &CancellationToken,
    ) -> Result<Uploaded, BackupError> {
        if self.known.is_none() {
            self.known = Some(look(&self.place, &copy.run.run_id).await?);
        }
        let known = self.known.get_or_insert_default();
        let (mut files, mut sent_byte_count) = (Vec::with_capacity(copy.files.len()), 0);
        for file in &copy.files {
            if let Some(stored) = known.stored(file) {
                files.push(stored.clone());
                continue;
            }
            let (stored, sent) = store_file(&self.place, copy, file, &mut known.chunks, stop).await?;
            sent_byte_count += sent;
            match file.sha256 {
                Some(sha256) if sha256 != stored.sha256 && file.is_needed => {
                    return Err(BackupError::DamagedFile(file.path.clone().into()));
                }
                Some(sha256) if sha256 != stored.sha256 => {
                    warn!(file = file.path, "an old network is damaged: left out of the backup");
                }
                _ => files.push(stored),
            }
        }
        if stop.is_cancelled() {
            return Err(BackupError::Stopped);
        }
        let time = BackupTime::after(known.last, now);
        let manifest = Manifest::new(time, copy.run.clone(), files);
        self.place.write_manifest(time, &manifest).await?;
        let (run, byte_count) = (manifest.run.clone(), manifest.byte_count());
        known.last = Some(time);
        known.remember(manifest);
        Ok(Uploaded { time, run, byte_count, sent_byte_count })
    }

    /// Deletes backups that need not be kept, and now and then the chunks that none of those that are left names.
    ///
    /// # Errors
    /// [`BackupError`] if the place of the backups does not list or delete; the next call deletes what is left.
    pub async fn thin(&mut self, now: SystemTime, keep_days: u32) -> Result<(), BackupError> {
        let mut backups = self.place.backups().await?;
        let gone = superfluous(&backups, now, keep_days);
        for backup in &gone {
            self.place.delete_manifest(*backup).await?;
        }
        backups.retain(|backup| !gone.contains(backup));
        if self.swept_at.is_some_and(|at| at.elapsed() < SWEEP_INTERVAL) {
            return Ok(());
        }
        self.sweep(&backups, now).await?;
        self.swept_at = Some(Instant::now());
        Ok(())
    }

    /// Deletes the chunks that none of these backups names. If one cannot be read, all stay.
    async fn sweep(&mut self, backups: &[BackupTime], now: SystemTime) -> Result<(), BackupError> {
        let mut named = HashSet::new();
        for backup in backups {
            let manifest = self.place.manifest(*backup).await?;
            named.extend(manifest.files.iter().flat_map(|file| &file.chunks).map(|chunk| chunk.sha256));
        }
        let is_old = |stored_at| now.duration_since(stored_at).is_ok_and(|age| age >= SWEEP_AGE_MIN);
        let mut chunks = self.place.chunks().await?;
        chunks.retain(|chunk| !named.contains(&chunk.id) && is_old(chunk.stored_at));
        let (gone, result) = self.place.delete_chunks(chunks).await;
        if !gone.is_empty() {
            debug!(chunk_count = gone.len(), "chunks that no backup names deleted");
        }
        if let Some(known) = &mut self.known {
            known.chunks.retain(|id| !gone.contains(id));
        }
        result
    }
}

impl Known {
    /// Returns the file as it is there already, if it is.
    fn stored(&self, file: &CopiedFile) -> Option<&BackupFile> {
        let stored = self.files.get(&file.path)?;
        let is_same = file.sha256 == Some(stored.sha256);
        let is_there = || stored.chunks.iter().all(|chunk| self.chunks.contains(&chunk.sha256));
        (is_same && is_there()).then_some(stored)
    }

    fn remember(&mut self, manifest: Manifest) {
        self.files = manifest.files.into_iter().map(|file| (file.path.clone(), file)).collect();
    }
}

/// Looks at what is there. Backups of another run are not mixed with those of this one.
async fn look(place: &BackupPlace, run_id: &str) -> Result<Known, BackupError> {
    let mut known = Known::default();
    for backup in place.backups().await?.into_iter().rev() {
        known.last = known.last.max(Some(backup));
        let manifest = match place.manifest(backup).await {
            Err(BackupError::DamagedManifest { name, problem }) => {
                warn!(backup = name, %problem, "damaged backup passed over");
                continue;
            }
            manifest => manifest?,
        };
        if manifest.run.run_id != run_id {
            let (url, found, own) = (place.url().to_owned(), manifest.run.run_id, run_id.to_owned());
            return Err(BackupError::OtherRun { url, found, own });
        }
        known.remember(manifest);
        break;
    }
    known.chunks = place.chunks().await?.into_iter().map(|chunk| chunk.id).collect();
    Ok(known)
}

/// Stores the chunks of a file that are not there; returns what the file is made of, and the bytes that were sent.
async fn store_file(
    place: &BackupPlace,
    copy: &LocalCopy,
    file: &CopiedFile,
    known: &mut HashSet<ChunkId>,
    stop: &CancellationToken,
) -> Result<(BackupFile, u64), BackupError> {
    let path = copy.path_of(file);
    let mut source = File::open(&path).map_err(BackupError::io("open", &path))?;
    let (mut chunks, mut hash, mut size, mut sent) = (Vec::new(), FileHash::default(), 0, 0);
    let mut under_way = FuturesUnordered::new();
    loop {
        if stop.is_cancelled() {
            return Err(BackupError::Stopped);
        }
        let mut bytes = Vec::new();
        read_chunk(&mut source, &mut bytes).map_err(BackupError::io("read", &path))?;
        if bytes.is_empty() {
            break;
        }
        let chunk = Chunk { sha256: ChunkId::of(&bytes), size: bytes.len() as u64 };
        hash.add(&bytes);
        size += chunk.size;
        chunks.push(chunk);
        if known.contains(&chunk.sha256) {
            continue;
        }
        if under_way.len() >= CHUNKS_AT_ONCE {
            take_done(&mut under_way, known, &mut sent).await?;
        }
        under_way.push(async move { (chunk.sha256, place.put_chunk(chunk.sha256, &bytes).await) });
    }
    while !under_way.is_empty() {
        take_done(&mut under_way, known, &mut sent).await?;
    }
    Ok((BackupFile { path: file.path.clone(), size, sha256: hash.finish(), chunks }, sent))
}

/// Waits for the next chunk that is stored.
async fn take_done(
    under_way: &mut FuturesUnordered<impl Future<Output = (ChunkId, Result<u64, BackupError>)>>,
    known: &mut HashSet<ChunkId>,
    sent: &mut u64,
) -> Result<(), BackupError> {
    if let Some((id, stored)) = under_way.next().await {
        *sent += stored?;
        known.insert(id);
    }
    Ok(())
}
