//! `cargo xtask`: everything a person or CI does with this workspace, in one small program.
//!
//! It builds, tests, tidies and starts the real programs; it contains none of their logic
//! and links neither libtorch nor tokio, so that it is there within half a minute.

mod audit;
mod baselines;
mod bench;
mod dist;
mod fuzz;
mod games;
mod libtorch;
mod link;
mod other_machines;
mod rust_version;
mod steps;
mod tidy;
mod up;
mod wheel;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Builds, tests and runs Alveare.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Builds everything and starts a learner, actors and an evaluator on this machine.
    Up(up::UpArguments),
    /// Runs everything that CI runs.
    Test(steps::TestArguments),
    /// Builds the programs in release mode: learner, actor, evaluator, alveare.
    Build,
    /// Makes an archive of actor and evaluator that start on any Linux, with its checksum.
    Dist(dist::DistArguments),
    /// Checks what no compiler checks: file lengths, leftovers, who may name what.
    Tidy,
    /// Runs the benchmarks and prints their tables.
    Bench(bench::BenchArguments),
    /// Checks licences, sources and versions of the dependencies (needs cargo-deny).
    Audit(audit::AuditArguments),
    /// Looks for inputs that break a decoder (needs cargo-fuzz and a nightly compiler).
    Fuzz(fuzz::FuzzArguments),
    /// Downloads human games to learn from: the largest public archive of Hive, or any other file.
    Games(games::GamesArguments),
    /// Carries connections as slowly as a home link does, to try workers through it.
    Link(link::LinkArguments),
    /// Builds the Python package as a wheel, and checks it.
    Wheel(wheel::WheelArguments),
    /// Gets libtorch if it is not there and prints where it lies.
    Libtorch(libtorch::LibtorchArguments),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    match run(arguments.task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            error.downcast_ref::<up::LearnerFailed>().map_or(ExitCode::FAILURE, |failed| failed.exit_code().into())
        }
    }
}

fn run(task: Task) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    match task {
        Task::Up(arguments) => up::up(&workspace, &arguments),
        Task::Test(arguments) => steps::test(&workspace, &arguments),
        Task::Build => steps::build(&workspace),
        Task::Dist(arguments) => dist::dist(&workspace, &arguments),
        Task::Tidy => tidy::tidy(&workspace),
        Task::Bench(arguments) => bench::bench(&workspace, &arguments),
        Task::Audit(arguments) => audit::audit(&workspace, &arguments),
        Task::Fuzz(arguments) => fuzz::fuzz(&workspace, &arguments),
        Task::Games(arguments) => games::games(&arguments),
        Task::Link(arguments) => link::link(&arguments),
        Task::Wheel(arguments) => wheel::wheel(&workspace, &arguments),
        Task::Libtorch(arguments) => libtorch::print(&arguments),
    }
}

/// Prints help or a complaint; a complaint ends with 64, as in all our programs.
fn usage(error: &clap::Error) -> ExitCode {
    let failed = error.use_stderr();
    // The message is for a person: if it can't be printed, there is nobody to tell.
    let _ = error.print();
    if failed { ExitCode::from(64) } else { ExitCode::SUCCESS }
}
