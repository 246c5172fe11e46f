//! Networks that belong to no run: their file alone tells which game they play, and how they see the board.

use std::path::Path;

use anyhow::Context;
use net::{Network, NetworkShape};
use shared::encoding::{Encoding, game_of_network};
use shared::game::catalog::{GameSpec, GameVisitor};
use shared::game::hive::{GameType, HiveRules};

/// What the file of a network tells.
pub struct KnownNetwork {
    /// Shape of the network.
    pub shape: NetworkShape,
    /// The game, as the network sees it.
    pub spec: GameSpec,
}

impl KnownNetwork {
    /// Reads the shape in `path`. A network for Hive is to play `game_type`.
    ///
    /// # Errors
    /// If the file is missing or corrupt, or the network is one of no game that is known so.
    pub fn describe(path: &Path, game_type: GameType) -> anyhow::Result<Self> {
        let shape = Network::shape_of(path)?;
        let known = game_of_network(shape.planes, shape.policy_size).map(|spec| match spec {
            GameSpec::Hive { rules, frame } => GameSpec::Hive { rules: HiveRules { game_type, ..rules }, frame },
            other => other,
        });
        let spec = known.filter(|spec| spec.visit(IsOf(&shape)).unwrap_or(false));
        let spec =
            spec.with_context(|| format!("network {}: not one for Hive or Italian draughts: {shape}", path.display()))?;
        Ok(Self { shape, spec })
    }
}

/// Whether a game's networks with these settings have this shape.
struct IsOf<'a>(&'a NetworkShape);

impl GameVisitor for IsOf<'_> {
    type Output = bool;

    fn visit<E: Encoding>(self, encoding: E) -> bool {
        NetworkShape::new(&encoding, self.0.settings) == *self.0
    }
}
