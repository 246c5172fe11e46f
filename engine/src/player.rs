//! What evaluates the leaves: a trained network, or a search preset that needs none.

use runtime::logging;
use shared::encoding::NetworkGame;
use shared::game::Game;
use shared::search::{Evaluator, SearchPreset};

/// How the search goes, which network plays, and where it is computed.
#[derive(Debug, clap::Args)]
pub struct PlayerOptions {
    /// How to search: alphazero (with a network, or with uniform priors), vanilla (random rollouts) or
    /// grandmaster (rules of thumb).
    #[arg(long, value_name = "PRESET", default_value = "alphazero")]
    pub preset: SearchPreset,
    /// Network to play, as the learner writes it (run/networks/*.safetensors).
    #[cfg(feature = "network")]
    #[arg(long, value_name = "FILE")]
    network: Option<std::path::PathBuf>,
    /// Where the network is computed: auto, cpu, cuda or cuda:N.
    #[cfg(feature = "network")]
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: net::DeviceChoice,
}

/// Makes the evaluators of a search, by the preset.
pub struct Player<G: Game> {
    network: Option<Network<G>>,
}

/// Makes evaluators that share a network.
type Network<G> = Box<dyn Fn() -> Box<dyn Evaluator<G> + Send> + Send + Sync>;

impl PlayerOptions {
    /// Opens the network, if there is one. Without it `alphazero` searches with uniform priors and values.
    ///
    /// # Errors
    /// A network that cannot be played.
    pub fn player<G: NetworkGame>(&self) -> anyhow::Result<Player<G>> {
        #[cfg(feature = "network")]
        if let Some(path) = &self.network {
            // Before the first torch call: on a machine with a GPU the program starts anew.
            net::cuda::preload(self.device)?;
            let device = net::open_device(self.device)?;
            let file = net::NetworkFile::read(path)?;
            let evaluator = net::NetworkEvaluator::<G>::open(&file, device)?;
            logging::print_line(&format!("playing network {} on {device}: {}", path.display(), file.spec()?));
            return Ok(Player { network: Some(Box::new(move || Box::new(evaluator.clone()))) });
        }
        if self.preset == SearchPreset::AlphaZero {
            logging::print_line("no network: all moves are held for equally good, all positions for even");
        }
        Ok(Player { network: None })
    }
}

impl<G: NetworkGame> Player<G> {
    /// Makes a player with a network that is made up, or without one.
    #[cfg(test)]
    pub fn new(network: Option<Network<G>>) -> Self {
        Self { network }
    }

    /// Sets how many threads compute the network.
    pub fn set_threads(&self, count: u32) {
        #[cfg(feature = "network")]
        if self.network.is_some() {
            net::set_threads(count as usize);
        }
        #[cfg(not(feature = "network"))]
        let _ = count;
    }

    /// Returns an evaluator for one thread of a search by `preset`. What it draws at random follows from `seed`.
    pub fn evaluator(&self, preset: SearchPreset, seed: u64) -> Box<dyn Evaluator<G> + Send> {
        match (preset, &self.network) {
            (SearchPreset::AlphaZero, Some(make_evaluator)) => make_evaluator(),
            _ => preset.evaluator(seed),
        }
    }
}
