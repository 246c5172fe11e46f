//! `cargo xtask dist`: an archive of the workers' programs for spare machines, with its checksum.
//!
//! The programs are linked statically: a spare machine may have an older C library, or another one.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::steps::with_packages;
use crate::workspace::{Workspace, run};

/// The programs of the archive: what links libtorch needs its libraries beside it, and is for containers.
const PROGRAMS: [&str; 2] = ["actor", "evaluator"];
/// What lies beside them.
const FILES: [&str; 4] = ["deploy/alveare-actor.service", "config/actor.toml", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds the archive and says where it lies.
pub fn dist(workspace: &Workspace) -> Result<ExitCode> {
    let target = host(workspace)?;
    if !target.ends_with("-linux-gnu") {
        bail!("dist: programs for any Linux are linked against glibc, on Linux; this machine is {target}");
    }
    let target_dir = workspace.target_dir()?;
    build(workspace, &target)?;
    let (dist, name) = (target_dir.join("dist"), format!("alveare-workers-{}-{target}", env!("CARGO_PKG_VERSION")));
    let folder = dist.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    for program in PROGRAMS {
        let built = target_dir.join(&target).join("release").join(program);
        check_static(&built)?;
        copy_into(&folder, &built)?;
    }
    for file in FILES {
        copy_into(&folder, &workspace.root().join(file))?;
    }
    let archive = format!("{name}.tar.gz");
    pack(workspace, &dist, &name, &archive)?;
    let sums = fs::File::create(dist.join("SHA256SUMS")).context("create SHA256SUMS")?;
    run(Command::new("sha256sum").current_dir(&dist).arg(&archive).stdout(sums))?;
    println!("xtask: {}; check it with `sha256sum --check SHA256SUMS`", dist.join(archive).display());
    Ok(ExitCode::SUCCESS)
}

/// Builds the programs for `target`, which is this machine's: named, it keeps build scripts as they are.
fn build(workspace: &Workspace, target: &str) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(with_packages(&["build", "--release", "--locked", "--target", target], &PROGRAMS));
    // In addition to what .cargo/config.toml says, which the variable RUSTFLAGS would replace.
    command.arg("--config").arg(format!("target.{target}.rustflags = ['-C', 'target-feature=+crt-static']"));
    run(command.env("CARGO_PROFILE_RELEASE_STRIP", "symbols"))
}

/// Packs a folder. Equal files give equal bytes: names are sorted, and times are those of the newest commit.
fn pack(workspace: &Workspace, dist: &Path, name: &str, archive: &str) -> Result<()> {
    let git = Command::new("git").current_dir(workspace.root()).args(["log", "-1", "--format=%ct"]).output();
    let committed = git.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let seconds = committed.map_or_else(|| "0".into(), |stdout| String::from_utf8_lossy(&stdout).trim().to_owned());
    let mut tar = Command::new("tar");
    tar.current_dir(dist).args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
    tar.arg(format!("--mtime=@{seconds}")).args(["--use-compress-program=gzip -n", "--create"]);
    run(tar.args(["--file", archive, name]))
}

fn copy_into(folder: &Path, file: &Path) -> Result<()> {
    let name = file.file_name().with_context(|| format!("{} is no file", file.display()))?;
    fs::copy(file, folder.join(name)).map(drop).with_context(|| format!("copy {}", file.display()))
}

/// The target that rustc builds for unless told otherwise.
fn host(workspace: &Workspace) -> Result<String> {
    let output = workspace.cargo().args(["--version", "--verbose"]).output().context("run cargo --version")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("cargo --version --verbose names no host")
}

/// Fails if a program asks for a dynamic linker, which another Linux may not have.
fn check_static(program: &Path) -> Result<()> {
    let bytes = fs::read(program).with_context(|| format!("read {}", program.display()))?;
    match asks_for_linker(&bytes) {
        Some(false) => Ok(()),
        Some(true) => bail!("{} is linked dynamically", program.display()),
        None => bail!("{} is no program of 64 bits, little-endian", program.display()),
    }
}

/// Whether an ELF file names an interpreter (`PT_INTERP`), as the ABI of System V, chapter 5, lays it out; `None` if it is
/// no such file.
fn asks_for_linker(elf: &[u8]) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let offset = u64::from_le_bytes(elf.get(32..40)?.try_into().ok()?);
    let size = usize::from(u16::from_le_bytes(elf.get(54..56)?.try_into().ok()?));
    let count = usize::from(u16::from_le_bytes(elf.get(56..58)?.try_into().ok()?));
    let headers = elf.get(usize::try_from(offset).ok()?..)?;
    let mut kinds = headers.chunks_exact(size.max(4)).take(count).map(|header| header.first_chunk::<4>());
    Some(kinds.any(|kind| kind.is_some_and(|kind| u32::from_le_bytes(*kind) == INTERPRETER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_program_is_told_from_what_is_none() {
        // The test itself is linked as programs usually are.
        let program = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(asks_for_linker(&program), Some(true));
        assert_eq!(asks_for_linker(b"#!/bin/sh"), None);
        assert_eq!(asks_for_linker(&program[..50]), None);
    }

    #[test]
    fn the_host_is_a_triple() {
        assert!(host(&Workspace::locate().unwrap()).unwrap().matches('-').count() >= 2);
    }
}
