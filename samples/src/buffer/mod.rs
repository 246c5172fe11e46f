//! Positions in memory: packed, the newest first to stay, shared between the threads of a run.
//!
//! What is in a buffer follows from the games in the order in which they were appended.

pub(crate) mod compact;
mod replay_sets;
mod sample_buffer;

use std::sync::{Mutex, MutexGuard, PoisonError};

use shared::record::Sample;

pub use replay_sets::ReplaySets;
pub(crate) use sample_buffer::HeldSample;
pub use sample_buffer::{SampleBuffer, Window};

/// The samples of a finished game, as a buffer takes them.
#[derive(Debug, Clone, Copy)]
pub struct SampledGame<'a> {
    /// Its positions to learn from, first to last.
    pub samples: &'a [Sample],
    /// Whether it ended at the ply limit.
    pub is_cut_off: bool,
}

/// The replay buffer of a run, shared by its threads. The lock is held only to copy bytes, never while a batch is encoded.
#[derive(Debug)]
pub struct SharedReplay {
    sets: Mutex<ReplaySets>,
}

impl SharedReplay {
    /// Shares `sets`; of a mere buffer nothing is held out.
    #[must_use]
    pub fn new(sets: impl Into<ReplaySets>) -> Self {
        Self { sets: Mutex::new(sets.into()) }
    }

    /// Appends a finished game, to learn from or to measure with: as its key says, which is equal for equal games. Games
    /// must come by rising finish number.
    pub fn push_game(&self, finish_number: u64, key: u64, game: SampledGame<'_>) {
        self.lock().push_game(finish_number, key, game);
    }

    /// Returns whether the game with this key is held out.
    #[must_use]
    pub fn is_held_out(&self, key: u64) -> bool {
        self.lock().is_held_out(key)
    }

    /// Returns a copy of the held-out positions of games up to this finish number.
    #[must_use]
    pub fn held_out_until(&self, finish_number: u64) -> SampleBuffer {
        self.lock().held_out_until(finish_number)
    }

    /// Returns the number of positions that can be sampled now.
    #[must_use]
    pub fn position_count(&self) -> u64 {
        self.lock().position_count()
    }

    /// Returns the finish number of the oldest game of which positions are kept, to learn from or to measure with.
    #[must_use]
    pub fn first_finish_number(&self) -> Option<u64> {
        self.lock().first_finish_number()
    }

    /// Returns the bytes that a position takes on average, bookkeeping included.
    #[must_use]
    pub fn mean_position_bytes(&self) -> f64 {
        self.lock().learned.mean_position_bytes()
    }

    /// Fixes the window that training samples from: the newest positions of games up to this finish number, at most
    /// `count_max`. It stays as it is, whatever games come in, until [`Self::release`].
    #[must_use]
    pub fn fix_window(&self, finish_number: u64, count_max: u64) -> Window {
        self.lock().learned.fix_window(finish_number, count_max)
    }

    /// Releases the window: the buffer drops what is older than its capacity.
    pub fn release(&self) {
        self.lock().learned.release();
    }

    /// Locks the buffers. They hold bytes alone, so they are still in order after another thread panicked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ReplaySets> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
