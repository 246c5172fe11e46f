//! The oldest Rust that `Cargo.toml` promises to build with, and whether the tests run with it.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// Compares the compiler with the promised version. A newer compiler is refused if `is_strict`, otherwise reported.
pub fn check(workspace: &Workspace, is_strict: bool) -> Result<()> {
    let manifest = fs::read_to_string(workspace.root().join("Cargo.toml")).context("read Cargo.toml")?;
    let promised = promised(&manifest).context("Cargo.toml has no rust-version")?;
    let output = Command::new("rustc").arg("--version").output().context("run rustc --version")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let running = running(&text).with_context(|| format!("rustc --version printed {text:?}"))?;
    if running == promised {
        println!("xtask: this is Rust {running}, the oldest that Cargo.toml promises");
    } else if is_strict {
        bail!(
            "Cargo.toml promises Rust {promised} and this is {running}: test with {promised} \
             (`RUSTUP_TOOLCHAIN={promised}.0 cargo xtask test`), or raise rust-version"
        );
    } else {
        println!("xtask: this is Rust {running}; Rust {promised}, the oldest that Cargo.toml promises, is left to CI");
    }
    Ok(())
}

/// The value of `rust-version`.
fn promised(manifest: &str) -> Option<&str> {
    let line = manifest.lines().find(|line| line.starts_with("rust-version"))?;
    line.split('"').nth(1)
}

/// Major and minor version of `rustc 1.95.0 (…)`.
fn running(text: &str) -> Option<&str> {
    let version = text.split_whitespace().nth(1)?;
    version.rsplit_once('.').map(|(minor, _)| minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_major_and_minor() {
        assert_eq!(promised("[workspace.package]\nrust-version = \"1.95\"\n"), Some("1.95"));
        assert_eq!(promised("edition = \"2024\"\n"), None);
        assert_eq!(running("rustc 1.95.0 (59807616e 2026-04-14)\n"), Some("1.95"));
        assert_eq!(running("rustc\n"), None);
    }

    #[test]
    fn every_crate_takes_over_the_promise() {
        let workspace = Workspace::locate().unwrap();
        for entry in fs::read_dir(workspace.root()).unwrap() {
            let manifest = entry.unwrap().path().join("Cargo.toml");
            let Ok(text) = fs::read_to_string(&manifest) else { continue };
            let is_member = text.contains("version.workspace = true");
            assert!(!is_member || text.contains("rust-version.workspace = true"), "{}", manifest.display());
        }
    }
}
