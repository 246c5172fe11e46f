//! A game that goes on: its plies, who plays it, and what of it is on disk.

use std::time::Instant;

use shared::encoding::Encoding;
use shared::game::{Game, Side};
use shared::record::{GameRecord, PlyRecord, ReplayError, ReplayState};
use shared::search::SearchSettings;
use store::NewGame;

use super::seed::hash_moves;

/// Plies after which openings are compared.
pub(super) const OPENING_COMPARED_PLIES: u32 = 6;

/// Who plays the game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LeaseState {
    /// Nobody has claimed it since the learner started: the worker that had it before may go on, until another gets it.
    Unclaimed { worker_id: Option<String> },
    /// A worker, until its lease runs out. Renewing it moves `until` no further than `idle_until`; a ply moves both.
    Held { worker_id: String, until: Instant, idle_until: Instant },
    /// Nobody, since the lease of this worker ran out: it may go on as long as nobody else has taken the game.
    Expired { worker_id: String, idle_until: Instant },
    /// It was given back or taken away: the next worker that asks for a lease gets it.
    Free,
}

impl LeaseState {
    /// Returns the worker that may go on with the game.
    pub(super) fn holder(&self) -> Option<&str> {
        match self {
            Self::Unclaimed { worker_id } => worker_id.as_deref(),
            Self::Held { worker_id, .. } | Self::Expired { worker_id, .. } => Some(worker_id),
            Self::Free => None,
        }
    }
}

/// What of the game is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiskState {
    /// All of it.
    Stored,
    /// Nothing yet: its creation is being written.
    Creating,
    /// The first `stored_ply_count` plies: the others, and perhaps the end of the game, are being written.
    Writing { stored_ply_count: usize },
}

/// Whether a worker may go on with a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// The worker holds the game.
    Held,
    /// Another worker holds the game, or nobody.
    Lost,
}

/// A ply that was searched, as far as it tells who is winning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SearchedPly {
    /// The side that moved.
    pub side: Side,
    /// Value of the root after the search, for that side, -1..=1.
    pub value: f32,
}

/// A game that goes on.
pub(super) struct OpenGame<E: Encoding> {
    pub game: NewGame,
    pub search: SearchSettings,
    pub state: ReplayState<E>,
    lease: LeaseState,
    plies: Vec<PlyRecord>,
    /// What the searches of the plies after the opening thought.
    searched: Vec<SearchedPly>,
    disk: DiskState,
    opening_hash: u64,
}

impl<E: Encoding> OpenGame<E> {
    /// Makes a game that is on disk with these plies, the opening included.
    ///
    /// # Errors
    /// [`ReplayError`] if the start or a ply is not legal.
    pub(super) fn stored(
        encoding: &E,
        game: NewGame,
        search: SearchSettings,
        plies: Vec<PlyRecord>,
    ) -> Result<Self, ReplayError> {
        let mut open = Self {
            state: ReplayState::new(encoding.clone(), game.start.as_deref(), game.opening.len() as u32)?,
            game,
            search,
            lease: LeaseState::Free,
            plies: Vec::new(),
            searched: Vec::new(),
            disk: DiskState::Stored,
            opening_hash: 0,
        };
        for ply in plies {
            open.push(encoding, ply)?;
        }
        Ok(open)
    }

    /// Makes a game with no plies but its opening, whose creation is being written.
    ///
    /// # Errors
    /// [`ReplayError`] if the start or a ply of the opening is not legal.
    pub(super) fn creating(encoding: &E, game: NewGame, search: SearchSettings) -> Result<Self, ReplayError> {
        let plies = game.opening.iter().map(PlyRecord::unsearched).collect();
        Ok(Self { disk: DiskState::Creating, ..Self::stored(encoding, game, search, plies)? })
    }

    /// Plays one ply, which is to be written. On an error the game is as before.
    ///
    /// # Errors
    /// [`ReplayError`] if the ply is not legal.
    pub(super) fn play(&mut self, encoding: &E, record: PlyRecord) -> Result<(), ReplayError> {
        let stored_ply_count = self.plies.len();
        self.push(encoding, record)?;
        if self.disk == DiskState::Stored {
            self.disk = DiskState::Writing { stored_ply_count };
        }
        Ok(())
    }

    /// Ends the write of a game or its plies: what did not reach the disk is undone. A game whose creation failed is
    /// the caller's to remove.
    pub(super) fn end_write(&mut self, encoding: &E, is_stored: bool) {
        if let (DiskState::Writing { stored_ply_count }, false) = (self.disk, is_stored) {
            self.undo_after(encoding, stored_ply_count);
        }
        self.disk = DiskState::Stored;
    }

    /// Returns all plies, the opening and those not yet stored included.
    pub(super) fn plies(&self) -> &[PlyRecord] {
        &self.plies
    }

    /// Returns what the searches of the plies after the opening thought, first to last.
    pub(super) fn searched(&self) -> &[SearchedPly] {
        &self.searched
    }

    /// Returns whether a write of the game is under way: nobody else may change it.
    pub(super) fn is_being_written(&self) -> bool {
        self.disk != DiskState::Stored
    }

    /// Returns who plays the game.
    pub(super) const fn lease(&self) -> &LeaseState {
        &self.lease
    }

    /// Changes who plays the game; returns who did. Of an open game only [`super::open_games`] does so.
    pub(super) const fn set_lease(&mut self, lease: LeaseState) -> LeaseState {
        std::mem::replace(&mut self.lease, lease)
    }

    /// Returns the game as a record.
    pub(super) fn record(&self) -> GameRecord {
        let opening_ply_count = self.game.opening.len() as u32;
        let (start, plies) = (self.game.start.clone(), self.plies.clone());
        GameRecord { start, opening_ply_count, plies, resigned_by: None }
    }

    /// Returns the hash of the position after the first plies.
    pub(super) fn opening_hash(&self) -> u64 {
        self.opening_hash
    }

    /// Returns the hash of all moves, and of the start if it is not the initial position.
    pub(super) fn moves_hash(&self) -> u64 {
        hash_moves(self.game.start.iter().chain(self.plies.iter().map(|ply| &ply.move_text)).map(String::as_str))
    }

    fn push(&mut self, encoding: &E, record: PlyRecord) -> Result<(), ReplayError> {
        let side = encoding.game().side_to_move(self.state.position());
        self.state.play(&record)?;
        if self.plies.len() >= self.game.opening.len() {
            self.searched.push(SearchedPly { side, value: record.root_value });
        }
        self.plies.push(record);
        if self.state.ply_count() <= OPENING_COMPARED_PLIES {
            self.opening_hash = encoding.game().hash(self.state.position());
        }
        Ok(())
    }

    fn undo_after(&mut self, encoding: &E, ply_count: usize) {
        let plies = self.plies[..ply_count].to_vec();
        let rebuilt = Self::stored(encoding, self.game.clone(), self.search.clone(), plies);
        let lease = std::mem::replace(&mut self.lease, LeaseState::Free);
        *self = rebuilt.expect("plies that were played once can be played again");
        self.lease = lease;
    }
}
