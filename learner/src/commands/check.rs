//! Checking a run directory, and saying what of it is whole.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Context;
use learner::check::check_run;
use runtime::exit;

use super::need_run;

/// Damages that are shown of each part.
const SHOWN_MAX: usize = 20;

/// What to check.
#[derive(Debug, Clone, clap::Args)]
pub struct CheckArgs {
    /// Folder of the run; a learner may be at work there.
    #[arg(value_name = "RUN_DIR")]
    run_dir: PathBuf,
}

/// Checks database, games, networks and checkpoints, and prints one line for each.
///
/// # Errors
/// If there is no run, or something in it is damaged.
pub fn check(args: &CheckArgs) -> anyhow::Result<()> {
    need_run(&args.run_dir)?;
    let parts = check_run(&args.run_dir)?;
    let mut text = String::new();
    for part in &parts {
        let state = if part.damages.is_empty() { "whole" } else { "DAMAGED" };
        writeln!(text, "{} {state}: {}", part.part, part.summary)?;
        part.damages.iter().take(SHOWN_MAX).try_for_each(|damage| writeln!(text, "  {damage}"))?;
        let more = part.damages.len().saturating_sub(SHOWN_MAX);
        if more > 0 {
            writeln!(text, "  and {more} more")?;
        }
    }
    exit::print(&text).context("write to stdout")?;
    let damaged: Vec<&str> = parts.iter().filter(|part| !part.damages.is_empty()).map(|part| part.part).collect();
    anyhow::ensure!(
        damaged.is_empty(),
        "{}: {} damaged; docs/operations.md says what helps",
        args.run_dir.display(),
        damaged.join(", ")
    );
    Ok(())
}
