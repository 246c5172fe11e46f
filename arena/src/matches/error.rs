//! Why a match cannot be played.

use std::path::PathBuf;

use book::BookError;
use runtime::replaced_file::ReplacedFileError;
use shared::game::MoveError;

use crate::players::{PlayerError, PlayerSpecError, Protocol};

/// Why a match cannot be played, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// A text is not a player.
    #[error(transparent)]
    Player(#[from] PlayerSpecError),
    /// No engine with this protocol plays the game.
    #[error("player {protocol}:{command}: {}", plays(*.protocol, .game))]
    Protocol {
        /// What the engine speaks.
        protocol: Protocol,
        /// The engine.
        command: String,
        /// The game of the match.
        game: &'static str,
    },
    /// This build of the program computes no networks.
    #[error("player {0}: this program was built without networks")]
    WithoutNetworks(String),
    /// The endgame tables of a player cannot be used.
    #[error("player {player}")]
    Tables {
        /// Its name.
        player: String,
        /// Why.
        #[source]
        source: tables::OpenError,
    },
    /// The opening book of a player cannot be used.
    #[error("player {player}")]
    Book {
        /// Its name.
        player: String,
        /// Why.
        #[source]
        source: BookError,
    },
    /// There are more pairs of games than can be counted.
    #[error("{0} games are too many")]
    TooManyGames(usize),
    /// A random opening is not legal.
    #[error("opening")]
    Opening(#[source] MoveError),
    /// A player cannot be started.
    #[error("player {player}: {reason}")]
    PlayerStart {
        /// Its name.
        player: String,
        /// Why it would lose every game.
        reason: String,
    },
    /// A player of ours failed: the match cannot go on.
    #[error(transparent)]
    PlayerFailed(#[from] PlayerError),
    /// The match was stopped before its first game.
    #[error("stopped while the players were started")]
    StoppedAtStart,
    /// The file for the games is one that the match reads.
    #[error("--out: {} is a file that the match needs: choose another", .0.display())]
    OutputNeeded(PathBuf),
    /// The file for the games, or the table beside it, may not be written there.
    #[error("--out")]
    OutputOther(#[from] ReplacedFileError),
    /// The file for the games is being written by another match.
    #[error("--out: {} is written by another match: choose another", .0.display())]
    OutputBusy(PathBuf),
    /// The file for the games cannot be opened.
    #[error("--out: create {}", path.display())]
    OutputCreate {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A game cannot be written, or what was there before it cannot be removed.
    #[error("--out: write {}", path.display())]
    OutputWrite {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

impl MatchError {
    /// Returns whether the user asked for what cannot be, and must ask for something else.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::PlayerFailed(error) => error.is_usage(),
            Self::Player(_)
            | Self::Protocol { .. }
            | Self::WithoutNetworks(_)
            | Self::Tables { .. }
            | Self::Book { .. }
            | Self::OutputNeeded(_)
            | Self::OutputOther(_)
            | Self::OutputBusy(_) => true,
            _ => false,
        }
    }
}

fn plays(protocol: Protocol, game: &str) -> String {
    match protocol {
        Protocol::Uhp => format!("UHP engines play Hive alone, not {game}"),
        Protocol::Hub => format!("hub engines play draughts alone, not {game}"),
    }
}
