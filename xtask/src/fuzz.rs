//! `cargo xtask fuzz`: lets cargo-fuzz look for inputs that break a decoder.
//!
//! The targets lie in `fuzz/`, their checks in the crate `fuzz-checks`. Committed inputs (`fuzz/corpus`) are only read:
//! ordinary tests check them too. What a run finds goes to `fuzz/found`, what breaks a check to `fuzz/artifacts`.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::libtorch;
use crate::workspace::{LIBRARY_PATH, Workspace, library_path, run};

/// Checks that link libtorch.
const TORCH_TARGETS: [&str; 2] = ["network_file", "learner_settings"];

/// What to fuzz.
#[derive(Debug, Args)]
pub struct FuzzArguments {
    /// A target: a folder of `fuzz/corpus`. Without it, the targets are listed.
    target: Option<String>,
    /// How long to look, in seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Fuzzes one target, or lists the targets.
pub fn fuzz(workspace: &Workspace, arguments: &FuzzArguments) -> Result<ExitCode> {
    let folder = workspace.root().join("fuzz");
    let targets = targets(&folder.join("corpus"))?;
    let Some(target) = arguments.target.as_deref() else {
        println!("{}", targets.join("\n"));
        return Ok(ExitCode::SUCCESS);
    };
    if !targets.iter().any(|known| known == target) {
        bail!("there is no fuzz target {target:?}; there are: {}", targets.join(", "));
    }
    if !is_installed() {
        bail!(
            "fuzz: get cargo-fuzz and a nightly compiler with \
             `cargo install cargo-fuzz --locked && rustup toolchain install nightly`"
        );
    }
    let found = folder.join("found").join(target);
    fs::create_dir_all(&found).with_context(|| format!("create {}", found.display()))?;
    run(&mut command(workspace, target, &found, arguments.seconds)?)?;
    println!("xtask: nothing broke {target} in {} s", arguments.seconds);
    Ok(ExitCode::SUCCESS)
}

fn command(workspace: &Workspace, target: &str, found: &Path, seconds: u32) -> Result<Command> {
    let mut command = nightly();
    command.current_dir(workspace.root()).args(["fuzz", "run", target]);
    if TORCH_TARGETS.contains(&target) {
        let libtorch = libtorch::ensure(libtorch::Flavour::of_this_machine())?;
        command.env("LIBTORCH", &libtorch).env(LIBRARY_PATH, library_path(&libtorch));
        command.args(["--features", "torch"]);
    }
    let seeds = workspace.root().join("fuzz/corpus").join(target);
    // The first folder receives what is found, the second is only read.
    command.arg(found).arg(seeds).args(["--", &format!("-max_total_time={seconds}"), "-rss_limit_mb=4096"]);
    Ok(command)
}

/// The folders of the committed inputs, one a target.
fn targets(corpus: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(corpus).with_context(|| format!("read {}", corpus.display()))?;
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

fn is_installed() -> bool {
    let status = nightly().args(["fuzz", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The `cargo` of rustup, which takes a toolchain: that in `CARGO` is the stable one.
fn nightly() -> Command {
    let mut command = Command::new("cargo");
    command.arg("+nightly");
    for name in ["CARGO", "RUSTUP_TOOLCHAIN", "CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME"] {
        command.env_remove(name);
    }
    command
}
