//! Measures a network on samples that it did not learn from.

use net::{InferenceNetwork, NetError, Network, NetworkOutput, Precision};
use samples::buffer::SampleBuffer;
use samples::epoch_batches::{BatchError, BatchSource, EpochOrder, for_each_batch};
use shared::encoding::Encoding;
use tokio_util::sync::CancellationToken;

use super::prediction_metrics::PredictionMetrics;

/// Positions evaluated together.
const BATCH_SIZE: usize = 256;

/// Why a network cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The network has another shape than the encoding, or the device fails.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A sample does not decode.
    #[error(transparent)]
    Batch(#[from] BatchError),
}

/// Returns how well `network` predicts `samples`, each as it was played, untransformed; `None` if `stop` came first.
///
/// Computed in 32 bits, whatever games are played in: in 16, the values depend on how threads share a sum, and a position
/// near 0 changes sides from one measurement to the next.
///
/// # Errors
/// [`MeasureError`].
pub fn measure<E: Encoding>(
    network: &Network,
    encoding: &E,
    samples: &SampleBuffer,
    threads: usize,
    stop: &CancellationToken,
) -> Result<Option<PredictionMetrics>, MeasureError> {
    let device = network.device();
    // Padding lets a GPU see one size only; a processor would evaluate the empty positions for nothing.
    let sizes: &[usize] = if device.is_cuda() { &[BATCH_SIZE] } else { &[] };
    let mut network = InferenceNetwork::new(network, device, Precision::Float32, sizes)?;
    let order = EpochOrder::plain(samples.position_count(), BATCH_SIZE);
    let source = BatchSource { encoding, samples, order: &order, threads };
    let (mut metrics, mut output) = (PredictionMetrics::default(), NetworkOutput::default());
    for_each_batch(source, 0..order.batch_count(), |_, batch| {
        network.evaluate(&batch.input, &mut output)?;
        metrics.add(batch, &output);
        Ok::<_, MeasureError>(!stop.is_cancelled())
    })?;
    Ok((!stop.is_cancelled()).then_some(metrics))
}
