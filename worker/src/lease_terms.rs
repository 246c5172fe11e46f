//! What a lease says of its game, checked: how it is searched, by which networks, and the position after its plies.

use proto::{GameKind, Lease};
use shared::game::{Game, MoveError, StartError};
use shared::ids::NetworkRef;
use shared::search::{SearchError, SearchSettings};
use shared::wire::{WireError, network_ref_from_wire, search_settings_from_proto};

/// Why a leased game cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// It does not say how to search.
    #[error("no search settings")]
    NoSettings,
    /// Its kind is not one that this version plays.
    #[error("unknown kind of game {0}")]
    Kind(i32),
    /// Its search settings are out of range.
    #[error(transparent)]
    Settings(#[from] WireError),
    /// Its start position cannot be read.
    #[error(transparent)]
    Start(#[from] StartError),
    /// One of its moves is not legal.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// Its position cannot be searched: the game is over.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// What a lease says of its game.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaseTerms<P> {
    /// How its plies are searched.
    pub settings: SearchSettings,
    /// The networks of White and Black.
    pub networks: [NetworkRef; 2],
    /// Seed of the searches.
    pub seed: u64,
    /// Whether the policy learns from it; otherwise it is a game of a gate.
    pub is_self_play: bool,
    /// The position after `ply_count` plies.
    pub position: P,
    /// Plies played so far, the opening included.
    pub ply_count: u32,
}

impl<P> LeaseTerms<P> {
    /// Reads a lease and plays its plies.
    ///
    /// # Errors
    /// [`LeaseError`] for search settings that are missing or out of range, an unknown kind of game, a start position that
    /// cannot be read, or a move that is not legal.
    pub fn from_proto<G: Game<Position = P>>(game: &G, lease: &Lease) -> Result<Self, LeaseError> {
        let settings = search_settings_from_proto(lease.search.as_ref().ok_or(LeaseError::NoSettings)?)?;
        let is_self_play = match GameKind::try_from(lease.kind) {
            Ok(GameKind::SelfPlay) => true,
            Ok(GameKind::Gate) => false,
            _ => return Err(LeaseError::Kind(lease.kind)),
        };
        let start = lease.start_position.as_str();
        let mut position = game.start_position((!start.is_empty()).then_some(start))?;
        for text in &lease.moves {
            let mv = game.parse_move(&position, text)?;
            game.play(&mut position, mv);
        }
        Ok(Self {
            settings,
            networks: [lease.white_network_id, lease.black_network_id].map(network_ref_from_wire),
            seed: lease.seed,
            is_self_play,
            position,
            ply_count: lease.moves.len() as u32,
        })
    }
}
