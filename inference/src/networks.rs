//! The networks that answer, loaded from their files when first asked for.

use std::collections::HashMap;
use std::path::PathBuf;

use net::{Device, InferenceNetwork, Network, NetworkOutput, NetworkSpec, Precision};
use shared::encoding::NetworkInput;
use shared::ids::NetworkId;
use shared::search::EvaluationError;
use store::files::RunFiles;
use tracing::info;

use super::backend::InferenceBackend;

/// Keeps the networks used last ready on one device.
pub struct NetworkBackend {
    files: RunFiles,
    spec: NetworkSpec,
    device: Device,
    precision: Precision,
    batch_sizes: Vec<usize>,
    network_count_max: usize,
    ready: HashMap<NetworkId, Ready>,
    use_count: u64,
}

struct Ready {
    network: InferenceNetwork,
    last_use: u64,
}

impl NetworkBackend {
    /// Makes a backend with no network ready yet, whose networks answer on `device` in numbers of `precision`. Called on the
    /// thread that will own the tensors.
    #[must_use]
    pub fn new(
        files: RunFiles,
        spec: NetworkSpec,
        (device, precision): (Device, Precision),
        batch_sizes: Vec<usize>,
        network_count_max: usize,
    ) -> Self {
        Self { files, spec, device, precision, batch_sizes, network_count_max, ready: HashMap::new(), use_count: 0 }
    }

    fn ready(&mut self, network_id: NetworkId) -> Result<&mut InferenceNetwork, EvaluationError> {
        self.use_count += 1;
        if !self.ready.contains_key(&network_id) {
            let network = self.load(self.files.network(network_id))?;
            self.drop_oldest();
            self.ready.insert(network_id, Ready { network, last_use: 0 });
            let (device, precision) = (self.device, self.precision);
            info!(network_id = network_id.get(), %device, %precision, "network ready");
        }
        let ready = self.ready.get_mut(&network_id).expect("inserted above if it was not there");
        ready.last_use = self.use_count;
        Ok(&mut ready.network)
    }

    fn load(&self, path: PathBuf) -> Result<InferenceNetwork, EvaluationError> {
        if !path.is_file() {
            return Err(EvaluationError::NetworkUnavailable(format!("there is no network file {}", path.display())));
        }
        let network = Network::load(&path, &self.spec, self.device)?;
        Ok(InferenceNetwork::new(&network, self.device, self.precision, &self.batch_sizes)?)
    }

    fn drop_oldest(&mut self) {
        while self.ready.len() >= self.network_count_max {
            let oldest = self.ready.iter().min_by_key(|(_, ready)| ready.last_use).map(|(id, _)| *id);
            let Some(oldest) = oldest else { return };
            self.ready.remove(&oldest);
        }
    }
}

impl InferenceBackend for NetworkBackend {
    fn evaluate(
        &mut self,
        network_id: NetworkId,
        input: &NetworkInput,
        output: &mut NetworkOutput,
    ) -> Result<(), EvaluationError> {
        Ok(self.ready(network_id)?.evaluate(input, output)?)
    }

    fn computed_leaf_count(&self, leaf_count: usize) -> usize {
        self.spec.shape.computed_batch(&self.batch_sizes, leaf_count)
    }
}
