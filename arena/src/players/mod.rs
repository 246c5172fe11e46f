//! Who plays: how a player is asked for moves, and all kinds of players. None of them knows what a match is.
//!
//! `spec` reads players from text, `network_search` how a network of them searches. `random` and `search` need nobody else; `network` computes a network for `search` and
//! `policy`, the leaves of all games in the batches of `network_batches`; `book_player` gives any of these an opening book, and `files` reads which; `engine` is another program, spoken to in `uhp_engine` and `hub_engine`, and `engine_process` runs it.

mod book_player;
mod engine;
mod engine_process;
mod files;
mod hub_engine;
#[cfg(feature = "network")]
mod network;
#[cfg(feature = "network")]
mod network_batches;
mod network_search;
#[cfg(feature = "network")]
mod policy;
mod random;
mod search;
mod spec;
mod spec_error;
mod uhp_engine;

use shared::game::{Game, Value};
use shared::search::{EvaluationError, SearchError};

pub use book_player::BookPlayer;
pub use engine::EngineBounds;
pub use files::PlayerFiles;
pub use hub_engine::HubPlayer;
#[cfg(feature = "network")]
pub use network::{NetworkClient, NetworkPlaySettings, NetworkPlayerError, SharedNetwork, network_bytes};
pub use network_search::{ExplorationError, NetworkSearch, NetworkSearchError, read_exploration};
#[cfg(feature = "network")]
pub use policy::PolicyPlayer;
pub use random::RandomPlayer;
pub use search::{PresetPlayer, SearchPlayer};
pub use spec::{EngineLimit, EngineSpec, PlayerDefaults, PlayerSpec, Protocol};
pub use spec_error::PlayerSpecError;
pub use uhp_engine::UhpPlayer;

/// One player of one game at a time.
pub trait MatchPlayer<G: Game>: Send {
    /// Starts whatever the player needs, if it does not run yet.
    ///
    /// # Errors
    /// [`PlayerFailure`] if it cannot be started.
    fn start(&mut self) -> Result<(), PlayerFailure> {
        Ok(())
    }
    /// Begins a game. Random choices follow from `seed`.
    ///
    /// # Errors
    /// [`PlayerFailure`] if the player cannot play it.
    fn begin(&mut self, opening: &Opening<'_, G>, seed: u64) -> Result<(), PlayerFailure>;
    /// Chooses a move in `position`, which has no outcome.
    ///
    /// # Errors
    /// [`PlayerFailure`] if there is no move.
    fn choose(&mut self, position: &G::Position) -> Result<G::Move, PlayerFailure>;
    /// Takes note of a move, its own or the opponent's; `before` is the position in which it was made.
    ///
    /// # Errors
    /// [`PlayerFailure`] if the player does not accept it.
    fn observe(&mut self, before: &G::Position, mv: G::Move) -> Result<(), PlayerFailure>;
    /// Returns the value that it expected when it last chose a move, `None` from players without values.
    fn value(&self) -> Option<Value> {
        None
    }
}

/// The plies before the players begin, and the position after them.
pub struct Opening<'a, G: Game> {
    /// The moves.
    pub moves: &'a [G::Move],
    /// The same as people write them.
    pub texts: &'a [String],
    /// The position after them.
    pub position: G::Position,
}

/// Why a player has no move.
#[derive(Debug)]
pub enum PlayerFailure {
    /// It loses the game, for this reason.
    Forfeit(String),
    /// The match cannot go on, and the player is not to blame.
    Failed(PlayerError),
    /// The match is being stopped.
    Cancelled,
}

/// Why a player of ours cannot play on.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// The search cannot begin.
    #[error("search")]
    Search(#[from] SearchError),
    /// The search ended without a move.
    #[error("the search has no move")]
    NoMove,
    /// A move was asked for before the first game.
    #[error("asked for a move before the game began")]
    NotBegun,
    /// The leaves of the search, or its position, were not evaluated.
    #[error("network")]
    Evaluation(#[from] EvaluationError),
    /// The network cannot play.
    #[cfg(feature = "network")]
    #[error(transparent)]
    Network(#[from] NetworkPlayerError),
}

impl PlayerError {
    /// Returns whether the user asked for what cannot be, and must ask for something else.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        match self {
            #[cfg(feature = "network")]
            Self::Network(error) => error.is_usage(),
            _ => false,
        }
    }
}

impl From<PlayerError> for PlayerFailure {
    fn from(error: PlayerError) -> Self {
        Self::Failed(error)
    }
}
