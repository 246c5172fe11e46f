//! Why no GPU can be used: what the machine, its driver, its container and libtorch say, and what to do about it.
//!
//! libtorch only answers that it sees none. The files that CUDA itself looks for are read here, under a root and with a
//! list of folders that tests can choose.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The oldest driver that CUDA 13 works with, by its first number.
const DRIVER_MIN: u32 = 580;
/// NVIDIA among the makers of PCI devices.
const NVIDIA: &str = "0x10de";
/// The library that a driver brings for programs.
const DRIVER_LIBRARY: &str = "libcuda.so.1";
/// Where the dynamic linker looks for it besides its cache and `LD_LIBRARY_PATH`.
const LIBRARY_FOLDERS: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib/x86_64-linux-gnu",
    "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
];
/// Files that only a container has: Docker's, Podman's, and the account of a pod of Kubernetes.
const CONTAINER_MARKS: [&str; 3] = [".dockerenv", "run/.containerenv", "run/secrets/kubernetes.io"];

/// Why a GPU cannot be used, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuProblem {
    /// No NVIDIA card, and no driver.
    #[error(
        "this machine has no NVIDIA GPU: choose the device \"cpu\", with a preset for the CPU, or a machine where nvidia-smi \
         lists a GPU"
    )]
    NoGpu,
    /// A card, but no driver is loaded.
    #[error(
        "this machine has an NVIDIA GPU, but its driver is not loaded: install NVIDIA's driver {DRIVER_MIN} or newer{}, and \
         restart the machine",
        on_the_host(*.in_container)
    )]
    NoDriver {
        /// Whether this runs in a container, whose host needs the driver.
        in_container: bool,
    },
    /// The driver does not know CUDA 13.
    #[error(
        "the NVIDIA driver is {version}, too old for CUDA 13: install {DRIVER_MIN} or newer{}, and restart the machine",
        on_the_host(*.in_container)
    )]
    OldDriver {
        /// Its version.
        version: String,
        /// Whether this runs in a container, whose host needs the driver.
        in_container: bool,
    },
    /// The host has a driver, but the container was started without the GPU.
    #[error(
        "this container was not given the GPU: install the NVIDIA Container Toolkit on the host, and start the container with \
         --gpus all (docker run), runtime: nvidia (docker compose) or the limit nvidia.com/gpu (Kubernetes)"
    )]
    NotInContainer,
    /// The driver is loaded, but its device files are missing.
    #[error("the NVIDIA driver is loaded, but there is no /dev/nvidiactl: run nvidia-smi once as root, which makes it")]
    NoDeviceFile,
    /// The device files may not be opened by this user.
    #[error(
        "/dev/nvidiactl may not be opened by this user: add it to the group that owns the file (ls -l /dev/nvidiactl)"
    )]
    NotPermitted,
    /// The driver's library for programs is missing.
    #[error(
        "the NVIDIA driver is loaded, but its library {DRIVER_LIBRARY} is missing: {}",
        if *.in_container {
            "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        } else {
            "install the whole driver of the same version, not its kernel module alone (Debian, Ubuntu: libcuda1 or libnvidia-compute)"
        }
    )]
    NoDriverLibrary {
        /// Whether this runs in a container.
        in_container: bool,
    },
    /// libtorch was built for the processor alone.
    #[error(
        "the libtorch in {} has no CUDA half: build with the one that `cargo xtask libtorch --flavour cuda` fetches (in an \
         image: the build argument TORCH=cuda)",
        folder.display()
    )]
    CpuTorch {
        /// The folder of libtorch.
        folder: PathBuf,
    },
    /// libtorch's CUDA half is there, but the dynamic linker did not load it.
    #[error(
        "{} was not loaded, so a library that it needs is missing: `ldd {} | grep 'not found'` names it",
        library.display(), library.display()
    )]
    TorchNotLoaded {
        /// The library.
        library: PathBuf,
    },
    /// All is there that this program knows to look for.
    #[error("CUDA finds no GPU: see what nvidia-smi says, and whether CUDA_VISIBLE_DEVICES hides it")]
    Hidden,
}

fn on_the_host(in_container: bool) -> &'static str {
    if in_container { " on the host of this container" } else { "" }
}

/// What the dynamic linker made of libtorch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LoadedTorch {
    /// The folder of `libtorch_cpu.so`, if it is known.
    pub(super) folder: Option<PathBuf>,
    /// Whether its CUDA half is loaded too.
    pub(super) has_cuda: bool,
}

