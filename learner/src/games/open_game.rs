//! A game that goes on, and who plays it.

use std::time::Instant;

use shared::encoding::Encoding;
use shared::game::Game;
use shared::record::{GameRecord, PlyRecord, ReplayError, ReplayState};
use shared::search::SearchSettings;

use super::seed::hash_moves;
use crate::store::NewGame;

/// Plies after which openings are compared.
pub(super) const OPENING_COMPARED_PLIES: u32 = 6;

/// Who plays the game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holding {
    /// Nobody has claimed it since the learner started: the worker that goes on with it is taken to hold it.
    Unclaimed,
    /// A worker, until its lease runs out; it may renew it as long as nobody else has taken the game.
    Held { worker_id: String, until: Instant },
    /// It was given back, or taken away: it goes to whoever asks for a lease.
    Free,
}

/// Whether a worker may go on with a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// The game is its.
    Held,
    /// The game is another's, or nobody's.
    Lost,
}

/// A game that goes on.
pub(super) struct OpenGame<E: Encoding> {
    pub game: NewGame,
    pub search: SearchSettings,
    pub state: ReplayState<E>,
    /// All plies, the opening included. Those from `committed` on are on their way to the disk.
    pub plies: Vec<PlyRecord>,
    pub committed: usize,
    pub holding: Holding,
    /// A write of this game is under way: nobody else touches it.
    pub is_writing: bool,
    /// It has ended, and only the disk's answer is awaited.
    pub is_closing: bool,
    opening_hash: u64,
}

impl<E: Encoding> OpenGame<E> {
    /// Makes the game from its plies.
    pub(super) fn new(
        encoding: &E,
        game: NewGame,
        search: SearchSettings,
        plies: Vec<PlyRecord>,
    ) -> Result<Self, ReplayError> {
        let mut open = Self {
            state: ReplayState::new(encoding.clone(), game.start.as_deref(), game.opening.len() as u32)?,
            game,
            search,
            plies: Vec::new(),
            committed: 0,
            holding: Holding::Free,
            is_writing: false,
            is_closing: false,
            opening_hash: 0,
        };
        for ply in plies {
            open.play(encoding, ply)?;
        }
        open.committed = open.plies.len();
        Ok(open)
    }

    /// Plays one ply; on an error the game is as before.
    pub(super) fn play(&mut self, encoding: &E, record: PlyRecord) -> Result<(), ReplayError> {
        self.state.play(&record)?;
        self.plies.push(record);
        if self.state.ply_count() <= OPENING_COMPARED_PLIES {
            self.opening_hash = encoding.game().hash(self.state.position());
        }
        Ok(())
    }

    /// Forgets what did not reach the disk.
    pub(super) fn undo_uncommitted(&mut self, encoding: &E) {
        let plies = self.plies[..self.committed].to_vec();
        let rebuilt = Self::new(encoding, self.game.clone(), self.search.clone(), plies);
        let holding = std::mem::replace(&mut self.holding, Holding::Free);
        *self = rebuilt.expect("plies that were played once can be played again");
        self.holding = holding;
    }

    /// Returns whether nobody holds the game at `now`.
    pub(super) fn is_available(&self, now: Instant) -> bool {
        let is_held = matches!(&self.holding, Holding::Held { until, .. } if *until > now);
        !is_held && !self.is_writing && !self.is_closing
    }

    /// Renews the lease of `worker_id` if the game is its.
    pub(super) fn claim(&mut self, worker_id: &str, until: Instant) -> Claim {
        let is_its = match &self.holding {
            Holding::Unclaimed => true,
            Holding::Held { worker_id: holder, .. } => holder == worker_id,
            Holding::Free => false,
        };
        if !is_its {
            return Claim::Lost;
        }
        self.holding = Holding::Held { worker_id: worker_id.to_owned(), until };
        Claim::Held
    }

    /// Returns the game as a record.
    pub(super) fn record(&self) -> GameRecord {
        let opening_ply_count = self.game.opening.len() as u32;
        GameRecord { start: self.game.start.clone(), opening_ply_count, plies: self.plies.clone() }
    }

    /// Returns the hash of the position after the first plies.
    pub(super) fn opening_hash(&self) -> u64 {
        self.opening_hash
    }

    /// Returns the hash of all moves, and of the start if it is not the initial position.
    pub(super) fn moves_hash(&self) -> u64 {
        hash_moves(self.game.start.iter().chain(self.plies.iter().map(|ply| &ply.move_text)).map(String::as_str))
    }
}
