//! The program `evaluator`: plays the learner's gate games with the cores of this machine.
//!
//! All it does is in crate `worker`; the verdict is the learner's. Nothing here links libtorch.

use std::process::ExitCode;

use clap::Parser;
use worker::program::WorkerArgs;

/// Plays gate games for a learner: candidate against best network.
///
/// Needs nothing but the learner's address. While there is no candidate it waits, and says so.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    worker: WorkerArgs,
}

const EXAMPLES: &str = "\
Examples:
  evaluator                                                a learner on this machine
  evaluator --learner http://gpu-box:50051 --threads 4     a learner elsewhere
  evaluator --config config/evaluator.toml --print-config  show the settings and end

Settings come from: built-in default < --config < environment (ALVEARE_EVALUATOR__THREADS=8) < flags.
Exit codes: 0 stopped cleanly, 1 failure, 64 wrong usage or settings.";

fn main() -> ExitCode {
    let cli: Cli = runtime::exit::parse();
    runtime::exit::run("evaluator", || worker::program::start("evaluator", proto::WorkerKind::Evaluator, &cli.worker))
}
