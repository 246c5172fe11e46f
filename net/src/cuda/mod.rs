//! What libtorch and the libraries below it want to find when the program starts.
//!
//! **One binary for machines with and without a GPU.** Programs are linked to libtorch's processor half. Its CUDA half,
//! `libtorch_cuda.so`, registers itself when it is opened, and that must be before the first torch call. This project
//! writes no `unsafe` code, so it cannot call `dlopen`; the dynamic linker does it instead, through `LD_PRELOAD`.
//!
//! **Sharing a processor.** OpenMP's threads wait for each other by spinning: beside actors that use the same cores,
//! two threads then answered a quarter of the positions that they did with `OMP_WAIT_POLICY=passive`. And glibc gives the memory of
//! each large tensor back to the system and asks for it anew: a quarter of a training step.
//!
//! All of that is read once, at the start of a process. So [`preload`] starts the program once more in its own place:
//! same process id, same arguments.
//!
//! **No GPU.** Why libtorch sees none is found out in `probe.rs`.

mod probe;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use probe::GpuProblem;

use crate::NetError;
use crate::device_choice::DeviceChoice;
use probe::{GpuProbe, LoadedTorch};

/// Set in the environment of the second start, so that there is never a third.
const ALREADY: &str = "ALVEARE_RESTARTED";

/// The half of libtorch that computes on GPUs.
const CUDA_LIBRARY: &str = "libtorch_cuda.so";

/// Variables set unless the user has set them, and their values.
const DEFAULTS: [(&str, &str); 3] = [
    ("OMP_WAIT_POLICY", "passive"),
    // 4 GiB: tensors come from the heap, and the heap is kept.
    ("MALLOC_MMAP_THRESHOLD_", "4294967296"),
    ("MALLOC_TRIM_THRESHOLD_", "4294967296"),
];

/// Makes the GPUs visible (unless `wanted` is the processor, or libtorch has no CUDA half) and sets what the libraries
/// read at their start. Call it first thing in `main`, before threads, files and the first torch call.
///
/// The first time it does not return: the program starts anew. The second time it returns at once.
///
/// # Errors
/// [`NetError::Device`] if the program cannot be started anew.
pub fn preload(wanted: DeviceChoice) -> Result<(), NetError> {
    if std::env::var_os(ALREADY).is_some() {
        return Ok(());
    }
    let refused = |error: std::io::Error| NetError::Device {
        device: wanted.to_string(),
        reason: format!("the program cannot start itself anew: {error}"),
    };
    let program = std::env::current_exe().map_err(refused)?;
    let mut arguments = std::env::args_os();
    let mut command = Command::new(&program);
    command.arg0(arguments.next().unwrap_or_else(|| program.clone().into()));
    command.args(arguments).env(ALREADY, "1");
    command.envs(DEFAULTS.iter().filter(|(name, _)| std::env::var_os(name).is_none()).copied());
    if wanted != DeviceChoice::Cpu
        && let Some(library) = cuda_library()
    {
        command.env("LD_PRELOAD", preload_list(&library, std::env::var_os("LD_PRELOAD").as_deref()));
    }
    Err(refused(command.exec()))
}

/// Returns why libtorch sees no GPU; `None` if it sees one. GPUs are seen only after [`preload`].
#[must_use]
pub fn problem() -> Option<GpuProblem> {
    (!tch::Cuda::is_available()).then(|| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let torch = LoadedTorch { folder: library_folder(&maps), has_cuda: maps.contains(CUDA_LIBRARY) };
        GpuProbe::of_this_machine(std::env::var_os("LD_LIBRARY_PATH").as_deref(), torch).problem()
    })
}

/// Returns the new value of `LD_PRELOAD`: what was there, and the library.
fn preload_list(library: &Path, current: Option<&OsStr>) -> OsString {
    let current = current.unwrap_or_default();
    if current.to_string_lossy().contains(CUDA_LIBRARY) {
        return current.to_owned();
    }
    let mut list = library.as_os_str().to_owned();
    if !current.is_empty() {
        list.push(":");
        list.push(current);
    }
    list
}

/// Finds `libtorch_cuda.so` beside the `libtorch_cpu.so` that this program is linked to.
fn cuda_library() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let library = library_folder(&maps)?.join(CUDA_LIBRARY);
    library.is_file().then_some(library)
}

/// Reads the folder of `libtorch_cpu.so` from the kernel's list of what is mapped.
fn library_folder(maps: &str) -> Option<PathBuf> {
    let line = maps.lines().find(|line| line.ends_with("/libtorch_cpu.so"))?;
    Path::new(&line[line.find('/')?..]).parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linked_library_is_found() {
        let maps =
            "7f00-7f01 r-xp 00000000 08:01 42   /opt/lib torch/lib/libtorch_cpu.so\n7f02-7f03 rw-p 0 0:0 0 [heap]\n";
        assert_eq!(library_folder(maps), Some(PathBuf::from("/opt/lib torch/lib")));
        assert_eq!(library_folder("7f02-7f03 rw-p 0 0:0 0 [heap]\n"), None);
        let own = library_folder(&std::fs::read_to_string("/proc/self/maps").unwrap()).unwrap();
        assert!(own.join("libtorch_cpu.so").is_file());
    }

    #[test]
    fn other_preloads_are_kept_and_ours_is_not_repeated() {
        let library = Path::new("/t/libtorch_cuda.so");
        assert_eq!(preload_list(library, None), "/t/libtorch_cuda.so");
        assert_eq!(preload_list(library, Some(OsStr::new("/a.so"))), "/t/libtorch_cuda.so:/a.so");
        let ours = OsStr::new("/x/libtorch_cuda.so");
        assert_eq!(preload_list(library, Some(ours)), ours);
    }
}
