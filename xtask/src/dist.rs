//! `cargo xtask dist`: an archive of the workers' programs for spare machines, with its checksum.
//!
//! The programs are linked statically: a spare machine may have an older C library, or another one.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::other_machines::{cross_compiler, is_there};
use crate::workspace::{Workspace, run, with_packages};

/// The programs of the archive: what links libtorch needs its libraries beside it, and is for containers.
const PROGRAMS: [&str; 2] = ["actor", "evaluator"];
/// What lies beside them.
const FILES: [&str; 4] = ["deploy/alveare-actor.service", "config/actor.toml", "LICENSE-APACHE", "LICENSE-MIT"];

/// Settings of cargo that link them statically.
const STATIC_PROGRAMS: &str = "deploy/static-programs.toml";

/// What archives can be made for.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// For which machines.
#[derive(Debug, Args)]
pub struct DistArguments {
    /// Machines that the programs are for; by default those like this one. Others take `rustup target add TARGET` and a
    /// cross compiler (Debian: gcc-aarch64-linux-gnu, gcc-x86-64-linux-gnu).
    #[arg(long, value_parser = TARGETS)]
    target: Option<String>,
}

/// Builds the archive and says where it lies.
pub fn dist(workspace: &Workspace, arguments: &DistArguments) -> Result<ExitCode> {
    let host = host(workspace)?;
    let target = arguments.target.clone().unwrap_or_else(|| host.clone());
    if !TARGETS.contains(&target.as_str()) {
        bail!("dist: programs for any Linux are linked against glibc; this machine is {host}: name a --target");
    }
    let target_dir = workspace.target_dir()?;
    build(workspace, &target, &host)?;
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
    write_sums(&dist)?;
    println!("xtask: {}; check it with `sha256sum --check SHA256SUMS`", dist.join(archive).display());
    Ok(ExitCode::SUCCESS)
}

/// Builds the programs for `target`: named even if it is the `host`, it keeps build scripts as they are.
fn build(workspace: &Workspace, target: &str, host: &str) -> Result<()> {
    let mut command = workspace.cargo();
    if target != host {
        let compiler = cross_compiler(target);
        if !is_there(&compiler) {
            bail!(
                "dist: {target} takes {compiler}, which is not there (Debian: apt-get install {})",
                package(&compiler)
            );
        }
        command.env(format!("CARGO_TARGET_{}_LINKER", target.replace('-', "_").to_uppercase()), compiler);
    }
    command.args(with_packages(&["build", "--release", "--locked", "--target", target], &PROGRAMS));
    // In addition to what .cargo/config.toml says, which the variable RUSTFLAGS would replace.
    run(command.arg("--config").arg(workspace.root().join(STATIC_PROGRAMS)))
}

/// The package that it comes with.
fn package(compiler: &str) -> String {
    let triple = compiler.trim_end_matches("-gcc").replace('_', "-");
    format!("gcc-{triple}")
}

/// Writes the checksums of all archives that lie in `dist`.
fn write_sums(dist: &Path) -> Result<()> {
    let entries = fs::read_dir(dist).with_context(|| format!("read {}", dist.display()))?;
    let mut names = entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<Vec<_>, _>>()?;
    names.retain(|name| name.to_string_lossy().ends_with(".tar.gz"));
    names.sort();
    let sums = fs::File::create(dist.join("SHA256SUMS")).context("create SHA256SUMS")?;
    run(Command::new("sha256sum").current_dir(dist).args(names).stdout(sums))
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
    fn a_cross_compiler_and_its_package_are_named_as_debian_does() {
        let [x86, arm] = TARGETS.map(cross_compiler);
        assert_eq!((x86.as_str(), package(&x86).as_str()), ("x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"));
        assert_eq!((arm.as_str(), package(&arm).as_str()), ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"));
    }

    #[test]
    fn the_host_is_a_triple() {
        assert!(host(&Workspace::locate().unwrap()).unwrap().matches('-').count() >= 2);
    }
}
