//! Files of samples, game by game: what `learner export --dataset` writes and `learner train --data` learns from.
//!
//! A header, then blocks of whole games, each with its length and its own checksum: every intact block of a file that
//! is cut off or damaged can be read. The format: `docs/export.md`.

mod block;
mod header;
mod identity;
mod reader;
mod writer;

use shared::game::Outcome;
use shared::record::Sample;

pub use block::TooLarge;
pub use header::HeaderError;
pub use identity::identity_of;
pub use reader::{DataSet, DataSetReadError, begins_as_data_set, is_data_set};
pub use writer::{DataSetWriteError, DataSetWriter};

/// A finished game, as positions to learn from.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSetGame {
    /// Who won.
    pub outcome: Outcome,
    /// Whether it began from an endgame instead of the initial position.
    pub is_from_endgame: bool,
    /// Whether it ended at the ply limit.
    pub is_cut_off: bool,
    /// Number of plies, those that give no sample included.
    pub ply_count: u32,
    /// Positions to learn from, first to last.
    pub samples: Vec<Sample>,
}

/// How much is in a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataSetCounts {
    /// Games.
    pub games: u64,
    /// Positions to learn from.
    pub samples: u64,
}

impl DataSetCounts {
    fn add(&mut self, games: usize, samples: usize) {
        self.games += games as u64;
        self.samples += samples as u64;
    }
}

/// Takes the next `N` bytes off `bytes`.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
