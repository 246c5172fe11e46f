//! Packages of PyPI, fetched once, and the virtual environments of Python that they are installed in.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace::{LIBRARY_PATH, Workspace, run};

/// Packages that lie in a folder, those that they need included.
pub struct Packages {
    folder: PathBuf,
}

impl Packages {
    /// Fetches packages from PyPI unless the folder has them, for the python3 that there is.
    ///
    /// # Errors
    /// If there is no python3 with pip, or PyPI is not within reach.
    pub fn fetch(folder: &Path, names: &[&str]) -> Result<Self> {
        let output = Command::new("python3").arg("--version").stdin(Stdio::null()).output();
        let Ok(output) = output else { bail!("there is no python3 (Debian: apt-get install python3-pip)") };
        // Written last: a folder that was not filled is filled again.
        let (mark, wanted) = (folder.join("fetched"), [&output.stdout, names.join("\n").as_bytes()].concat());
        if fs::read(&mark).is_ok_and(|fetched| fetched == wanted) {
            return Ok(Self { folder: folder.to_owned() });
        }
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
        }
        let mut command = pip(&["download", "--only-binary=:all:"]);
        run(command.arg("--dest").arg(folder).args(names)).context(
            "fetch packages: is PyPI within reach, and has python3 its pip (Debian: apt-get install python3-pip)?",
        )?;
        fs::write(&mark, wanted).with_context(|| format!("write {}", mark.display()))?;
        Ok(Self { folder: folder.to_owned() })
    }
}

/// A virtual environment. It has no pip of its own: so Debian's python3 can make it without a further package.
pub struct VirtualEnvironment {
    folder: PathBuf,
}

impl VirtualEnvironment {
    /// Makes an environment without any packages, in place of what is there.
    pub fn fresh(folder: &Path) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
        }
        run(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(folder))
            .context("make a virtual environment of Python")?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Installs a package by its name, or a wheel by its path, with what it needs of `packages`.
    pub fn install(&self, package: &str, packages: &Packages) -> Result<()> {
        let mut command = pip(&["--python"]);
        command.arg(self.program("python")).args(["install", "--no-index", "--find-links"]).arg(&packages.folder);
        run(command.arg(package)).context("install a package: has python3 a pip of version 22.3 or newer?")
    }

    /// Removes it.
    pub fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.folder).with_context(|| format!("remove {}", self.folder.display()))
    }

    /// Returns a command of one of its programs. It finds no libraries but its own.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.program(program));
        command.stdin(Stdio::null()).env_remove(LIBRARY_PATH).env_remove("LIBTORCH").env_remove("PYTHONPATH");
        command
    }

    /// Returns a command of one of its programs that starts cargo, and finds the environment's other programs.
    pub fn command_in(&self, workspace: &Workspace, program: &str) -> Command {
        let mut command = Command::new(self.program(program));
        // As it is for every other cargo.
        for (name, value) in workspace.cargo().get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut path = self.folder.join("bin").into_os_string();
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        command.current_dir(workspace.root()).stdin(Stdio::null()).env("PATH", path);
        command
    }

    fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }
}

fn pip(arguments: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]).args(arguments).stdin(Stdio::null());
    command
}
