//! Positions in memory: packed, the newest first to stay, shared between the threads of a run.
//!
//! What is in a buffer follows from the games in the order in which they were appended.

pub(crate) mod compact;
mod sample_buffer;

use std::sync::{Mutex, MutexGuard, PoisonError};

use shared::record::Sample;

pub use sample_buffer::{SampleBuffer, Window};

/// The replay buffer of a run: a sample buffer that threads share. The lock is held only to copy bytes, never while a
/// batch is encoded.
#[derive(Debug)]
pub struct SharedReplay {
    buffer: Mutex<SampleBuffer>,
}

impl SharedReplay {
    /// Shares `buffer`.
    #[must_use]
    pub fn new(buffer: SampleBuffer) -> Self {
        Self { buffer: Mutex::new(buffer) }
    }

    /// Appends a finished game. Games must come by rising finish number.
    pub fn push_game(&self, finish_number: u64, samples: &[Sample]) {
        self.lock().push_game(finish_number, samples);
    }

    /// Returns the number of positions that can be sampled now.
    #[must_use]
    pub fn position_count(&self) -> u64 {
        self.lock().position_count()
    }

    /// Returns the bytes that a position takes on average, bookkeeping included.
    #[must_use]
    pub fn mean_position_bytes(&self) -> f64 {
        self.lock().mean_position_bytes()
    }

    /// Fixes the window that training samples from: the newest positions of games up to this finish number. It stays
    /// as it is, whatever games come in, until [`Self::release`].
    #[must_use]
    pub fn fix_window(&self, finish_number: u64) -> Window {
        self.lock().fix_window(finish_number)
    }

    /// Releases the window: the buffer drops what is older than its capacity.
    pub fn release(&self) {
        self.lock().release();
    }

    /// Locks the buffer. It holds bytes alone, so it is still in order after another thread panicked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, SampleBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
