//! The thread that makes backups beside a run: at the start, every interval, after each promotion, and at the end.
//!
//! It has connections, a runtime and a copy of its own. What fails is logged, once a try, and tried again after a growing
//! wait; the run goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use runtime::exit::one_line;
use shared::ids::Generation;
use store::Reader;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::manifest::RunFacts;
use super::{Access, BackupConfig, BackupError, BackupPlace, BackupStatus, BackupUrl, LocalCopy, Uploaded, Uploader};

/// Time between two looks at whether a network was promoted.
const TICK: Duration = Duration::from_secs(1);
/// Wait after the first failure; it doubles with each further one, up to the interval.
const RETRY_WAIT_FIRST: Duration = Duration::from_secs(10);
/// Wait after a failure of the last backup.
const LAST_RETRY_WAIT: Duration = Duration::from_secs(1);
/// Tries of the last backup.
const LAST_TRY_COUNT: u32 = 5;

/// What the thread needs.
pub struct BackupParts {
    /// How often, and what is kept.
    pub config: BackupConfig,
    /// Where to.
    pub url: BackupUrl,
    /// Where the run lies.
    pub run_dir: PathBuf,
    /// Returns the generation of the best network: when it rises, a backup is due.
    pub generation: Box<dyn Fn() -> Generation + Send>,
    /// Where it says what the backups came to.
    pub status: Arc<BackupStatus>,
}

/// The thread that makes backups, as the run sees it.
pub struct BackupThread {
    run_dir: PathBuf,
    /// Ends the wait and what is under way: the last backup begins.
    is_last: CancellationToken,
    /// Ends the last backup too.
    give_up: CancellationToken,
    /// What the last backup came to; the newest that there is.
    ended: Receiver<Option<Uploaded>>,
    status: Arc<BackupStatus>,
}

impl BackupThread {
    /// Starts the thread; its first backup begins at once.
    ///
    /// # Errors
    /// [`std::io::Error`] if the system refuses the thread or its runtime.
    pub fn start(parts: BackupParts) -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (sender, ended) = sync_channel(1);
        let (is_last, give_up) = (CancellationToken::new(), CancellationToken::new());
        let (run_dir, status) = (parts.run_dir.clone(), Arc::clone(&parts.status));
        let work =
            Work { parts, runtime, uploader: None, last: None, is_last: is_last.clone(), give_up: give_up.clone() };
        std::thread::Builder::new().name("backup".to_owned()).spawn(move || work.run(&sender))?;
        Ok(Self { run_dir, is_last, give_up, ended, status })
    }

    /// Makes the last backup, when nothing is written any more. Waits until `deadline`, if there is one, and warns of
    /// what is in no backup if it is not made by then.
    pub fn finish(self, deadline: Option<Instant>) {
        self.is_last.cancel();
        let ended = match deadline {
            Some(deadline) => self.ended.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            None => self.ended.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        self.give_up.cancel();
        match ended {
            Ok(Some(_)) => {}
            Ok(None) => self.warn_of_loss("the last backup failed"),
            Err(RecvTimeoutError::Timeout) => self.warn_of_loss("the last backup was not done in time"),
            Err(RecvTimeoutError::Disconnected) => self.warn_of_loss("the backup thread died"),
        }
    }

    /// Says what would be lost with this machine.
    fn warn_of_loss(&self, reason: &'static str) {
        let (last, now) = (self.status.last(), progress_of(&self.run_dir));
        let at = last.as_ref().map_or_else(|| "never".to_owned(), |last| last.time.to_string());
        let Ok(now) = now else {
            warn!(reason, last_backup = at, "work since the last backup exists only on this machine");
            return;
        };
        let saved = last.map_or(Progress::default(), |last| Progress::from(&last.run));
        warn!(
            reason,
            last_backup = at,
            training_steps = now.training_step.saturating_sub(saved.training_step),
            promotions = now.generation.saturating_sub(saved.generation),
            games = now.finished_game_count.saturating_sub(saved.finished_game_count),
            "work since the last backup exists only on this machine"
        );
    }
}

/// How far a run is.
#[derive(Debug, Default)]
struct Progress {
    training_step: u64,
    generation: u32,
    finished_game_count: u64,
}

impl From<&RunFacts> for Progress {
    fn from(run: &RunFacts) -> Self {
        let RunFacts { training_step, generation, finished_game_count, .. } = *run;
        Self { training_step, generation, finished_game_count }
    }
}

fn progress_of(run_dir: &std::path::Path) -> Result<Progress, BackupError> {
    let reader = Reader::of_run(run_dir)?;
    let best = reader.best_network()?;
    Ok(Progress {
        training_step: reader.checkpoints()?.first().map_or(0, |row| row.training_step),
        generation: best.and_then(|best| best.generation).unwrap_or_default().get(),
        finished_game_count: reader.finished_self_play_count()?,
    })
}

