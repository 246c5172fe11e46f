//! The program `actor`: plays the learner's self-play games with the cores of this machine.
//!
//! All it does is in crate `worker`; nothing here links libtorch.

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
}

const EXAMPLES: &str = "\
Examples:
  actor                                             a learner on this machine
  actor --learner https://gpu-box:50051 --threads 8 a learner elsewhere
  actor --config config/actor.toml --print-config   show the settings and end

Settings come from: built-in default < --config < environment (ALVEARE_ACTOR__THREADS=8) < flags.
Exit codes: 0 stopped cleanly, 1 failure, 64 wrong usage or settings.";

fn main() -> ExitCode {
    let cli: Cli = runtime::exit::parse();
    runtime::exit::run("actor", || worker::program::start("actor", proto::WorkerKind::Actor, &cli.worker))
}
