//! What evaluates the leaves: a trained network, or a search preset that needs none.

use std::convert::Infallible;
use std::path::Path;
use std::str::FromStr;

use networks::{NetworkSource, READY};
#[cfg(not(feature = "network"))]
use runtime::exit::UsageError;
use runtime::logging;
use shared::catalog::NetworkGame;
use shared::game::Game;
use shared::search::{Evaluator, SearchPreset};

/// How the search goes, which network plays, and where it is computed.
#[derive(Debug, clap::Args)]
pub struct PlayerOptions {
    /// How to search: alphazero (with a network, or with uniform priors), vanilla (random rollouts) or
    /// grandmaster (rules of thumb).
    #[arg(long, value_name = "PRESET", default_value = "alphazero")]
    pub preset: SearchPreset,
    /// Network to play: ready (the one that this program carries for the game), none, or a file as the learner writes it
    /// (run/networks/*.safetensors).
    #[arg(long, value_name = "ready|none|FILE", default_value = DEFAULT_NETWORK)]
    network: NetworkChoice,
    /// Where the network is computed: auto, cpu, cuda or cuda:N.
    #[cfg(feature = "network")]
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: net::DeviceChoice,
}

/// What is played without a flag.
const DEFAULT_NETWORK: &str = if cfg!(feature = "network") { READY } else { NONE };
/// How no network is named.
const NONE: &str = "none";

/// The network to play, if any.
#[derive(Debug, Clone)]
struct NetworkChoice(Option<NetworkSource>);

impl FromStr for NetworkChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self((text != NONE).then(|| Path::new(text).into())))
    }
}

/// Makes the evaluators of a search, by the preset.
pub struct Player<G: Game> {
    network: Option<Network<G>>,
}

/// Makes evaluators that share a network.
type Network<G> = Box<dyn Fn() -> Box<dyn Evaluator<G> + Send> + Send + Sync>;

impl PlayerOptions {
    /// Opens the network, if one is to be played. Without it `alphazero` searches with uniform priors and values.
    ///
    /// # Errors
    /// A network that cannot be played.
    pub fn player<G: NetworkGame>(&self) -> anyhow::Result<Player<G>> {
        if let Some(source) = &self.network.0 {
            return Ok(Player { network: Some(self.open(source)?) });
        }
        if self.preset == SearchPreset::AlphaZero {
            logging::print_line("no network: all moves are equally good, all positions even");
        }
        Ok(Player { network: None })
    }

    #[cfg(feature = "network")]
    fn open<G: NetworkGame>(&self, source: &NetworkSource) -> anyhow::Result<Network<G>> {
        // Before the first torch call: on a machine with a GPU the program starts anew.
        net::cuda::preload(self.device)?;
        let device = net::open_device(self.device)?;
        let bytes = source.read(&G::default().spec(G::USUAL_VIEW))?;
        let file = net::NetworkFile::from_bytes(source.to_string(), bytes)?;
        let evaluator = net::NetworkEvaluator::<G>::open(&file, device)?;
        logging::print_line(&format!("playing network {source} on {device}: {}", file.spec()?));
        Ok(Box::new(move || Box::new(evaluator.clone())))
    }

    #[cfg(not(feature = "network"))]
    fn open<G: NetworkGame>(&self, source: &NetworkSource) -> anyhow::Result<Network<G>> {
        let advice = "use --network none, or build it with the feature \"network\"";
        Err(UsageError(format!("--network {source}: this program was built without libtorch: {advice}")).into())
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
