//! The learning rates of a run that starts from a network, as log and `--print-config` show them.

use store::{Reader, StoreError};
use tracing::info;

use crate::config::{LearnerConfig, LearningRates};

/// Returns whether generation 0 of the run was, or of a new run will be, made from a network.
pub(super) fn is_run_from_network(reader: &Reader, config: &LearnerConfig) -> Result<bool, StoreError> {
    Ok(match reader.best_network()? {
        Some(_) => reader.run()?.start_network.is_some(),
        None => config.run.start_network.is_some(),
    })
}

/// Logs once that the run learns at other rates than one from random weights.
pub(super) fn log_learning_rates(config: &LearnerConfig, is_from_network: bool) {
    if is_from_network {
        let LearningRates { first, last } = config.training.learning_rates(true);
        info!(
            learning_rate_first = first,
            learning_rate_last = last,
            "the run started from a network: using training.learning_rate_max_from_network"
        );
    }
}

/// Returns a comment for the printed settings that says which learning rates count, if it is not those of a run from
/// random weights; empty otherwise.
#[must_use]
pub fn learning_rate_note(config: &LearnerConfig) -> String {
    let reader = Reader::of_run(&config.run.dir);
    // Without a store that can be read the run is a new one.
    let is_from_network = reader.and_then(|reader| is_run_from_network(&reader, config));
    let is_from_network = is_from_network.unwrap_or(config.run.start_network.is_some());
    if !is_from_network {
        return String::new();
    }
    let LearningRates { first, last } = config.training.learning_rates(true);
    format!(
        "# This run starts from a network: its learning rate falls from {first} to {last} \
         (training.learning_rate_max_from_network).\n\n"
    )
}
