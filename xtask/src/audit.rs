//! `cargo xtask audit`: licences, sources and versions of all dependencies, as `deny.toml` wants them.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Result, bail};
use clap::Args;

use crate::workspace::{Workspace, run};

/// What is checked from the lock file and the registry's sources alone.
const OFFLINE_CHECKS: [&str; 3] = ["licenses", "bans", "sources"];

/// What to check.
#[derive(Debug, Args)]
pub struct AuditArguments {
    /// Also look for known vulnerabilities: fetches the RustSec database from github.com.
    #[arg(long)]
    advisories: bool,
}

/// Runs cargo-deny; without it, says how to get it.
pub fn audit(workspace: &Workspace, arguments: &AuditArguments) -> Result<ExitCode> {
    if !is_installed(workspace) {
        bail!("audit: there is no cargo-deny; get it with `cargo install cargo-deny --locked`");
    }
    let mut command = workspace.cargo();
    command.args(["deny", "check"]).args(OFFLINE_CHECKS);
    if arguments.advisories {
        command.arg("advisories");
    }
    run(&mut command)?;
    if !arguments.advisories {
        println!("xtask: known vulnerabilities were not looked up: add --advisories, which needs the network");
    }
    Ok(ExitCode::SUCCESS)
}

fn is_installed(workspace: &Workspace) -> bool {
    let mut command = workspace.cargo();
    command.args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    succeeds(&mut command)
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
