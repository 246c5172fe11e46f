//! Who answers the leaves: a trained network, or nobody in particular.

use runtime::logging;
use shared::encoding::Shown;

use crate::think::{Evaluator, Uniform};

/// Which network plays, and where it is computed.
#[derive(Debug, clap::Args)]
pub struct PlayerOptions {
    /// Network to play, as the learner writes it (run/networks/*.safetensors).
    #[cfg(feature = "network")]
    #[arg(long, value_name = "FILE")]
    network: Option<std::path::PathBuf>,
    /// Where the network is computed: auto, cpu, cuda or cuda:N.
    #[cfg(feature = "network")]
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: net::DeviceChoice,
}

impl PlayerOptions {
    /// Returns who answers leaves. Without a network all moves are held for equally good.
    ///
    /// # Errors
    /// A network that cannot be played.
    pub fn evaluator<G: Shown>(&self) -> anyhow::Result<Box<dyn Evaluator<G>>> {
        #[cfg(feature = "network")]
        if let Some(path) = &self.network {
            // Before the first torch call: on a machine with a GPU the program starts anew.
            net::cuda::preload(self.device)?;
            return Ok(Box::new(crate::network::NetworkEvaluator::<G>::open(path, self.device)?));
        }
        logging::print_line("no network: all moves are held for equally good, all positions for even");
        Ok(Box::new(Uniform::default()))
    }
}
