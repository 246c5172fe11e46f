//! Networks that belong to no run: their file alone says which game they play, and how they see the board.

use std::path::{Path, PathBuf};

use net::{NetError, Network, NetworkShape};
use shared::encoding::{Encoding, game_of_network};
use shared::game::catalog::{GameSpec, GameVisitor};
use shared::game::hive::{GameType, HiveRules};

/// What the file of a network says.
pub struct KnownNetwork {
    /// Shape of the network.
    pub shape: NetworkShape,
    /// The game, as the network sees it.
    pub spec: GameSpec,
}

/// Why a network cannot be used without its run.
#[derive(Debug, thiserror::Error)]
pub enum KnownNetworkError {
    /// The file is missing or damaged.
    #[error(transparent)]
    File(#[from] NetError),
    /// No game has networks of this shape with the usual settings.
    #[error("network {}: not one for Hive or Italian draughts: {shape}", .path.display())]
    OtherGame {
        /// The file.
        path: PathBuf,
        /// Its shape.
        shape: NetworkShape,
    },
}

impl KnownNetwork {
    /// Reads the shape in `path`. A network for Hive is to play `game_type`.
    ///
    /// # Errors
    /// [`KnownNetworkError`].
    pub fn describe(path: &Path, game_type: GameType) -> Result<Self, KnownNetworkError> {
        let shape = Network::shape_of(path)?;
        let known = game_of_network(shape.planes, shape.policy_size).map(|spec| match spec {
            GameSpec::Hive { rules, frame } => GameSpec::Hive { rules: HiveRules { game_type, ..rules }, frame },
            other => other,
        });
        let spec = known.filter(|spec| spec.visit(HasShape(&shape)).unwrap_or(false));
        let spec = spec.ok_or_else(|| KnownNetworkError::OtherGame { path: path.to_owned(), shape })?;
        Ok(Self { shape, spec })
    }
}

/// Whether a game's networks with these settings have this shape.
struct HasShape<'a>(&'a NetworkShape);

impl GameVisitor for HasShape<'_> {
    type Output = bool;

    fn visit<E: Encoding>(self, encoding: E) -> bool {
        NetworkShape::new(&encoding, self.0.settings) == *self.0
    }
}
