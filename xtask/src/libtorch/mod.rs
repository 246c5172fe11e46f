//! Which libtorch is used: the one `LIBTORCH` names, else one in a cache outside the tree.
//!
//! How the cached one is made lives in `install`.

mod install;

use std::env;
use std::env::consts::DLL_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

/// The version that our `tch` is written for. It goes with no other.
pub const LIBTORCH_VERSION: &str = "2.11.0";

/// Which libtorch to get.
#[derive(Debug, Args)]
pub struct LibtorchArguments {
    /// `cpu` (0.5 GB) or `cuda` (some 5 GB); by default what this machine can use.
    #[arg(long, value_enum)]
    flavour: Option<Flavour>,
}

/// What a libtorch can compute on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Flavour {
    /// The processor alone.
    Cpu,
    /// NVIDIA GPUs too.
    Cuda,
}

impl Flavour {
    /// `Cuda` where an NVIDIA driver is at work.
    pub fn of_this_machine() -> Self {
        if Path::new("/dev/nvidia0").exists() || nvidia_smi_works() { Self::Cuda } else { Self::Cpu }
    }

    fn folder_name(self) -> String {
        match self {
            Self::Cpu => format!("libtorch-{LIBTORCH_VERSION}"),
            Self::Cuda => format!("libtorch-{LIBTORCH_VERSION}-cuda"),
        }
    }

    /// What must lie in `lib/` for the folder to be whole, without the `.so` or `.dylib` of this system.
    fn libraries(self) -> &'static [&'static str] {
        match self {
            Self::Cpu => &["libtorch", "libtorch_cpu", "libc10"],
            Self::Cuda => &["libtorch", "libtorch_cpu", "libc10", "libtorch_cuda", "libc10_cuda"],
        }
    }
}

/// `cargo xtask libtorch`: the path alone on standard output, so that a script can take it.
pub fn print(arguments: &LibtorchArguments) -> Result<ExitCode> {
    let path = ensure(arguments.flavour.unwrap_or_else(Flavour::of_this_machine))?;
    println!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// The folder of a checked libtorch, downloaded first if it has to be.
pub fn ensure(flavour: Flavour) -> Result<PathBuf> {
    if let Some(given) = env::var_os("LIBTORCH").filter(|given| !given.is_empty()) {
        let given = PathBuf::from(given);
        check(&given, Flavour::Cpu).with_context(|| format!("LIBTORCH={}", given.display()))?;
        return Ok(given);
    }
    let cache = cache_dir()?;
    let folder = cache.join(flavour.folder_name());
    if !folder.exists() {
        install::install(&cache, &folder, flavour)?;
    }
    check(&folder, flavour)
        .with_context(|| format!("libtorch in {} is broken: remove that folder and try again", folder.display()))?;
    Ok(folder)
}

/// Says what is missing in `folder`, or that its version is another one.
fn check(folder: &Path, flavour: Flavour) -> Result<()> {
    if !folder.join("include").is_dir() {
        bail!("there is no folder include/");
    }
    for library in flavour.libraries() {
        let file = format!("{library}{DLL_SUFFIX}");
        if !folder.join("lib").join(&file).exists() {
            bail!("there is no lib/{file}");
        }
    }
    match version(folder) {
        Some(version) if version != LIBTORCH_VERSION => {
            bail!("this is libtorch {version}, but {LIBTORCH_VERSION} is needed, exactly")
        }
        _ => Ok(()),
    }
}

/// The version that the folder states, without a build suffix such as `+cpu`.
fn version(folder: &Path) -> Option<String> {
    let named = fs::read_to_string(folder.join("build-version")).ok().map(|text| text.trim().to_owned());
    let version = named.or_else(|| {
        let header = fs::read_to_string(folder.join("include/torch/headeronly/version.h")).ok()?;
        version_in_header(&header).map(str::to_owned)
    })?;
    version.split('+').next().map(str::to_owned)
}

fn version_in_header(header: &str) -> Option<&str> {
    let (_, rest) = header.split_once("#define TORCH_VERSION \\")?;
    rest.split('"').nth(1)
}

fn cache_dir() -> Result<PathBuf> {
    let base = env::var_os("XDG_CACHE_HOME").filter(|base| !base.is_empty()).map(PathBuf::from);
    let base = base.or_else(|| env::home_dir().map(|home| home.join(".cache")));
    Ok(base.context("neither XDG_CACHE_HOME nor HOME is set: say where to keep libtorch")?.join("alveare"))
}

fn nvidia_smi_works() -> bool {
    let mut command = Command::new("nvidia-smi");
    command.arg("-L").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(version: Option<&str>, libraries: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("include")).unwrap();
        fs::create_dir(folder.path().join("lib")).unwrap();
        for library in libraries {
            fs::write(folder.path().join("lib").join(format!("{library}{DLL_SUFFIX}")), "").unwrap();
        }
        if let Some(version) = version {
            fs::write(folder.path().join("build-version"), version).unwrap();
        }
        folder
    }

    #[test]
    fn a_whole_folder_of_the_right_version_passes() {
        let folder = folder_with(Some("2.11.0+cpu\n"), Flavour::Cpu.libraries());
        check(folder.path(), Flavour::Cpu).unwrap();
    }

    #[test]
    fn another_version_is_refused_in_words() {
        let folder = folder_with(Some("2.9.1"), Flavour::Cpu.libraries());
        let error = check(folder.path(), Flavour::Cpu).unwrap_err();
        assert_eq!(error.to_string(), "this is libtorch 2.9.1, but 2.11.0 is needed, exactly");
    }

    #[test]
    fn a_missing_library_is_named() {
        let folder = folder_with(None, Flavour::Cpu.libraries());
        let error = check(folder.path(), Flavour::Cuda).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no lib/libtorch_cuda{DLL_SUFFIX}"));
    }

    #[test]
    fn the_version_is_read_from_the_header() {
        let header = "#define TORCH_VERSION_PATCH 0\n#define TORCH_VERSION \\\n  \"2.11.0\"\n";
        assert_eq!(version_in_header(header), Some("2.11.0"));
    }
}
