//! Virtual environments of Python, and what is installed in them from PyPI.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::workspace::{LIBRARY_PATH, Workspace, run};

/// A virtual environment. It has no pip of its own: Debian's python3 can make it without a further package.
pub struct VirtualEnvironment {
    folder: PathBuf,
}

impl VirtualEnvironment {
    /// Makes the environment if it is not there, and installs these packages if they are not there.
    pub fn with(folder: &Path, packages: &[&str]) -> Result<Self> {
        let environment = Self { folder: folder.to_owned() };
        // Written last: an environment that was not finished is made again.
        let mark = folder.join("installed");
        let wanted = packages.join("\n");
        if fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
            return Ok(environment);
        }
        let environment = Self::fresh(folder)?;
        environment.install(packages)?;
        fs::write(&mark, wanted).with_context(|| format!("write {}", mark.display()))?;
        Ok(environment)
    }

    /// Makes an environment without any packages, in place of what is there.
    pub fn fresh(folder: &Path) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
        }
        run(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(folder)).context(
            "make a virtual environment: is there a python3 with its module venv (Debian: apt-get install python3)?",
        )?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Installs packages by name, or wheels by path.
    pub fn install(&self, packages: &[impl AsRef<OsStr>]) -> Result<()> {
        let mut command = Command::new("python3");
        command.args(["-m", "pip", "--python"]).arg(self.program("python"));
        command.args(["install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]).args(packages);
        run(command.stdin(Stdio::null())).context(
            "install packages: is PyPI within reach, and has python3 a pip of version 22.3 or newer (Debian: apt-get \
             install python3-pip)?",
        )
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
