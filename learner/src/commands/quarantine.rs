//! Taking the games of one worker out of a run.

use std::path::PathBuf;

use anyhow::Context;
use runtime::exit::{self, UsageError};
use store::{Change, Reader, SetAside, Store};

use super::need_run;

/// Whose games, and of which run.
#[derive(Debug, Clone, clap::Args)]
pub struct QuarantineArgs {
    /// Name of the worker, as the log (`worker joined`) and the table `workers` have it.
    #[arg(long, value_name = "NAME")]
    worker: String,
    /// Folder of the run, in which no learner is at work.
    #[arg(long, value_name = "DIR", default_value = "run")]
    run_dir: PathBuf,
    /// Puts the games back.
    #[arg(long)]
    undo: bool,
}

/// Takes all games that a worker had out of the run, or puts them back, and says how many they are.
///
/// # Errors
/// If there is no such run or worker, or a learner is at work there.
pub fn quarantine(args: &QuarantineArgs) -> anyhow::Result<()> {
    let QuarantineArgs { worker, run_dir, undo } = args;
    need_run(run_dir)?;
    let run = Reader::of_run(run_dir).and_then(|reader| reader.run()).context("open the store")?;
    let store = Store::open(run_dir, &run).context("the learner must be stopped first")?;
    let reader = store.reader()?;
    if !reader.has_worker(worker)? {
        let what =
            format!("--worker: no worker {worker:?} had games of this run; the table `workers` names those that had");
        return Err(UsageError(what).into());
    }
    let before = reader.set_aside_count(worker)?;
    let worker_id = worker.clone();
    let change = if *undo { Change::PutBack { worker_id } } else { Change::SetAside { worker_id } };
    store.write(vec![change])?;
    let after = reader.set_aside_count(worker)?;
    let text = if *undo {
        report("put back into", worker, before)
    } else {
        report("taken out of", worker, since(before, after))
    };
    let promotions = reader.promotions_with_set_aside(worker)?;
    let note = if promotions > 0 {
        format!(
            "{promotions} networks were promoted by gates with games of it, and stay: start a run from an earlier one (--resume) if you doubt them\n"
        )
    } else {
        String::new()
    };
    exit::print(&format!("{text}{note}")).context("write to stdout")
}

fn since(before: SetAside, after: SetAside) -> SetAside {
    SetAside {
        self_play_count: after.self_play_count - before.self_play_count,
        gate_count: after.gate_count - before.gate_count,
        open_count: after.open_count - before.open_count,
    }
}

fn report(what: &str, worker: &str, games: SetAside) -> String {
    let SetAside { self_play_count, gate_count, open_count } = games;
    format!(
        "{what} the run: {self_play_count} self-play games, {gate_count} games of gates, {open_count} that were not over \
         ({worker})\n"
    )
}
