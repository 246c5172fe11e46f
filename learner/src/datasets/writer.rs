//! Writing a data set, block by block.

use std::path::Path;

use anyhow::Context;
use shared::game::catalog::GameSpec;

use super::block::{Head, PAYLOAD_BYTES_MAX, write_game};
use super::header::Header;
use super::{DataSetCounts, DataSetGame};
use crate::part::PartFile;

/// Bytes of games that fill a block: what one damaged spot costs.
const BLOCK_BYTES: usize = 1 << 16;

/// A data set that is being written. It has its name once it is whole.
pub struct DataSetWriter {
    file: PartFile,
    spec: GameSpec,
    counts: DataSetCounts,
    payload: Vec<u8>,
    /// Games and samples in `payload`.
    game_count: u32,
    sample_count: u32,
}

impl DataSetWriter {
    /// Begins a file of games of `spec` that will be `path`.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(path: &Path, spec: &GameSpec) -> anyhow::Result<Self> {
        let mut file = PartFile::create(path)?;
        file.write(&Header { spec: spec.clone(), counts: None }.to_bytes()?)?;
        let counts = DataSetCounts::default();
        Ok(Self { file, spec: spec.clone(), counts, payload: Vec::new(), game_count: 0, sample_count: 0 })
    }

    /// Returns how much there is so far.
    #[must_use]
    pub const fn counts(&self) -> DataSetCounts {
        self.counts
    }

    /// Appends a game.
    ///
    /// # Errors
    /// If a position is too large, or what the system says.
    pub fn push(&mut self, game: &DataSetGame) -> anyhow::Result<()> {
        write_game(game, &mut self.payload)?;
        anyhow::ensure!(self.payload.len() <= PAYLOAD_BYTES_MAX, "a game of {} bytes is too large", self.payload.len());
        self.game_count += 1;
        self.sample_count += game.samples.len() as u32;
        self.counts.add(1, game.samples.len());
        if self.payload.len() >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    /// Ends the file: it gets its counts and its name.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(mut self) -> anyhow::Result<DataSetCounts> {
        self.end_block()?;
        let header = Header { spec: self.spec, counts: Some(self.counts) }.to_bytes();
        self.file.finish(&header.context("write the header of a data set")?)?;
        Ok(self.counts)
    }

    fn end_block(&mut self) -> anyhow::Result<()> {
        if self.game_count == 0 {
            return Ok(());
        }
        let head = Head::of(&self.payload, self.game_count, self.sample_count);
        self.file.write(&head.to_bytes())?;
        self.file.write(&self.payload)?;
        self.payload.clear();
        (self.game_count, self.sample_count) = (0, 0);
        Ok(())
    }
}
