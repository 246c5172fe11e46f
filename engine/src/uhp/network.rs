//! Answers leaves with a trained network. The only file of the engine that knows `net`.

use std::path::Path;

use net::{DeviceChoice, InferenceNetwork, Network, NetworkOutput, NetworkShape, Precision};
use runtime::logging;
use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, NetworkInput};
use shared::game::Value;
use shared::game::hive::Hive;
use shared::search::{LeafId, Search};

use super::think::Evaluator;

/// A network, and the frame in which it sees the board.
pub struct NetworkEvaluator {
    network: InferenceNetwork,
    frame: u8,
    input: NetworkInput,
    output: NetworkOutput,
    policy_indices: Vec<u16>,
}

/// Why a network cannot play Hive.
#[derive(Debug, thiserror::Error)]
#[error("network {file}: not one for Hive: {shape}")]
struct NotForHive {
    file: String,
    shape: NetworkShape,
}

impl NetworkEvaluator {
    /// Reads a network; its shape and frame are told by the file.
    ///
    /// # Errors
    /// One line that names the file, or the device.
    pub fn open(path: &Path, device: DeviceChoice) -> anyhow::Result<Self> {
        let shape = Network::shape_of(path)?;
        let frame = frame_of(&shape).ok_or_else(|| NotForHive { file: path.display().to_string(), shape })?;
        let device = net::open_device(device)?;
        let network = Network::load(path, &shape, device)?;
        let network = InferenceNetwork::new(&network, device, Precision::for_device(device), &[])?;
        logging::print_line(&format!("playing network {} on {device}: {shape}", path.display()));
        let (input, output) = (NetworkInput::default(), NetworkOutput::default());
        Ok(Self { network, frame, input, output, policy_indices: Vec::new() })
    }
}

/// Returns the frame of a network whose shape is that of Hive.
fn frame_of(shape: &NetworkShape) -> Option<u8> {
    let frame = u8::try_from(shape.planes.rows).ok().filter(|frame| HiveEncoding::FRAMES.contains(frame))?;
    let expected = NetworkShape::new(&HiveEncoding::new(Hive::default(), frame), shape.settings);
    (*shape == expected).then_some(frame)
}

impl Evaluator for NetworkEvaluator {
    fn answer(&mut self, hive: &Hive, search: &mut Search<Hive>, leaves: &[LeafId]) -> anyhow::Result<()> {
        let encoding = HiveEncoding::new(*hive, self.frame);
        self.input.clear();
        for leaf in leaves {
            let position = search.leaf_position(*leaf);
            self.policy_indices.clear();
            encoding.policy_indices(position, search.leaf_moves(*leaf), &mut self.policy_indices);
            self.input.push(&encoding, position, &self.policy_indices)?;
        }
        self.network.evaluate(&self.input, &mut self.output)?;
        for (index, leaf) in leaves.iter().enumerate() {
            let priors = &self.output.priors[self.input.move_range(index)];
            search.expand(*leaf, priors, Value::new(self.output.values[index]));
        }
        Ok(())
    }

    fn set_threads(&mut self, count: u32) {
        net::set_threads(count as usize);
    }
}

#[cfg(test)]
mod tests {
    use net::{Device, NetworkSettings, PolicyHead, Trunk};
    use shared::encoding::tictactoe::TicTacToeEncoding;
    use shared::game::tictactoe::TicTacToe;

    use super::*;

    const SETTINGS: NetworkSettings = NetworkSettings {
        blocks: 1,
        filters: 8,
        trunk: Trunk::Frame,
        policy_head: PolicyHead::Spatial,
        value_hidden: 8,
    };

    fn error_of(path: &Path) -> String {
        NetworkEvaluator::open(path, DeviceChoice::Cpu).err().expect("refused").to_string()
    }

    #[test]
    fn a_network_answers_the_leaves_of_a_search() {
        let hive = Hive::default();
        let folder = tempfile::tempdir().unwrap();
        for (frame, policy_head) in [(16, PolicyHead::Spatial), (26, PolicyHead::Full)] {
            let path = folder.path().join(format!("{frame}.safetensors"));
            let settings = NetworkSettings { policy_head, ..SETTINGS };
            let shape = NetworkShape::new(&HiveEncoding::new(hive, frame), settings);
            Network::random(&shape, Device::CPU, 7).unwrap().save(&path).unwrap();
            let mut evaluator = NetworkEvaluator::open(&path, DeviceChoice::Cpu).unwrap();
            assert_eq!(evaluator.frame, frame);
            let (_, answer) = super::super::session::tests::best_move_of(&mut evaluator, hive, 40);
            assert_eq!(answer, 40);
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
