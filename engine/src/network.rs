//! Answers leaves with a trained network. The only file of the engine that knows `net`.

use std::path::Path;
use std::sync::Mutex;

use net::{DeviceChoice, InferenceNetwork, NetError, NetworkFile, NetworkOutput, Precision};
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

impl<G: Shown> NetworkEvaluator<G> {
    /// Reads a network. The file says how it is built and how it sees the board.
    ///
    /// # Errors
    /// One line that names the file, or the device.
    pub fn open(path: &Path, device: DeviceChoice) -> anyhow::Result<Self> {
        let file = NetworkFile::read(path)?;
        let spec = file.spec()?;
        let view = G::view_of(&spec.game).ok_or_else(|| NetError::OtherGame {
            file: file.name().to_owned(),
            found: spec.game.to_string(),
            wanted: G::NAME.to_owned(),
        })?;
        let device = net::open_device(device)?;
        let network = InferenceNetwork::new(&file.load(device)?, device, Precision::for_device(device), &[])?;
        logging::print_line(&format!("playing network {} on {device}: {spec}", path.display()));
        Ok(Self { network: Mutex::new(network), view })
    }
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
    use net::{Architecture, Device, Network, NetworkSettings, NetworkSpec, PolicyHead, Trunk};
    use shared::encoding::dama::PolicyCoding;
    use shared::game::catalog::GameSpec;
    use shared::game::dama::Dama;
    use shared::game::hive::Hive;

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

    fn save(path: &Path, game: &GameSpec, settings: NetworkSettings) {
        let spec = NetworkSpec::new(game, settings).unwrap();
        Network::random(&spec, Device::CPU, 7).unwrap().save(path).unwrap();
    }

    /// Writes a network that sees the board so, reads it and lets it answer the leaves of a search.
    fn check_search<G: Shown>(view: G::View, settings: NetworkSettings) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.safetensors");
        let game = G::default();
        save(&path, &game.spec(view), settings);
        let evaluator = NetworkEvaluator::<G>::open(&path, DeviceChoice::Cpu).unwrap();
        assert_eq!(evaluator.view, view);
        for threads in [1, 3] {
            assert_eq!(simulations_of(&game, game.initial_position(), &evaluator, (40, threads)), 40);
        }
    }

    #[test]
    fn a_network_answers_the_leaves_of_a_search() {
        for (frame, policy_head) in [(16, PolicyHead::Spatial), (26, PolicyHead::Full)] {
            check_search::<Hive>(frame, NetworkSettings { policy_head, ..SETTINGS });
        }
        for (coding, trunk) in [(PolicyCoding::Lossless, Trunk::Frame), (PolicyCoding::From4, Trunk::Cells)] {
            for policy_head in [PolicyHead::Spatial, PolicyHead::Full] {
                check_search::<Dama>(coding, NetworkSettings { policy_head, trunk, ..SETTINGS });
            }
            let (architecture, policy_head) = (Architecture::DamaCnn, PolicyHead::Full);
            check_search::<Dama>(coding, NetworkSettings { architecture, policy_head, ..SETTINGS });
        }
    }

    #[test]
    fn a_file_that_is_not_such_a_network_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.safetensors");
        let name = path.display().to_string();
        assert!(error_of(&path).starts_with(&format!("network {name}: cannot read it")), "{}", error_of(&path));
        std::fs::write(&path, "no network").unwrap();
        assert!(error_of(&path).starts_with(&format!("network {name}: ")), "{}", error_of(&path));
        for (game, found) in [
            (GameSpec::TicTacToe {}, "tic-tac-toe"),
            (Dama::default().spec(PolicyCoding::Lossless), "Italian draughts (lossless)"),
        ] {
            save(&path, &game, SETTINGS);
            assert_eq!(error_of(&path), format!("network {name}: plays {found}, this wants Hive"));
        }
    }
}
