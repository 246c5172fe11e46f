//! The devices of a run or a training: a warning where `auto` found no GPU.

use net::DeviceChoice;
use tracing::warn;

use crate::config::LearnerConfig;
use crate::progress::RunStatus;

/// The counter of the status that tells how many of the two devices are the processor because `auto` found no GPU.
const FALLBACK_COUNTER: &str = "processor_fallback_count";

/// Warns in log and status of each device that is the processor because `auto` found no GPU.
pub(crate) fn warn_of_processor(config: &LearnerConfig, status: &RunStatus) {
    let devices = [("inference.device", config.inference.device), ("training.device", config.training.device)];
    for (key, choice) in devices {
        if warn_if_passed_over(key, choice) {
            status.count(FALLBACK_COUNTER);
        }
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
