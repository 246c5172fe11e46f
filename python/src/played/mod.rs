//! Games and positions of which Python does not see the types: one enum over both games, and what is generic below it.
//!
//! Here alone a game is chosen.

mod notebook_game;
mod typed;

use net::NetworkEvaluator;
use shared::catalog::GameSpec;
use shared::game::dama::Dama;
use shared::game::hive::Hive;
use shared::setting::SettingError;

pub use notebook_game::{NoHistoryError, NotebookGame};
pub use typed::{TypedGame, TypedPosition};

/// One thing for each game.
#[derive(Clone)]
pub enum ByGame<H, D> {
    /// That of Hive.
    Hive(H),
    /// That of Italian draughts.
    Dama(D),
}

/// Does the same with a thing of either game.
macro_rules! by_game {
    ($thing:expr, $typed:ident => $work:expr) => {
        match $thing {
            $crate::played::ByGame::Hive($typed) => $work,
            $crate::played::ByGame::Dama($typed) => $work,
        }
    };
}
pub(crate) use by_game;

/// A game with the way it is shown to networks.
pub type AnyGame = ByGame<TypedGame<Hive>, TypedGame<Dama>>;
/// A position of either game.
pub type AnyPosition = ByGame<TypedPosition<Hive>, TypedPosition<Dama>>;
/// A network of either game.
pub type AnyNetwork = ByGame<NetworkEvaluator<Hive>, NetworkEvaluator<Dama>>;

/// Why there is no such game.
#[derive(Debug, thiserror::Error)]
pub enum GameError {
    /// A number of it is out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Networks and notations are those of the other games.
    #[error("{0}: the games are \"hive\" and \"dama\"")]
    NotHere(&'static str),
}

impl AnyGame {
    /// Returns the game that is specified.
    ///
    /// # Errors
    /// [`GameError`].
    pub fn new(spec: &GameSpec) -> Result<Self, GameError> {
        spec.check()?;
        match *spec {
            GameSpec::Hive { rules, frame } => Ok(Self::Hive(TypedGame { game: Hive::new(rules), view: frame })),
            GameSpec::Dama { rules, policy } => Ok(Self::Dama(TypedGame { game: Dama::new(rules), view: policy })),
            GameSpec::TicTacToe {} => Err(GameError::NotHere(spec.name())),
        }
    }
}
