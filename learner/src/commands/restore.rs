//! `learner restore`: puts a backup of a run back, or lists those that there are.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Instant, SystemTime};

use anyhow::Context;
use backup::{Access, BackupPlace, BackupTime, BackupUrl};
use learner::best_file::mend_best_file_of;
use runtime::exit::{self, UsageError};
use runtime::logging;

/// Which backup, and where to put it.
#[derive(Debug, Clone, clap::Args)]
pub struct RestoreArgs {
    /// Where the backups are: a folder, file:///FOLDER or s3://BUCKET/PREFIX. Credentials of an S3-compatible store come
    /// from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, another server than Amazon's from AWS_ENDPOINT_URL.
    #[arg(value_name = "URL")]
    url: BackupUrl,
    /// Run directory to create; it must be empty or not exist.
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    run_dir: Option<PathBuf>,
    /// The newest backup, or the newest that was made at that time (UTC) or before: 2026-11-29T05:50:08Z, as --list shows
    /// it, or "2026-11-29 05:50:08", with or without the seconds.
    #[arg(long, value_name = "TIME|newest", default_value = "newest")]
    at: BackupChoice,
    /// Only list the backups, oldest first.
    #[arg(long, conflicts_with = "run_dir")]
    list: bool,
}

/// Which of the backups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackupChoice {
    Newest,
    NewestUntil(SystemTime),
}

/// A text that says no time.
#[derive(Debug, thiserror::Error)]
#[error("write newest, or a time (UTC) such as 2026-11-29T05:50:08Z or \"2026-11-29 05:50\"")]
struct BackupChoiceError;

impl FromStr for BackupChoice {
    type Err = BackupChoiceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "newest" {
            return Ok(Self::Newest);
        }
        let to_the_minute = || humantime::parse_rfc3339_weak(&format!("{text}:00"));
        let time = humantime::parse_rfc3339_weak(text).or_else(|_| to_the_minute());
        time.map(Self::NewestUntil).map_err(|_| BackupChoiceError)
    }
}

/// Restores, or lists.
///
/// # Errors
/// A place that cannot be read, no such backup, a damaged one, a run directory that is not empty.
pub fn restore(args: &RestoreArgs) -> anyhow::Result<()> {
    let place = BackupPlace::open(&args.url, Access::Read)?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().context("start tokio")?;
    if let Some(run_dir) = args.run_dir.as_ref().filter(|_| !args.list) {
        return tokio.block_on(restore_to(&place, args.at, run_dir));
    }
    tokio.block_on(list(&place))
}

async fn restore_to(place: &BackupPlace, choice: BackupChoice, run_dir: &std::path::Path) -> anyhow::Result<()> {
    let started_at = Instant::now();
    let at = match choice {
        BackupChoice::Newest => None,
        BackupChoice::NewestUntil(at) => Some(at),
    };
    let found = backup::find(place, at).await?;
    let bar = logging::bar();
    bar.set_prefix("restoring");
    bar.set_message("MiB");
    let run = backup::restore(place, found, run_dir, |done, all| {
        bar.set_length(all >> 20);
        bar.set_position(done >> 20);
    })
    .await
    .map_err(as_usage)?;
    bar.finish_and_clear();
    mend_best_file_of(run_dir)?;
    let text = format!(
        "{}: backup {found}, generation {}, training step {}, {} games; {:.1} s\n",
        run_dir.display(),
        run.generation,
        run.training_step,
        run.finished_game_count,
        started_at.elapsed().as_secs_f32()
    );
    exit::print(&text).context("write to stdout")
}

/// A folder that is not empty is the wrong one.
fn as_usage(error: backup::BackupError) -> anyhow::Error {
    match error {
        backup::BackupError::NotEmpty { .. } => UsageError(error.to_string()).into(),
        error => error.into(),
    }
}

/// Prints one backup a line. One that cannot be read is named too.
async fn list(place: &BackupPlace) -> anyhow::Result<()> {
    let backups = place.backups().await?;
    anyhow::ensure!(!backups.is_empty(), "{} holds no backup", place.url());
    exit::print("time                      generation  training_step       games         MiB\n")
        .context("write to stdout")?;
    for found in backups {
        exit::print(&line_of(place, found).await).context("write to stdout")?;
    }
    Ok(())
}

async fn line_of(place: &BackupPlace, found: BackupTime) -> String {
    match place.manifest(found).await {
        Ok(manifest) => {
            let (run, mebibytes) = (&manifest.run, manifest.byte_count() as f64 / f64::from(1 << 20));
            let (generation, step, games) = (run.generation, run.training_step, run.finished_game_count);
            format!("{found}  {generation:>10}  {step:>13}  {games:>10}  {mebibytes:>10.1}\n")
        }
        Err(error) => format!("{found}  {}\n", exit::one_line(&error)),
    }
}
