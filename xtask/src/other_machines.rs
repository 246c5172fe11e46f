//! Whether what needs no libtorch compiles for machines of another kind: those on which people let actors play.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{Workspace, run, with_packages};

/// arm64 Linux, and Macs with Apple's processors.
const TARGETS: [&str; 2] = ["aarch64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// Rust alone.
const RULES_AND_SEARCH: [&str; 4] = ["shared", "notation", "tables", "book"];
/// These have cryptography in C below them, which takes a compiler for the other machine.
const WORKERS: [&str; 3] = ["worker", "actor", "evaluator"];

/// Checks the packages for each target whose standard library is installed, and says which are not.
pub fn check(workspace: &Workspace) -> Result<()> {
    for target in TARGETS {
        if !is_installed(target)? {
            println!("xtask: not checked for {target}, which is not installed (rustup target add {target})");
            continue;
        }
        let mut packages = RULES_AND_SEARCH.to_vec();
        if has_c_compiler(target) {
            packages.extend(WORKERS);
        } else {
            println!("xtask: {} not checked for {target}: no C compiler for it is known", WORKERS.join(", "));
        }
        run(workspace.cargo().args(with_packages(&["check", "--target", target], &packages)))?;
    }
    Ok(())
}

/// Whether the compiler has a standard library for `target`.
fn is_installed(target: &str) -> Result<bool> {
    let arguments = ["--print", "target-libdir", "--target", target];
    let output = Command::new("rustc").args(arguments).output().context("run rustc --print target-libdir")?;
    if !output.status.success() {
        bail!("rustc does not know {target}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Whether build scripts will find a C compiler for `target`: the variable by which the crate `cc` is told one, or the
/// cross compiler that it looks for by itself, of which there is none for Macs.
fn has_c_compiler(target: &str) -> bool {
    env::var_os(format!("CC_{}", target.replace('-', "_"))).is_some() || is_there(&cross_compiler(target))
}

/// The C compiler, and linker, for another kind of Linux, as Debian and others name it.
pub fn cross_compiler(target: &str) -> String {
    target.replace("-unknown", "") + "-gcc"
}

/// Whether a compiler can be started.
pub fn is_there(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_s_target_is_installed_and_an_unknown_one_is_named() {
        let target = format!("{}-unknown-linux-gnu", env::consts::ARCH);
        assert!(is_installed(&target).unwrap());
        let error = is_installed("pdp11-unknown-unix").unwrap_err().to_string();
        assert!(error.contains("pdp11-unknown-unix"), "{error}");
    }

    #[test]
    fn an_unknown_machine_has_no_compiler() {
        assert!(!has_c_compiler("pdp11-unknown-unix"));
    }
}
