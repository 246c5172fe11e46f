//! What a network plays, and how it is built: what a network file says about itself.

use std::fmt;

use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::Encoding;
use shared::setting::SettingError;

use crate::{NetworkSettings, NetworkShape};

/// The game that a network plays, and the shape of its tensors.
///
/// A network may be used where the game and its encoding (Hive's frame, the numbering of draughts moves) and the shape
/// agree. The rules may differ: a network trained on Base+MLP plays Base too, and a run may raise its ply limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkSpec {
    /// The game, its rules, and how positions and moves are encoded.
    pub game: GameSpec,
    /// Planes, policy indices, trunk and heads.
    pub shape: NetworkShape,
}

impl NetworkSpec {
    /// Returns the specification of a network of this size for `game`.
    ///
    /// # Errors
    /// [`SettingError`] with the first key of the game or the network that is out of range.
    pub fn new(game: &GameSpec, settings: NetworkSettings) -> Result<Self, SettingError> {
        struct ShapeOf(NetworkSettings);
        impl GameVisitor for ShapeOf {
            type Output = NetworkShape;

            fn visit<E: Encoding>(self, encoding: E) -> NetworkShape {
                NetworkShape::new(&encoding, self.0)
            }
        }
        let shape = game.visit(ShapeOf(settings))?;
        shape.check().map_err(|error| error.under("network"))?;
        Ok(Self { game: game.clone(), shape })
    }
}

impl fmt::Display for NetworkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.game, self.shape)
    }
}