/// Where to look for what CUDA needs.
pub(super) struct GpuProbe {
    /// What the paths below begin with: `/`, but in tests.
    root: PathBuf,
    library_folders: Vec<PathBuf>,
    torch: LoadedTorch,
    open_device_file: fn(&Path) -> io::Result<()>,
}

impl GpuProbe {
    /// Looks at this machine. `library_path` is what `LD_LIBRARY_PATH` says.
    pub(super) fn of_this_machine(library_path: Option<&std::ffi::OsStr>, torch: LoadedTorch) -> Self {
        let named = library_path.map(std::env::split_paths).into_iter().flatten();
        let library_folders = named.chain(LIBRARY_FOLDERS.map(PathBuf::from)).collect();
        Self { root: PathBuf::from("/"), library_folders, torch, open_device_file }
    }

    /// Returns why no GPU can be used, given that libtorch sees none.
    pub(super) fn problem(&self) -> GpuProblem {
        let in_container = CONTAINER_MARKS.iter().any(|mark| self.root.join(mark).exists());
        // Windows lends its driver to Linux programs through a file of its own.
        let is_windows = self.root.join("dev/dxg").exists();
        match self.driver_version() {
            None if is_windows => {}
            None if self.has_card() => return GpuProblem::NoDriver { in_container },
            None => return GpuProblem::NoGpu,
            Some(version) if first_number(&version).is_some_and(|number| number < DRIVER_MIN) => {
                return GpuProblem::OldDriver { version, in_container };
            }
            Some(_) => {
                let device_file = self.root.join("dev/nvidiactl");
                match (self.open_device_file)(&device_file).map_err(|error| error.kind()) {
                    Err(ErrorKind::NotFound) if in_container => return GpuProblem::NotInContainer,
                    Err(ErrorKind::NotFound) => return GpuProblem::NoDeviceFile,
                    Err(ErrorKind::PermissionDenied) => return GpuProblem::NotPermitted,
                    _ => {}
                }
            }
        }
        if !self.has_driver_library() {
            return GpuProblem::NoDriverLibrary { in_container };
        }
        self.torch_problem().unwrap_or(GpuProblem::Hidden)
    }

    fn torch_problem(&self) -> Option<GpuProblem> {
        let folder = self.torch.folder.as_ref().filter(|_| !self.torch.has_cuda)?;
        let library = folder.join(super::CUDA_LIBRARY);
        Some(if library.is_file() {
            GpuProblem::TorchNotLoaded { library }
        } else {
            GpuProblem::CpuTorch { folder: folder.clone() }
        })
    }

    /// Returns the version of the driver that is loaded: the first word with a dot of the kernel module's line.
    fn driver_version(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.root.join("proc/driver/nvidia/version")).ok()?;
        let is_version = |word: &&str| first_number(word).is_some() && word.contains('.');
        Some(text.split_whitespace().find(is_version).unwrap_or("unknown").to_owned())
    }

    fn has_card(&self) -> bool {
        let devices = std::fs::read_dir(self.root.join("sys/bus/pci/devices")).into_iter().flatten();
        let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        // Class 0x03: what shows pictures; NVIDIA also makes bridges and network cards.
        devices.flatten().map(|device| device.path()).any(|device| {
            read(device.join("vendor")).trim() == NVIDIA && read(device.join("class")).starts_with("0x03")
        })
    }

    fn has_driver_library(&self) -> bool {
        let under_root = |folder: &PathBuf| self.root.join(folder.strip_prefix("/").unwrap_or(folder));
        let is_there = |folder: &PathBuf| under_root(folder).join(DRIVER_LIBRARY).exists();
        // The linker's cache is a table of names that end with a zero.
        let cache = std::fs::read(self.root.join("etc/ld.so.cache")).unwrap_or_default();
        self.library_folders.iter().any(is_there)
            || cache.windows(DRIVER_LIBRARY.len()).any(|name| name == DRIVER_LIBRARY.as_bytes())
    }
}

fn open_device_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().read(true).write(true).open(path).map(drop)
}

