//! Who answers the leaves: a trained network, or a search preset that needs none.

use runtime::logging;
use shared::encoding::Shown;
use shared::game::Game;
use shared::search::Preset;

use crate::think::{Alone, Evaluator};

/// How the search goes, which network plays, and where it is computed.
#[derive(Debug, clap::Args)]
pub struct PlayerOptions {
    /// How to search: alphazero (with a network, or holding all moves for equally good), vanilla (random rollouts) or
    /// grandmaster (rules of thumb).
    #[arg(long, value_name = "PRESET", default_value = "alphazero")]
    pub preset: Preset,
    /// Network to play, as the learner writes it (run/networks/*.safetensors).
    #[cfg(feature = "network")]
    #[arg(long, value_name = "FILE")]
    network: Option<std::path::PathBuf>,
    /// Where the network is computed: auto, cpu, cuda or cuda:N.
    #[cfg(feature = "network")]
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: net::DeviceChoice,
}

/// Whoever answers leaves, by the preset.
pub struct Player<G: Game> {
    network: Option<Box<dyn Evaluator<G>>>,
}

impl PlayerOptions {
    /// Opens the network, if there is one. Without it `alphazero` holds all moves for equally good.
    ///
    /// # Errors
    /// A network that cannot be played.
    pub fn player<G: Shown>(&self) -> anyhow::Result<Player<G>> {
        #[cfg(feature = "network")]
        if let Some(path) = &self.network {
            // Before the first torch call: on a machine with a GPU the program starts anew.
            net::cuda::preload(self.device)?;
            let network = crate::network::NetworkEvaluator::<G>::open(path, self.device)?;
            return Ok(Player { network: Some(Box::new(network)) });
        }
        if self.preset == Preset::AlphaZero {
            logging::print_line("no network: all moves are held for equally good, all positions for even");
        }
        Ok(Player { network: None })
    }
}

impl<G: Shown> Player<G> {
    /// Makes a player with a network that is made up, or without one.
    #[cfg(test)]
    pub fn new(network: Option<Box<dyn Evaluator<G>>>) -> Self {
        Self { network }
    }

    /// Sets how many threads compute the network.
    pub fn set_threads(&self, count: u32) {
        if let Some(network) = &self.network {
            network.set_threads(count);
        }
    }

    /// Returns who answers leaves in a search by `preset`.
    pub fn evaluator(&self, preset: Preset) -> &dyn Evaluator<G> {
        match (preset, &self.network) {
            (Preset::AlphaZero, Some(network)) => &**network,
            (Preset::AlphaZero, None) => &Alone(Preset::AlphaZero),
            (Preset::Vanilla, _) => &Alone(Preset::Vanilla),
            (Preset::Grandmaster, _) => &Alone(Preset::Grandmaster),
        }
    }
}
