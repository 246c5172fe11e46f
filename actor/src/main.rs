//! The program `actor`: plays the learner's self-play games with the cores of this machine.
//!
//! All it does is in crate `worker`; nothing here links libtorch.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use worker::program::WorkerArgs;

/// Plays self-play games for a learner.
///
/// Needs nothing but the learner's address: game, search settings and networks are the learner's. Start as many
/// actors as there are spare machines; stop and kill them as you like, another goes on from their last ply.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    worker: WorkerArgs,
    /// Folder of endgame tables by which the games are searched (draughts); `alveare tables` makes one.
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  actor                                             a learner on this machine
  actor --learner https://gpu-box:50051 --threads 8 a learner elsewhere
  actor --tables five                               draughts, with `alveare tables --pieces 5 --out five`
  actor --config config/actor.toml --print-config   show the settings and end

Settings come from: built-in default < --config < environment (ALVEARE_ACTOR__THREADS=8) < flags.
Exit codes: 0 stopped cleanly, 1 failure, 64 wrong usage or settings.";

fn main() -> ExitCode {
    let Cli { mut worker, tables } = runtime::exit::parse();
    worker.config.overrides.extend(tables.map(|folder| ("tables".to_owned(), folder.display().to_string())));
    runtime::exit::run("actor", || worker::program::start("actor", proto::WorkerKind::Actor, &worker))
}
