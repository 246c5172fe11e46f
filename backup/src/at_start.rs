//! A learner that finds its run directory without a run, and fills it from the newest backup: one command for a machine
//! that may be lost at any time.

use std::path::Path;
use std::time::Instant;

use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{Access, BackupConfig, BackupError, BackupPlace, find, has_run, restore};

/// Fills a run directory that has no run from the newest backup, if the settings ask for it and there is one.
///
/// # Errors
/// [`BackupError`] if there may be a backup but it cannot be had: a run is not begun anew because of a network that is
/// down. [`BackupError::Stopped`] if `stop` comes first.
pub async fn restore_at_start(
    config: &BackupConfig,
    run_dir: &Path,
    stop: &CancellationToken,
) -> Result<(), BackupError> {
    let Some(url) = config.place().filter(|_| config.restore) else { return Ok(()) };
    if has_run(run_dir) {
        info!(run_dir = %run_dir.display(), "the run directory has a run: nothing is restored");
        return Ok(());
    }
    let place = BackupPlace::open(&url, Access::Write)?;
    let restored = stop.run_until_cancelled(restore_newest(&place, run_dir)).await;
    restored.unwrap_or(Err(BackupError::Stopped))
}

async fn restore_newest(place: &BackupPlace, run_dir: &Path) -> Result<(), BackupError> {
    let started_at = Instant::now();
    let backup = match find(place, None).await {
        Err(BackupError::NoBackup { url, .. }) => {
            info!(url, "there is no backup: the run begins anew");
            return Ok(());
        }
        found => found?,
    };
    info!(url = place.url(), backup = %backup, "restoring the newest backup");
    let bar = runtime::logging::bar();
    bar.set_prefix("restoring");
    let mut byte_count = 0;
    let run = restore(place, backup, run_dir, |done, all| {
        byte_count = all;
        bar.set_length(all >> 20);
        bar.set_position(done >> 20);
        bar.set_message("MiB");
    })
    .await?;
    bar.finish_and_clear();
    info!(
        backup = %backup,
        training_step = run.training_step,
        generation = run.generation,
        games = run.finished_game_count,
        bytes = byte_count,
        seconds = format!("{:.1}", started_at.elapsed().as_secs_f32()),
        "restored"
    );
    Ok(())
}
