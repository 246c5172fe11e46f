//! Which machine the tensors live on, and with how many threads they are computed.

use std::fmt;
use std::num::NonZero;

use crate::cuda::GpuProblem;
use crate::device_choice::DeviceChoice;
use crate::{NetError, cuda};

/// A device that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device(pub(crate) tch::Device);

impl Device {
    /// The processor, which is always there.
    pub const CPU: Self = Self(tch::Device::Cpu);

    /// Returns whether this is a GPU.
    #[must_use]
    pub fn is_cuda(self) -> bool {
        self.0.is_cuda()
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            tch::Device::Cuda(number) => write!(f, "cuda:{number}"),
            _ => write!(f, "cpu"),
        }
    }
}

impl DeviceChoice {
    /// Returns why the GPU that [`Self::Auto`] would have taken cannot be used; `None` if it can, or was not asked for.
    #[must_use]
    pub fn passed_over(self) -> Option<GpuProblem> {
        (self == Self::Auto).then(cuda::problem).flatten()
    }
}

/// Opens the device that `choice` names. GPUs are seen only after [`crate::cuda::preload`].
///
/// # Errors
/// [`NetError::Device`] if a GPU was asked for by number and is not there: why, and what to do about it
/// ([`crate::cuda::GpuProblem`]).
pub fn open_device(choice: DeviceChoice) -> Result<Device, NetError> {
    let refused = |reason: String| NetError::Device { device: choice.to_string(), reason };
    if choice == DeviceChoice::Cpu {
        return Ok(Device::CPU);
    }
    let number = match (choice, cuda::problem()) {
        (DeviceChoice::Cuda(number), None) => number,
        (DeviceChoice::Cuda(_), Some(problem)) => return Err(refused(problem.to_string())),
        (_, None) => 0,
        (_, Some(_)) => return Ok(Device::CPU),
    };
    let count = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    if number >= count {
        return Err(refused(format!("this machine has {count} GPU(s), numbered from 0")));
    }
    // Few batch sizes, each run very often: let cuDNN try its algorithms once for each.
    tch::Cuda::cudnn_set_benchmark(true);
    Ok(Device(tch::Device::Cuda(number)))
}

/// Sets how many threads one tensor operation may use, and returns that number: `wanted`, or one for each core if that is
/// 0 or more than there are cores. More threads than cores would wait for each other.
///
/// Call it on the thread that owns the tensors, before its first operation: OpenMP remembers the number by thread.
pub fn set_threads(wanted: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(wanted.max(1), NonZero::get);
    let count = if wanted == 0 { cores } else { wanted.min(cores) };
    tch::set_num_threads(i32::try_from(count).unwrap_or(i32::MAX));
    count
}

/// Returns how many threads one tensor operation of the calling thread may use.
#[must_use]
pub fn threads() -> usize {
    usize::try_from(tch::get_num_threads()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_threads_than_cores() {
        // A thread of its own: the number is kept by thread.
        let set = |wanted| std::thread::spawn(move || (set_threads(wanted), threads())).join().unwrap();
        let cores = std::thread::available_parallelism().unwrap().get();
        assert_eq!([0, 1, cores, cores + 1, usize::MAX].map(set), [cores, 1, cores, cores, cores].map(|n| (n, n)));
    }

    #[test]
    fn a_missing_gpu_is_an_error() {
        let error = open_device(DeviceChoice::Cuda(200)).unwrap_err().to_string();
        assert!(error.starts_with("device cuda:200: this "), "{error}");
        assert!(open_device(DeviceChoice::Auto).is_ok());
    }

    #[test]
    fn only_auto_passes_a_gpu_over() {
        assert_eq!([DeviceChoice::Cpu, DeviceChoice::Cuda(0)].map(DeviceChoice::passed_over), [None, None]);
        assert_eq!(DeviceChoice::Auto.passed_over(), cuda::problem());
    }
}
