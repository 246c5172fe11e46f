//! Networks for Hive that belong to no run: their file alone tells how they see the board.

use std::path::Path;

use anyhow::Context;
use net::{Network, NetworkShape};
use shared::encoding::hive::HiveEncoding;
use shared::game::catalog::GameSpec;
use shared::game::hive::{GameType, Hive, HiveRules};

/// What the file of a network tells.
pub struct HiveNetwork {
    /// Shape of the network.
    pub shape: NetworkShape,
    /// How it sees the game.
    pub encoding: HiveEncoding,
    /// The same, as learners and workers tell it each other.
    pub spec: GameSpec,
}

impl HiveNetwork {
    /// Reads the shape in `path`, of a network that is to play `game_type`.
    ///
    /// # Errors
    /// If the file is missing or corrupt, or the network is not one for Hive.
    pub fn describe(path: &Path, game_type: GameType) -> anyhow::Result<Self> {
        let shape = Network::shape_of(path)?;
        let rules = HiveRules { game_type, ..HiveRules::default() };
        let frame = u8::try_from(shape.planes.rows).ok().filter(|frame| HiveEncoding::FRAMES.contains(frame));
        let described = frame.map(|frame| Self {
            shape,
            encoding: HiveEncoding::new(Hive::new(rules), frame),
            spec: GameSpec::Hive { rules, frame },
        });
        let expected = described.filter(|found| NetworkShape::new(&found.encoding, shape.settings) == shape);
        expected.with_context(|| format!("network {}: not one for Hive: {shape}", path.display()))
    }
}
