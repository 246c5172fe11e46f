//! Makes a libtorch folder out of the wheels on PyPI, without installing anything into Python.
//!
//! `pip download` and Python's own unzipping work where `pip install` is refused; the
//! folder is laid out under a temporary name and renamed once it is whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{Flavour, LIBTORCH_VERSION};
use crate::workspace::run;

/// Takes the members under the given prefixes out of a wheel.
const EXTRACT: &str = "\
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
wheel.extractall(sys.argv[2], [name for name in wheel.namelist() if name.startswith(tuple(sys.argv[3:]))])";

/// Any of these has a wheel of our version; nothing in it that we use depends on the interpreter.
const WHEEL_PYTHON: &str = "3.12";

/// glibc versions for which the wheels say that they are built.
const WHEEL_GLIBCS: [&str; 5] =
    ["manylinux_2_28", "manylinux_2_27", "manylinux_2_25", "manylinux_2_17", "manylinux2014"];

/// What libtorch's libraries for processors are called, and those that they load: GNU's or LLVM's OpenMP; on arm64 Linux
/// Arm's and NVIDIA's linear algebra; on Linux two for GPUs, which they call only if there is one.
const FOR_PROCESSORS: [&str; 9] = [
    "libtorch.",
    "libtorch_cpu.",
    "libc10.",
    "libgomp.",
    "libomp.",
    "libarm_compute",
    "libnvpl_",
    "libcudart.",
    "libcupti.",
];

/// Apple's systems: one flavour, and libraries with other names.
const IS_MAC: bool = cfg!(target_os = "macos");

/// Downloads libtorch and puts it at `folder`, which lies in `cache`.
pub fn install(cache: &Path, folder: &Path, flavour: Flavour) -> Result<()> {
    check_pip()?;
    let size = match flavour {
        Flavour::Cuda => "some 3 GB",
        Flavour::Cpu if IS_MAC => "some 80 MB",
        Flavour::Cpu => "some 550 MB",
    };
    eprintln!("xtask: getting libtorch {LIBTORCH_VERSION} ({size}) into {}", folder.display());
    let work = cache.join(format!("{}.partial-{}", flavour.folder_name(), std::process::id()));
    let result = make(&work, folder, flavour);
    // Whatever happened, a half-made folder of gigabytes is of no use to anybody.
    let removed = fs::remove_dir_all(&work);
    result?;
    removed.with_context(|| format!("remove {}", work.display()))
}

fn make(work: &Path, folder: &Path, flavour: Flavour) -> Result<()> {
    let (wheels, unpacked, whole) = (work.join("wheels"), work.join("unpacked"), work.join("whole"));
    for path in [&wheels, &unpacked, &whole.join("lib")] {
        fs::create_dir_all(path).with_context(|| format!("create {}", path.display()))?;
    }
    run(&mut download_command(&wheels, flavour)).context(
        "download libtorch: is PyPI within reach? else point LIBTORCH at a folder with include/ and lib/ of 2.11.0",
    )?;
    for wheel in files_in(&wheels)? {
        extract(&wheel, &unpacked)?;
    }
    lay_out(&unpacked, &whole, flavour)?;
    put_in_place(&whole, folder)
}

fn check_pip() -> Result<()> {
    let works = Command::new("python3").args(["-m", "pip", "--version"]).stdin(Stdio::null()).output();
    match works {
        Ok(output) if output.status.success() => Ok(()),
        Ok(_) => bail!("python3 has no pip: install it (Debian: apt-get install python3-pip) or set LIBTORCH"),
        Err(_) => {
            bail!("there is no python3: install it with pip (Debian: apt-get install python3-pip) or set LIBTORCH")
        }
    }
}

fn download_command(wheels: &Path, flavour: Flavour) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "download", "--only-binary=:all:", "--python-version", WHEEL_PYTHON]);
    for platform in wheel_platforms() {
        command.arg("--platform").arg(platform);
    }
    command.arg("--dest").arg(wheels).arg(format!("torch=={LIBTORCH_VERSION}"));
    if flavour == Flavour::Cpu {
        command.arg("--no-deps");
    }
    if flavour == Flavour::Cpu && !IS_MAC {
        // libtorch_cpu.so wants these two to load, though it calls neither without a GPU.
        command.args(["nvidia-cuda-runtime==13.0.*", "nvidia-cuda-cupti==13.0.*"]);
    }
    // Standard output is for the path alone.
    command.stdin(Stdio::null()).stdout(std::io::stderr());
    command
}

/// What PyPI calls this machine ("platform compatibility tags").
fn wheel_platforms() -> Vec<String> {
    if IS_MAC {
        return vec!["macosx_11_0_arm64".to_owned()];
    }
    WHEEL_GLIBCS.iter().map(|glibc| format!("{glibc}_{}", std::env::consts::ARCH)).collect()
}

