//! The program `evaluator`: plays the learner's gate games with the cores of this machine, and matches of any players.
//!
//! How gate games are played is in crate `worker`; their verdict is the learner's. Nothing here links libtorch.

mod ladder;
mod matches;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use worker::program::WorkerArgs;

/// Plays gate games for a learner: candidate against best network.
///
/// Needs nothing but the learner's address. While there is no candidate it waits, and says so.
/// With `match` it lets any two players meet instead, with `ladder` it shows how strong they are.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(flatten)]
    worker: WorkerArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Match(Box<matches::MatchOptions>),
    Ladder(Box<ladder::LadderOptions>),
}

const EXAMPLES: &str = "\
Examples:
  evaluator                                                a learner on this machine
  evaluator --learner http://gpu-box:50051 --threads 4     a learner elsewhere
  evaluator --config config/evaluator.toml --print-config  show the settings and end
  evaluator match random mcts:100 --games 20               a match; `evaluator match --help` tells more
  evaluator ladder --run-dir run                           how strong all are that have met

Settings come from: built-in default < --config < environment (ALVEARE_EVALUATOR__THREADS=8) < flags.
Exit codes: 0 stopped cleanly, 1 failure, 64 wrong usage or settings.";

fn main() -> ExitCode {
    let cli: Cli = runtime::exit::parse();
    runtime::exit::run("evaluator", || match &cli.command {
        Some(Command::Match(options)) => matches::run(options),
        Some(Command::Ladder(options)) => ladder::run(options),
        None => worker::program::start("evaluator", proto::WorkerKind::Evaluator, &cli.worker),
    })
}
