//! Asking a network about samples that it did not learn from.

use net::{InferenceNetwork, Network, NetworkOutput, Precision};
use shared::encoding::Encoding;
use tokio_util::sync::CancellationToken;

use super::batches::{EpochOrder, Source, for_each_batch};
use crate::figures::Figures;
use crate::replay::ReplayBuffer;

/// Positions that a network is asked about at once.
const BATCH_SIZE: usize = 256;

/// Returns what `network` foresees of `samples`, each as it was played, unturned; `None` if `stop` came first.
///
/// # Errors
/// If the network is of another shape than the encoding, or the device fails.
pub fn measure<E: Encoding>(
    network: &Network,
    encoding: &E,
    samples: &ReplayBuffer,
    threads: usize,
    stop: &CancellationToken,
) -> anyhow::Result<Option<Figures>> {
    let device = network.device();
    // Padding gives a GPU one size alone; a processor would evaluate the empty positions for nothing.
    let sizes: &[usize] = if device.is_cuda() { &[BATCH_SIZE] } else { &[] };
    let mut network = InferenceNetwork::new(network, device, Precision::for_device(device), sizes)?;
    let order = EpochOrder::plain(samples.position_count(), BATCH_SIZE);
    let source = Source { encoding, samples, order: &order, threads };
    let (mut figures, mut said) = (Figures::default(), NetworkOutput::default());
    for_each_batch(source, 0..order.batch_count(), |_, batch| {
        network.evaluate(&batch.input, &mut said)?;
        figures.add(batch, &said);
        Ok(!stop.is_cancelled())
    })?;
    Ok((!stop.is_cancelled()).then_some(figures))
}
