//! The devices and threads of a run or a training: a warning where `auto` found no GPU, or where there are fewer cores
//! than threads were asked for.

use inference::NetworkBackend;
use net::{DeviceChoice, NetError, NetworkSpec, Precision};
use store::files::RunFiles;
use tracing::warn;

use crate::config::{InferenceConfig, LearnerConfig};

/// Makes what evaluates, on the thread that will own the tensors: threads have the devices in turn.
///
/// # Errors
/// [`NetError::Device`] if the device is not there, [`NetError::Settings`] if it cannot have `inference.precision`.
pub(crate) fn network_backend(
    config: &InferenceConfig,
    thread_number: usize,
    files: RunFiles,
    network: NetworkSpec,
) -> Result<NetworkBackend, NetError> {
    let devices = config.devices();
    let device = net::open_device(devices[thread_number % devices.len()])?;
    set_threads("inference.threads", config.threads);
    let precision = Precision::chosen(config.precision, device, &network.shape)?;
    Ok(NetworkBackend::new(files, network, (device, precision), config.batch_sizes.clone(), config.networks_max))
}

/// Warns in the log of each device of a run that is the processor because `auto` found no GPU. Returns their number.
pub(crate) fn warn_of_processor(config: &LearnerConfig) -> usize {
    let inference = config.inference.devices().into_iter().map(|device| ("inference.device", device));
    let devices = inference.chain([("training.device", config.training.device)]);
    devices.filter(|(key, choice)| warn_if_passed_over(key, *choice)).count()
}

/// Sets how many threads a tensor operation of this thread may use, and warns in the log if there are fewer cores than
/// `key` asks for. 0: one for each core.
pub(crate) fn set_threads(key: &str, wanted: usize) {
    let used = net::set_threads(wanted);
    if used < wanted {
        warn!(key, wanted, used, "there are fewer cores, so fewer threads are used");
    }
}

/// Warns in the log if `choice` is `auto` and found no GPU, and returns whether that is so.
pub(crate) fn warn_if_passed_over(key: &str, choice: DeviceChoice) -> bool {
    let problem = choice.passed_over();
    if let Some(reason) = &problem {
        warn!(key, %reason, "computing on the processor: set \"cpu\" if that is meant, \"cuda:0\" if it must not be");
    }
    problem.is_some()
}