fn extract(wheel: &Path, unpacked: &Path) -> Result<()> {
    let mut command = Command::new("python3");
    command.args(["-c", EXTRACT]).arg(wheel).arg(unpacked);
    command.args(["torch/include/", "torch/lib/", "nvidia/"]).stdin(Stdio::null());
    run(&mut command).with_context(|| format!("unpack {}", wheel.display()))
}

/// Gathers all libraries in one `lib/`: each finds the others beside itself.
fn lay_out(unpacked: &Path, whole: &Path, flavour: Flavour) -> Result<()> {
    rename(&unpacked.join("torch/include"), &whole.join("include"))?;
    let lib = whole.join("lib");
    let mut folders = vec![unpacked.join("torch/lib")];
    folders.extend(nvidia_folders(&unpacked.join("nvidia"))?);
    for library in folders.iter().map(|folder| files_in(folder)).collect::<Result<Vec<_>>>()?.concat() {
        let name = library.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if is_wanted(name, flavour) {
            rename(&library, &lib.join(name))?;
        }
    }
    if lib.join("libtorch_cpu.so").exists() {
        // Programs link `torch`: named so, they start on machines with and without a GPU.
        std::os::unix::fs::symlink("libtorch_cpu.so", lib.join("libtorch.so")).context("link libtorch.so")?;
    }
    fs::write(whole.join("build-version"), LIBTORCH_VERSION).context("write build-version")
}

fn is_wanted(name: &str, flavour: Flavour) -> bool {
    let is_library = name.ends_with(".dylib") || name.contains(".so") && name != "libtorch.so";
    let is_for_processors = FOR_PROCESSORS.iter().any(|start| name.starts_with(start));
    is_library && !name.contains("_python") && (flavour == Flavour::Cuda || is_for_processors)
}

/// The `lib` folder of each NVIDIA package; none on a Mac.
fn nvidia_folders(nvidia: &Path) -> Result<Vec<PathBuf>> {
    if !nvidia.exists() {
        return Ok(Vec::new());
    }
    let folders = files_in(nvidia)?.into_iter().map(|package| package.join("lib"));
    Ok(folders.filter(|folder| folder.is_dir()).collect())
}

/// What lies in `folder`, by name.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut paths = paths.with_context(|| format!("read {}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

/// Another `xtask` may have been quicker: its folder is as good as ours.
fn put_in_place(whole: &Path, folder: &Path) -> Result<()> {
    match fs::rename(whole, folder) {
        Err(_) if folder.exists() => Ok(()),
        result => result.with_context(|| format!("rename {} to {}", whole.display(), folder.display())),
    }
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).with_context(|| format!("move {} to {}", from.display(), to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: PathBuf) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    const FOR_LINUX: [&str; 7] = [
        "torch/lib/libtorch.so",
        "torch/lib/libtorch_cpu.so",
        "torch/lib/libtorch_cuda.so",
        "torch/lib/libtorch_python.so",
        "torch/lib/libc10.so",
        "nvidia/cu13/lib/libcudart.so.13",
        "nvidia/cudnn/lib/libcudnn.so.9",
    ];

    fn laid_out(flavour: Flavour, files: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let (unpacked, whole) = (folder.path().join("unpacked"), folder.path().join("whole"));
        fs::create_dir_all(whole.join("lib")).unwrap();
        for file in files.iter().chain(&["torch/include/ATen/ATen.h"]) {
            write(unpacked.join(file));
        }
        lay_out(&unpacked, &whole, flavour).unwrap();
        assert!(whole.join("include/ATen/ATen.h").exists());
        let (torch, is_mac) = (whole.join("lib/libtorch.so"), whole.join("lib/libtorch.dylib").exists());
        assert!(is_mac || fs::read_link(torch).unwrap() == Path::new("libtorch_cpu.so"));
        let names = files_in(&whole.join("lib")).unwrap();
        names.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn without_a_gpu_only_the_small_libraries_are_kept() {
        assert_eq!(
            laid_out(Flavour::Cpu, &FOR_LINUX),
            ["libc10.so", "libcudart.so.13", "libtorch.so", "libtorch_cpu.so"]
        );
    }

    #[test]
    fn a_mac_has_libraries_of_its_own() {
        let files = ["libtorch.dylib", "libtorch_cpu.dylib", "libtorch_python.dylib", "libc10.dylib", "libomp.dylib"];
        let files = files.map(|name| format!("torch/lib/{name}"));
        let names = laid_out(Flavour::Cpu, &files.each_ref().map(String::as_str));
        assert_eq!(names, ["libc10.dylib", "libomp.dylib", "libtorch.dylib", "libtorch_cpu.dylib"]);
    }

    #[test]
    fn with_a_gpu_all_libraries_lie_side_by_side() {
        let names = laid_out(Flavour::Cuda, &FOR_LINUX);
        assert!(names.contains(&"libtorch_cuda.so".to_owned()) && names.contains(&"libcudnn.so.9".to_owned()));
        assert!(!names.contains(&"libtorch_python.so".to_owned()));
    }
}
