//! The devices of a run or a training: a warning where `auto` found no GPU.

use net::DeviceChoice;
use tracing::warn;

use crate::config::LearnerConfig;

/// Warns in the log of each device of a run that is the processor because `auto` found no GPU. Returns their number, 0..=2.
pub(crate) fn warn_of_processor(config: &LearnerConfig) -> usize {
    let devices = [("inference.device", config.inference.device), ("training.device", config.training.device)];
    devices.into_iter().filter(|(key, choice)| warn_if_passed_over(key, *choice)).count()
}

/// Warns in the log if `choice` is `auto` and found no GPU, and returns whether that is so.
pub(crate) fn warn_if_passed_over(key: &str, choice: DeviceChoice) -> bool {
    let problem = choice.passed_over();
    if let Some(reason) = &problem {
        warn!(key, %reason, "computing on the processor: set \"cpu\" if that is meant, \"cuda:0\" if it must not be");
    }
    problem.is_some()
}