/// Returns the number that a text begins with, as in `580.65.06`.
fn first_number(text: &str) -> Option<u32> {
    text.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: &str = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  VERSION  Sun Jul 27 07:13:01 UTC 2025\nGCC version:  gcc version 14.2.0 (Debian)\n";

    /// A machine of files in a folder: a GPU, its driver and a libtorch with CUDA; each test takes something away.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            let machine = Self(tempfile::tempdir().unwrap());
            machine.put("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
            machine.put("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
            machine.put("proc/driver/nvidia/version", &VERSION.replace("VERSION", "580.65.06"));
            machine.put("dev/nvidiactl", "");
            machine.put("etc/ld.so.cache", "\0libc.so.6\0libcuda.so.1\0");
            machine.put("torch/lib/libtorch_cpu.so", "");
            machine.put("torch/lib/libtorch_cuda.so", "");
            machine
        }

        fn put(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn without(self, path: &str) -> Self {
            let path = self.0.path().join(path);
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap()
            } else {
                std::fs::remove_file(path).unwrap()
            }
            self
        }

        fn with(self, path: &str, text: &str) -> Self {
            self.put(path, text);
            self
        }

        fn torch(&self, has_cuda: bool) -> LoadedTorch {
            LoadedTorch { folder: Some(self.0.path().join("torch/lib")), has_cuda }
        }

        fn probe(&self) -> GpuProbe {
            GpuProbe {
                root: self.0.path().to_owned(),
                library_folders: vec!["/usr/lib64".into()],
                torch: self.torch(true),
                open_device_file,
            }
        }

        fn problem(&self) -> GpuProblem {
            self.probe().problem()
        }
    }

    #[test]
    fn a_machine_without_gpu_or_without_driver_is_told_so() {
        let bare = Machine::new().without("proc/driver").without("dev/nvidiactl");
        assert_eq!(bare.problem(), GpuProblem::NoDriver { in_container: false });
        // A bridge of NVIDIA's is no GPU.
        let other = bare.with("sys/bus/pci/devices/0000:01:00.0/class", "0x068000\n");
        assert_eq!(other.problem(), GpuProblem::NoGpu);
        let container = Machine::new().without("proc/driver").with(".dockerenv", "");
        assert!(container.problem().to_string().contains("580 or newer on the host of this container"));
    }

    #[test]
    fn a_driver_from_before_cuda_13_is_named() {
        let machine = Machine::new().with("proc/driver/nvidia/version", &VERSION.replace("VERSION", "575.57.08"));
        let problem = machine.problem();
        assert_eq!(problem, GpuProblem::OldDriver { version: "575.57.08".into(), in_container: false });
        let text = problem.to_string();
        assert!(
            text.starts_with("the NVIDIA driver is 575.57.08, too old for CUDA 13: install 580 or newer, "),
            "{text}"
        );
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.10  Release Build\n";
        assert_eq!(Machine::new().with("proc/driver/nvidia/version", open).problem(), GpuProblem::Hidden);
    }

    #[test]
    fn missing_device_files_are_the_containers_or_the_hosts() {
        assert_eq!(Machine::new().without("dev/nvidiactl").problem(), GpuProblem::NoDeviceFile);
        for mark in [".dockerenv", "run/.containerenv", "run/secrets/kubernetes.io/serviceaccount/token"] {
            let machine = Machine::new().without("dev/nvidiactl").with(mark, "");
            assert_eq!(machine.problem(), GpuProblem::NotInContainer, "{mark}");
        }
        let refused = |_: &Path| Err(io::Error::from(ErrorKind::PermissionDenied));
        let machine = Machine::new();
        let probe = GpuProbe { open_device_file: refused, ..machine.probe() };
        assert_eq!(probe.problem(), GpuProblem::NotPermitted);
    }

    #[test]
    fn the_drivers_library_is_looked_for_where_the_linker_does() {
        let machine = Machine::new().without("etc/ld.so.cache");
        assert_eq!(machine.problem(), GpuProblem::NoDriverLibrary { in_container: false });
        let container = machine.with(".dockerenv", "");
        assert!(container.problem().to_string().ends_with("NVIDIA_DRIVER_CAPABILITIES=compute,utility"));
        assert_eq!(container.with("usr/lib64/libcuda.so.1", "").problem(), GpuProblem::Hidden);
    }

    #[test]
    fn libtorchs_cuda_half_may_be_missing_or_not_load() {
        let machine = Machine::new();
        let not_loaded = GpuProbe { torch: machine.torch(false), ..machine.probe() };
        let library = machine.0.path().join("torch/lib/libtorch_cuda.so");
        assert_eq!(not_loaded.problem(), GpuProblem::TorchNotLoaded { library });
        let machine = machine.without("torch/lib/libtorch_cuda.so");
        let cpu = GpuProbe { torch: machine.torch(false), ..machine.probe() };
        assert_eq!(cpu.problem(), GpuProblem::CpuTorch { folder: machine.0.path().join("torch/lib") });
    }

    #[test]
    fn what_windows_lends_needs_no_driver_in_linux() {
        let machine = Machine::new().without("proc/driver").without("sys").without("dev/nvidiactl").with("dev/dxg", "");
        assert_eq!(machine.problem(), GpuProblem::Hidden);
    }
}
