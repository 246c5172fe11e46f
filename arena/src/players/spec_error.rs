//! Why a text is not a player.

use networks::NetworkSourceError;

use super::network_search::NetworkSearchError;
use super::spec::Protocol;
use crate::levels::StrengthLevelError;

/// Why a text is not a player.
#[derive(Debug, thiserror::Error)]
pub enum PlayerSpecError {
    /// Not one of the known kinds, and not a file.
    #[error(
        "player {0:?}: there is no such file or folder; write ready, RUN_DIR, FILE.safetensors, policy:FILE.safetensors, \
         level:N, mcts:N, grandmaster:N, uniform:N, random, uhp:COMMAND or hub:COMMAND"
    )]
    Unknown(String),
    /// A folder without a network.
    #[error("player {player:?}: {error}")]
    Folder {
        /// The player.
        player: String,
        /// What was looked for.
        error: NetworkSourceError,
    },
    /// Not a possible search of a network, or number of simulations.
    #[error("player {player:?}: {error}")]
    Search {
        /// The player.
        player: String,
        /// What is wrong.
        error: NetworkSearchError,
    },
    /// A policy does not search.
    #[error(
        "player {0:?}: a policy plays without a search and takes no simulations: leave away the @ and what follows"
    )]
    Policy(String),
    /// Not a named strength.
    #[error("player {player:?}: {error}")]
    Level {
        /// The player.
        player: String,
        /// What is wrong.
        error: StrengthLevelError,
    },
    /// Endgame tables and opening books are for a search.
    #[error(
        "player {0:?}: tables=DIR and book=FILE are for a network, uniform:N, mcts:N or grandmaster:N, and stand last, once"
    )]
    Files(String),
    /// An engine without a limit would think for ever.
    #[error(
        "player {player:?}: say how long it thinks: --depth N, --time 1s, or {protocol}@depth=N:... or \
         {protocol}@time=1s:..."
    )]
    NoLimit {
        /// The player.
        player: String,
        /// What it speaks.
        protocol: Protocol,
    },
    /// What stands before the colon is not a limit.
    #[error("player {player:?}: {limit:?} is not {}", .protocol.limits())]
    Limit {
        /// The player.
        player: String,
        /// What was read.
        limit: String,
        /// What it speaks.
        protocol: Protocol,
    },
    /// Nothing stands behind the colon.
    #[error("player {0:?}: there is no command")]
    NoCommand(String),
}
