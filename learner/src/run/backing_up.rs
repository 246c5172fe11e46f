//! The backups of a run, and the time that a stop leaves for the last one.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use backup::{BackupParts, BackupThread};
use inference::best::BestNetwork;
use tokio_util::sync::CancellationToken;

use super::RunError;
use crate::config::LearnerConfig;
use crate::progress::RunStatus;

/// Time that the last backup has at least, however long the run took to end.
const LAST_BACKUP_MIN: Duration = Duration::from_secs(1);

/// Starts the thread that makes backups, if the settings name a place for them.
pub(super) fn start_backup(
    config: &LearnerConfig,
    best: &Arc<BestNetwork>,
    status: &Arc<RunStatus>,
) -> Result<Option<BackupThread>, RunError> {
    let Some(url) = config.backup.place() else { return Ok(None) };
    let best = Arc::clone(best);
    let parts = BackupParts {
        config: config.backup.clone(),
        url,
        run_dir: config.run.dir.clone(),
        generation: Box::new(move || best.get().generation),
        status: status.backups(),
    };
    let started = BackupThread::start(parts).map_err(|source| RunError::Thread { name: "backup", source });
    started.map(Some)
}

/// When the stop was asked for, once it was.
pub(super) struct StopTime(Arc<OnceLock<Instant>>);

/// Notes when the stop is asked for.
pub(super) fn note_stop(tokio: &tokio::runtime::Handle, stop: &CancellationToken) -> StopTime {
    let (time, stop) = (Arc::new(OnceLock::new()), stop.clone());
    let noted = Arc::clone(&time);
    tokio.spawn(async move {
        stop.cancelled().await;
        noted.get_or_init(Instant::now);
    });
    StopTime(time)
}

impl StopTime {
    /// Returns when `deadline` after the stop is over, but not before a moment from now.
    pub(super) fn deadline(&self, deadline: Duration) -> Instant {
        let now = Instant::now();
        let stopped_at = *self.0.get_or_init(|| now);
        (stopped_at + deadline).max(now + LAST_BACKUP_MIN)
    }
}
