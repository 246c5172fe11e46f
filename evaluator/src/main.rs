//! The program `evaluator`: plays the learner's gate games with the cores of this machine.
//!
//! How gate games are played is in crate `worker`; their verdict is the learner's. Nothing here links libtorch.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use runtime::exit::UsageError;
use worker::program::WorkerArgs;

/// Plays gate games for a learner: candidate against best network.
///
/// Needs nothing but the learner's address. While there is no candidate it waits, and says so.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(flatten)]
    worker: WorkerArgs,
    #[command(subcommand)]
    moved: Option<Moved>,
}

/// Commands that are called otherwise now.
#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
enum Moved {
    #[command(hide = true, disable_help_flag = true)]
    Match(Rest),
    #[command(hide = true, disable_help_flag = true)]
    Ladder(Rest),
}

/// A flag of the commands that are called otherwise now: it named the program that computed networks.
const GONE_FLAG: &str = "--learner-program";

/// What followed the command, whatever it was.
#[derive(Debug, clap::Args)]
struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  evaluator                                                a learner on this machine
  evaluator --learner https://gpu-box:50051 --threads 4    a learner elsewhere
  evaluator --config config/evaluator.toml --print-config  show the settings and end

Settings come from: built-in default < --config < environment (ALVEARE_EVALUATOR__THREADS=8) < flags.
Exit codes: 0 stopped cleanly, 1 failure, 64 wrong usage or settings.";

fn main() -> ExitCode {
    let cli: Cli = runtime::exit::parse();
    runtime::exit::run("evaluator", || match &cli.moved {
        Some(Moved::Match(rest)) => Err(rest.moved_to("matches are played by `alveare match`").into()),
        Some(Moved::Ladder(rest)) => Err(rest.moved_to("the ladder is shown by `alveare ladder`").into()),
        None => worker::program::start("evaluator", proto::WorkerKind::Evaluator, &cli.worker),
    })
}

impl Rest {
    /// Says what the command is called now, with what the user typed behind it, flags aside that are gone.
    fn moved_to(&self, what: &str) -> UsageError {
        let command = what.split('`').nth(1).unwrap_or_default();
        let mut kept = Vec::new();
        let mut arguments = self.arguments.iter().map(|argument| argument.to_string_lossy());
        while let Some(argument) = arguments.next() {
            if argument == GONE_FLAG {
                arguments.next();
            } else if !argument.starts_with(&format!("{GONE_FLAG}=")) {
                kept.push(argument);
            }
        }
        UsageError(format!("{what}: {command} {}", kept.join(" ")))
    }
}
