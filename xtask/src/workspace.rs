//! Where the workspace and its built programs lie, and how cargo is called in it.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

/// The checkout this program was built from.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the checkout: cargo says where this crate lies, also when the build is older than a move.
    pub fn locate() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest).parent().context("the crate xtask has no folder above it")?;
        Ok(Self { root: root.to_owned() })
    }

    /// The folder with the workspace's `Cargo.toml`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A cargo command in this workspace that needs no libtorch.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        // Set for us by `cargo run`; a cargo below would take them for its own, and build scripts that read them (ring's)
        // would run again whenever a plain `cargo` and `cargo xtask` take turns.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// A cargo command that builds against and runs with the libtorch at `libtorch`.
    pub fn cargo_with(&self, libtorch: &Path) -> Command {
        let mut command = self.cargo();
        command.env("LIBTORCH", libtorch).env(LIBRARY_PATH, library_path(libtorch));
        command
    }

    /// The folder cargo builds into, whichever way the user has set it.
    pub fn target_dir(&self) -> Result<PathBuf> {
        let output = self
            .cargo()
            .args(["metadata", "--no-deps", "--format-version=1"])
            .output()
            .context("run cargo metadata")?;
        if !output.status.success() {
            bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let metadata = String::from_utf8_lossy(&output.stdout);
        target_directory(&metadata).map(PathBuf::from).context("cargo metadata names no target_directory")
    }
}

/// The variable in which the dynamic linker finds the folders that it searches.
pub const LIBRARY_PATH: &str = if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };

/// What the dynamic linker searches: libtorch first, then what the user had set.
pub fn library_path(libtorch: &Path) -> OsString {
    let mut path = libtorch.join("lib").into_os_string();
    if let Some(before) = env::var_os(LIBRARY_PATH).filter(|before| !before.is_empty()) {
        path.push(":");
        path.push(before);
    }
    path
}

/// `arguments` followed by `-p NAME` for each package.
pub fn with_packages<'a>(arguments: &[&'a str], packages: &[&'a str]) -> Vec<&'a str> {
    let mut all = arguments.to_vec();
    all.extend(packages.iter().flat_map(|package| ["-p", package]));
    all
}

/// Runs `command` and says in words how it failed.
pub fn run(command: &mut Command) -> Result<()> {
    let name = words(command);
    let status = command.status().with_context(|| format!("start `{name}`"))?;
    if status.success() { Ok(()) } else { bail!("`{name}` {}", ended(status)) }
}

/// Runs `command`, hands over each line of its standard output as it comes, and says in words how it failed.
pub fn run_and_read(command: &mut Command, mut read: impl FnMut(&str)) -> Result<()> {
    let name = words(command);
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("start `{name}`"))?;
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines() {
            read(&line.with_context(|| format!("read what `{name}` prints"))?);
        }
    }
    let status = child.wait().with_context(|| format!("wait for `{name}`"))?;
    if status.success() { Ok(()) } else { bail!("`{name}` {}", ended(status)) }
}

/// The command as a person would type it.
pub fn words(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    words.join(" ")
}

/// "ended with exit code 3" or "was ended by signal 9".
pub fn ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

fn target_directory(metadata: &str) -> Option<&str> {
    let (_, rest) = metadata.split_once("\"target_directory\":\"")?;
    rest.split_once('"').map(|(path, _)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_one_by_one() {
        assert_eq!(with_packages(&["test"], &["a", "b"]), ["test", "-p", "a", "-p", "b"]);
    }

    #[test]
    fn target_directory_is_read_from_cargo_metadata() {
        assert_eq!(target_directory(r#"{"packages":[],"target_directory":"/a/b","version":1}"#), Some("/a/b"));
        assert_eq!(target_directory("{}"), None);
    }

    #[test]
    fn a_failed_command_is_named_with_its_exit_code() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c exit 3` ended with exit code 3");
        let mut lines = vec![];
        let script = "echo one; echo two; exit 3";
        let error = run_and_read(Command::new("sh").args(["-c", script]), |line| lines.push(line.to_owned()));
        assert_eq!(error.unwrap_err().to_string(), format!("`sh -c {script}` ended with exit code 3"));
        assert_eq!(lines, ["one", "two"]);
    }
}