/// What the thread owns.
struct Work {
    parts: BackupParts,
    runtime: Runtime,
    /// Kept from one backup to the next; `None` before the place could be opened.
    uploader: Option<Uploader>,
    last: Option<Uploaded>,
    is_last: CancellationToken,
    give_up: CancellationToken,
}

impl Work {
    fn run(mut self, ended: &SyncSender<Option<Uploaded>>) {
        let mut failure_count = 0;
        while !self.is_last.is_cancelled() {
            let stop = self.is_last.clone();
            let wait = match self.back_up(&stop) {
                Ok(()) => {
                    failure_count = 0;
                    self.parts.config.interval
                }
                Err(BackupError::Stopped) => break,
                Err(error) => {
                    let wait = retry_wait(failure_count, self.parts.config.interval);
                    failure_count += 1;
                    self.warn_of_failure(&error, Some(wait));
                    wait
                }
            };
            self.wait(wait, failure_count == 0);
        }
        let last = self.make_last();
        // Whoever waited may have given up.
        let _ = ended.send(last);
    }

    /// Waits for the next backup: so long, or until a promotion, or the end.
    fn wait(&self, wait: Duration, ends_at_promotion: bool) {
        let until = Instant::now() + wait;
        let saved = self.last.as_ref().map(|last| last.run.generation);
        let is_promoted = || Some((self.parts.generation)().get()) != saved;
        while Instant::now() < until && !self.is_last.is_cancelled() && !(ends_at_promotion && is_promoted()) {
            let tick = TICK.min(until.saturating_duration_since(Instant::now()));
            self.runtime.block_on(async { tokio::time::timeout(tick, self.is_last.cancelled()).await.ok() });
        }
    }

    /// Makes the last backup, trying a few times.
    fn make_last(&mut self) -> Option<Uploaded> {
        let stop = self.give_up.clone();
        for try_number in 1..=LAST_TRY_COUNT {
            match self.back_up(&stop) {
                Ok(()) => return self.last.clone(),
                Err(BackupError::Stopped) => return None,
                Err(error) => {
                    let is_over = try_number == LAST_TRY_COUNT;
                    self.warn_of_failure(&error, (!is_over).then_some(LAST_RETRY_WAIT));
                    if is_over {
                        return None;
                    }
                    self.runtime.block_on(async { tokio::time::timeout(LAST_RETRY_WAIT, stop.cancelled()).await.ok() });
                }
            }
        }
        None
    }

    /// Makes one backup, and thins out old ones unless it is the last.
    fn back_up(&mut self, stop: &CancellationToken) -> Result<(), BackupError> {
        let started_at = Instant::now();
        let uploader = match &mut self.uploader {
            Some(uploader) => uploader,
            none => none.insert(Uploader::new(BackupPlace::open(&self.parts.url, Access::Write)?)),
        };
        let copy = LocalCopy::make(&self.parts.run_dir, stop)?;
        let copy_time = started_at.elapsed();
        let uploading = uploader.upload(&copy, SystemTime::now(), stop);
        let uploaded = self.runtime.block_on(stop.run_until_cancelled(uploading));
        let uploaded = uploaded.unwrap_or(Err(BackupError::Stopped))?;
        info!(
            backup = %uploaded.time,
            training_step = uploaded.run.training_step,
            generation = uploaded.run.generation,
            games = uploaded.run.finished_game_count,
            bytes = uploaded.byte_count,
            sent_bytes = uploaded.sent_byte_count,
            copy_seconds = format!("{:.1}", copy_time.as_secs_f32()),
            seconds = format!("{:.1}", started_at.elapsed().as_secs_f32()),
            "backup done"
        );
        self.parts.status.note_backup(&uploaded);
        self.last = Some(uploaded);
        if !self.is_last.is_cancelled() {
            let thinning = uploader.thin(SystemTime::now(), self.parts.config.keep_days);
            if let Some(Err(error)) = self.runtime.block_on(stop.run_until_cancelled(thinning)) {
                warn!(error = one_line(&error), "old backups not thinned out: the next backup tries again");
            }
        }
        Ok(())
    }

    fn warn_of_failure(&self, error: &BackupError, wait: Option<Duration>) {
        self.parts.status.note_failure();
        let next_try = wait.map(|wait| humantime::format_duration(wait).to_string());
        let last_backup = self.last.as_ref().map_or_else(|| "never".to_owned(), |last| last.time.to_string());
        warn!(error = one_line(error), next_try_in = next_try, last_backup, "backup failed");
    }
}

/// Returns the wait after so many failures before this one.
fn retry_wait(failure_count: u32, interval: Duration) -> Duration {
    RETRY_WAIT_FIRST.saturating_mul(1 << failure_count.min(20)).min(interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_tried_again_ever_later_but_never_later_than_the_next_backup() {
        let waits = [0, 1, 2, 5, 6, 100].map(|count| retry_wait(count, Duration::from_secs(600)).as_secs());
        assert_eq!(waits, [10, 20, 40, 320, 600, 600]);
        assert_eq!(retry_wait(0, Duration::from_secs(2)).as_secs(), 2);
    }
}
