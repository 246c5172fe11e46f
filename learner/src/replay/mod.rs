//! The replay buffer: the newest positions of finished self-play games, held packed, and batches sampled from them.
//!
//! What is in the buffer follows from the finished games in the order in which they finished, and what is sampled
//! follows from that and a seed. So training that is stopped and resumed samples exactly what it would have sampled.

mod buffer;
pub(crate) mod compact;
mod human;
mod rebuild;
mod sampler;

pub use buffer::{ReplayBuffer, Window};
pub use human::{HumanGames, HumanSampler};
pub use rebuild::{RebuildReport, rebuild};
pub use sampler::{BatchSampler, seed_of_step};

use std::sync::{Mutex, MutexGuard, PoisonError};

use shared::record::Sample;

/// The replay buffer as threads share it. The lock is held only to copy bytes, never while a batch is encoded.
#[derive(Debug)]
pub struct SharedReplay {
    buffer: Mutex<ReplayBuffer>,
}

impl SharedReplay {
    /// Shares `buffer`.
    #[must_use]
    pub fn new(buffer: ReplayBuffer) -> Self {
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

    /// Lets the window go: the buffer forgets what is older than its capacity.
    pub fn release(&self) {
        self.lock().release();
    }

    /// Locks the buffer. It holds bytes alone, so one that a panicking thread left behind is still in order.
    pub(self) fn lock(&self) -> MutexGuard<'_, ReplayBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
