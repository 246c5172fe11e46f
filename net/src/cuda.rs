//! One binary for machines with and without a GPU.
//!
//! Programs are linked to libtorch's processor half. Its CUDA half, `libtorch_cuda.so`, registers itself when it is
//! opened, and that must be before the first torch call. This project writes no `unsafe` code, so it cannot call
//! `dlopen`; the dynamic linker does it instead: [`preload`] starts the program once more in its own place (same
//! process id, same arguments) with `LD_PRELOAD` naming the library.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{DeviceChoice, NetError};

/// Set in the environment of the second start, so that there is never a third.
const ALREADY: &str = "ALVEARE_CUDA_PRELOADED";

/// Makes the GPUs visible: call it first thing in `main`, before threads, files and the first torch call.
///
/// Returns at once if `wanted` is the processor, if the folder of libtorch holds no `libtorch_cuda.so`, or if the
/// library is already preloaded. Otherwise it does not return: the program starts anew.
///
/// # Errors
/// [`NetError::Device`] if the program cannot be started anew.
pub fn preload(wanted: DeviceChoice) -> Result<(), NetError> {
    if wanted == DeviceChoice::Cpu || std::env::var_os(ALREADY).is_some() {
        return Ok(());
    }
    let Some(library) = cuda_library() else { return Ok(()) };
    let Some(list) = preload_list(&library, std::env::var_os("LD_PRELOAD").as_deref()) else { return Ok(()) };
    let refused = |error: std::io::Error| NetError::Device {
        device: wanted.to_string(),
        reason: format!("cannot start anew with {}: {error}", library.display()),
    };
    let program = std::env::current_exe().map_err(refused)?;
    let mut arguments = std::env::args_os();
    let mut command = Command::new(&program);
    command.arg0(arguments.next().unwrap_or_else(|| program.clone().into()));
    Err(refused(command.args(arguments).env("LD_PRELOAD", list).env(ALREADY, "1").exec()))
}

/// Returns the new value of `LD_PRELOAD`, or `None` if it names the library already.
fn preload_list(library: &Path, current: Option<&OsStr>) -> Option<OsString> {
    let mut list = library.as_os_str().to_owned();
    if let Some(current) = current.filter(|current| !current.is_empty()) {
        if current.to_string_lossy().contains("libtorch_cuda.so") {
            return None;
        }
        list.push(":");
        list.push(current);
    }
    Some(list)
}

/// Finds `libtorch_cuda.so` beside the `libtorch_cpu.so` that this program is linked to.
fn cuda_library() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let library = library_folder(&maps)?.join("libtorch_cuda.so");
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
        assert_eq!(preload_list(library, None).unwrap(), "/t/libtorch_cuda.so");
        assert_eq!(preload_list(library, Some(OsStr::new("/a.so"))).unwrap(), "/t/libtorch_cuda.so:/a.so");
        assert_eq!(preload_list(library, Some(OsStr::new("/x/libtorch_cuda.so"))), None);
    }
}
