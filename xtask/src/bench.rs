//! `cargo xtask bench`: runs the benchmarks of every crate that has any, and compares what they measure with the baselines.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;

use crate::baselines::Measurements;
use crate::libtorch;
use crate::workspace::{Workspace, run_and_read};

/// Crates in the order of their imports, so that a slow base shows first.
const BENCH_PACKAGES: [&str; 6] = ["shared", "notation", "net", "worker", "learner", "engine"];

/// What to measure.
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Only benchmarks whose name contains this.
    filter: Option<String>,
    /// Only this crate's.
    #[arg(long, short)]
    package: Option<String>,
}

/// Runs the benchmarks and prints their tables.
pub fn bench(workspace: &Workspace, arguments: &BenchArguments) -> Result<ExitCode> {
    let packages = packages(workspace, arguments.package.as_deref());
    if packages.is_empty() {
        bail!("no crate called {:?} has benchmarks", arguments.package.as_deref().unwrap_or("*"));
    }
    let libtorch = libtorch::ensure(libtorch::Flavour::of_this_machine())?;
    let mut measurements = Measurements::default();
    for package in packages {
        println!("xtask: benchmarks of {package}");
        let mut command = workspace.cargo_with(&libtorch);
        command.args(["bench", "--package", package, "--bench", "*"]);
        if let Some(filter) = &arguments.filter {
            command.arg("--").arg(filter);
        }
        run_and_read(&mut command, |line| {
            println!("{line}");
            measurements.read(line);
        })?;
    }
    if let Some(table) = measurements.table() {
        println!("xtask: the first description, and this machine\n{table}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Crates that have benchmarks, or the one called `only` if it has.
pub fn packages(workspace: &Workspace, only: Option<&str>) -> Vec<&'static str> {
    let has_benches = |package: &&str| workspace.root().join(package).join("benches").is_dir();
    let wanted = |package: &&str| only.is_none_or(|only| only == *package);
    BENCH_PACKAGES.into_iter().filter(has_benches).filter(wanted).collect()
}
