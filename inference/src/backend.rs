//! What evaluates a batch of positions: one contract for networks on a device, and for tests and benchmarks without one.

use net::NetworkOutput;
use shared::encoding::NetworkInput;
use shared::ids::NetworkId;
use shared::search::EvaluationError;

/// Computes batches of positions by one of several networks: tensors in, tensors out. Owned by one thread.
pub trait InferenceBackend {
    /// Evaluates `input` with network `network_id` into `output`, whatever that held before.
    ///
    /// # Errors
    /// [`EvaluationError::NetworkUnavailable`], or [`EvaluationError::DeviceFailed`].
    fn evaluate(
        &mut self,
        network_id: NetworkId,
        input: &NetworkInput,
        output: &mut NetworkOutput,
    ) -> Result<(), EvaluationError>;

    /// Returns how many leaves are computed for a batch of `leaf_count`, what it is padded with included.
    fn computed_leaf_count(&self, leaf_count: usize) -> usize {
        leaf_count
    }
}
