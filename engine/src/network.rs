//! Answers leaves with a trained network. The only file of the engine that knows `net`.

use std::path::Path;
use std::sync::Mutex;

use net::{DeviceChoice, InferenceNetwork, Network, NetworkOutput, NetworkShape, Precision};
use runtime::logging;
use shared::encoding::{Encoding, NetworkInput, Shown};
use shared::game::Value;
use shared::search::{LeafId, Member};

use crate::think::{Answerer, Evaluator};

/// A network, and how it sees the board. The threads of a search take turns.
pub struct NetworkEvaluator<G: Shown> {
    network: Mutex<InferenceNetwork>,
    view: G::View,
}

/// What one thread asks the network with.
struct Asking<'a, G: Shown> {
    evaluator: &'a NetworkEvaluator<G>,
    input: NetworkInput,
    output: NetworkOutput,
    policy_indices: Vec<u16>,
}

/// Why a network cannot play a game.
#[derive(Debug, thiserror::Error)]
#[error("network {file}: not one for {game}: {shape}")]
struct OtherGame {
    file: String,
    game: &'static str,
    shape: NetworkShape,
}

impl<G: Shown> NetworkEvaluator<G> {
    /// Reads a network; its shape and how it sees the board are told by the file.
    ///
    /// # Errors
    /// One line that names the file, or the device.
    pub fn open(path: &Path, device: DeviceChoice) -> anyhow::Result<Self> {
        let shape = Network::shape_of(path)?;
        let other_game = || OtherGame { file: path.display().to_string(), game: G::NAME, shape };
        let view = view_of::<G>(&shape).ok_or_else(other_game)?;
        let device = net::open_device(device)?;
        let network = Network::load(path, &shape, device)?;
        let network = InferenceNetwork::new(&network, device, Precision::for_device(device), &[])?;
        logging::print_line(&format!("playing network {} on {device}: {shape}", path.display()));
        Ok(Self { network: Mutex::new(network), view })
    }
}

/// Returns how a network of this shape sees the game; `None` if it is one of another game.
fn view_of<G: Shown>(shape: &NetworkShape) -> Option<G::View> {
    let view = G::view(shape.planes, shape.policy_size)?;
    let expected = NetworkShape::new(&G::default().encoding(view), shape.settings);
    (*shape == expected).then_some(view)
}

impl<G: Shown> Evaluator<G> for NetworkEvaluator<G> {
    fn answerer(&self, _seed: u64) -> Box<dyn Answerer<G> + '_> {
        let (input, output) = (NetworkInput::default(), NetworkOutput::default());
        Box::new(Asking { evaluator: self, input, output, policy_indices: Vec::new() })
    }

    fn set_threads(&self, count: u32) {
        net::set_threads(count as usize);
    }
}

impl<G: Shown> Answerer<G> for Asking<'_, G> {
    fn answer(&mut self, game: &G, member: &mut Member<'_, G>, leaves: &[LeafId]) -> anyhow::Result<()> {
        let encoding = game.encoding(self.evaluator.view);
        self.input.clear();
        for leaf in leaves {
            let position = member.leaf_position(*leaf);
            self.policy_indices.clear();
            encoding.policy_indices(position, member.leaf_moves(*leaf), &mut self.policy_indices);
            self.input.push(&encoding, position, &self.policy_indices)?;
        }
        let broken = |_| anyhow::anyhow!("another thread failed while it asked the network");
        self.evaluator.network.lock().map_err(broken)?.evaluate(&self.input, &mut self.output)?;
        for (index, leaf) in leaves.iter().enumerate() {
            let priors = &self.output.priors[self.input.move_range(index)];
            member.expand(*leaf, priors, Value::new(self.output.values[index]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use net::{Architecture, Device, NetworkSettings, PolicyHead, Trunk};
    use shared::encoding::dama::{DamaEncoding, PolicyCoding};
    use shared::encoding::hive::HiveEncoding;
    use shared::encoding::tictactoe::TicTacToeEncoding;
    use shared::game::Game;
    use shared::game::dama::Dama;
    use shared::game::hive::Hive;
    use shared::game::tictactoe::TicTacToe;

    use super::*;
    use crate::think::tests::simulations_of;

    const SETTINGS: NetworkSettings = NetworkSettings {
        architecture: Architecture::Residual,
        blocks: 1,
        filters: 8,
        trunk: Trunk::Frame,
        policy_head: PolicyHead::Spatial,
        value_hidden: 8,
    };

    fn error_of(path: &Path) -> String {
        NetworkEvaluator::<Hive>::open(path, DeviceChoice::Cpu).err().expect("refused").to_string()
    }

    /// Writes a network of such a shape, reads it and lets it answer the leaves of a search.
    fn check_search<E: Encoding<Game: Shown>>(encoding: &E, settings: NetworkSettings) -> <E::Game as Shown>::View {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.safetensors");
        Network::random(&NetworkShape::new(encoding, settings), Device::CPU, 7).unwrap().save(&path).unwrap();
        let evaluator = NetworkEvaluator::<E::Game>::open(&path, DeviceChoice::Cpu).unwrap();
        let game = E::Game::default();
        for threads in [1, 3] {
            assert_eq!(simulations_of(&game, game.initial_position(), &evaluator, (40, threads)), 40);
        }
        evaluator.view
    }

    #[test]
    fn a_network_answers_the_leaves_of_a_search() {
        for (frame, policy_head) in [(16, PolicyHead::Spatial), (26, PolicyHead::Full)] {
            let encoding = HiveEncoding::new(Hive::default(), frame);
            assert_eq!(check_search(&encoding, NetworkSettings { policy_head, ..SETTINGS }), frame);
        }
        for (coding, trunk) in [(PolicyCoding::Lossless, Trunk::Frame), (PolicyCoding::From4, Trunk::Cells)] {
            let encoding = DamaEncoding::new(Dama::default(), coding);
            for policy_head in [PolicyHead::Spatial, PolicyHead::Full] {
                assert_eq!(check_search(&encoding, NetworkSettings { policy_head, trunk, ..SETTINGS }), coding);
            }
            let (architecture, policy_head) = (Architecture::DamaCnn, PolicyHead::Full);
            assert_eq!(check_search(&encoding, NetworkSettings { architecture, policy_head, ..SETTINGS }), coding);
        }
    }

    #[test]
    fn a_file_that_is_not_such_a_network_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.safetensors");
        let name = path.display().to_string();
        assert!(error_of(&path).starts_with(&format!("network {name}: cannot open it")), "{}", error_of(&path));
        std::fs::write(&path, "no network").unwrap();
        assert!(error_of(&path).starts_with(&format!("network {name}: ")), "{}", error_of(&path));
        let shape = NetworkShape::new(&TicTacToeEncoding::new(TicTacToe), SETTINGS);
        Network::random(&shape, Device::CPU, 7).unwrap().save(&path).unwrap();
        let error = error_of(&path);
        assert!(error.starts_with(&format!("network {name}: not one for Hive: 1 blocks of 8")), "{error}");
    }
}
