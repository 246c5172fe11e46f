//! `cargo xtask test` and `build`: the steps, each announced and timed, stopping at the first failure.

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;

use crate::bench;
use crate::libtorch;
use crate::other_machines;
use crate::rust_version;
use crate::tidy;
use crate::wheel::WheelMaker;
use crate::workspace::{Workspace, run, with_packages, words};

/// The programs a user gets. `alveare` is made by the crate `engine`.
pub const PROGRAM_PACKAGES: [&str; 4] = ["learner", "actor", "evaluator", "engine"];

/// What links libtorch and is tested after the programs are built: its tests start them. `arena` does so as a part of
/// `engine`; by itself it knows no networks.
const TORCH_PACKAGES: [&str; 5] = ["net", "inference", "arena", "learner", "engine"];

/// How strict the test is.
#[derive(Debug, Args)]
pub struct TestArguments {
    /// Fail unless this is the oldest Rust that Cargo.toml promises to build with.
    #[arg(long)]
    oldest_rust: bool,
}

/// Runs everything that CI runs.
pub fn test(workspace: &Workspace, arguments: &TestArguments) -> Result<ExitCode> {
    let started = Instant::now();
    step("cargo fmt --check", || run(workspace.cargo().args(["fmt", "--all", "--check"])))?;
    step("tidy", || tidy::check(workspace))?;
    step("oldest Rust", || rust_version::check(workspace, arguments.oldest_rust))?;
    let mut libtorch = None;
    step("libtorch", || {
        libtorch = Some(libtorch::ensure(libtorch::Flavour::of_this_machine())?);
        Ok(())
    })?;
    let libtorch = libtorch.context("the step above has set it")?;
    let cargo = |arguments: &[&str]| {
        let mut command = workspace.cargo_with(&libtorch);
        command.args(arguments);
        command
    };

    step("other machines", || other_machines::check(workspace))?;
    step_command(&mut cargo(&["test"]))?;
    step_command(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    step_command(&mut cargo(&with_packages(&["build"], &PROGRAM_PACKAGES)))?;
    step_command(&mut cargo(&with_packages(&["test"], &TORCH_PACKAGES)))?;
    step_command(&mut cargo(&["test", "--package", "fuzz-checks", "--features", "torch"]))?;
    let mut benches = cargo(&with_packages(&["test"], &bench::packages(workspace, None)));
    // Each once: that they still measure what they say is asserted in them, how fast they are is not CI's business.
    step_command(benches.args(["--bench", "*", "--", "--test"]))?;
    step_command(cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    let mut left_out = String::new();
    step("wheel", || match WheelMaker::new(workspace) {
        Ok(maker) => maker.test(&libtorch),
        // As other tests that need PyPI: nobody's change is wrong because of it.
        Err(error) => {
            println!("xtask: the wheel is NOT CHECKED: {error:#}");
            ", but for the wheel, which was NOT CHECKED".clone_into(&mut left_out);
            Ok(())
        }
    })?;
    println!("xtask: all steps passed in {:.0} s{left_out}", started.elapsed().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

/// Builds the programs in release mode and says where they lie.
pub fn build(workspace: &Workspace) -> Result<ExitCode> {
    let libtorch = libtorch::ensure(libtorch::Flavour::of_this_machine())?;
    let mut command = workspace.cargo_with(&libtorch);
    command.args(with_packages(&["build", "--release"], &PROGRAM_PACKAGES));
    run(&mut command)?;
    println!("xtask: the programs lie in {}", workspace.target_dir()?.join("release").display());
    Ok(ExitCode::SUCCESS)
}

fn step_command(command: &mut Command) -> Result<()> {
    step(&words(command), || run(command))
}

fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("xtask: {name} ...");
    let started = Instant::now();
    let result = work();
    let word = if result.is_ok() { "passed" } else { "FAILED" };
    println!("xtask: {name} {word} in {:.1} s", started.elapsed().as_secs_f64());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_step_passes_its_error_on() {
        let error = step("nothing", || anyhow::bail!("broken")).unwrap_err();
        assert_eq!(error.to_string(), "broken");
    }
}
