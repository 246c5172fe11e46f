//! Writes a data set, block by block.

use std::path::Path;

use shared::catalog::GameSpec;

use super::block::{Head, PAYLOAD_BYTES_MAX, TooLarge, write_game};
use super::header::Header;
use super::{DataSetCounts, DataSetGame};
use crate::part_file::{PartFile, PartFileError};

/// Bytes of games that fill a block: damage in one place costs one block.
const BLOCK_BYTES: usize = 1 << 16;

/// A data set that is being written. It gets its name once it is complete.
pub struct DataSetWriter {
    file: PartFile,
    header: Header,
    counts: DataSetCounts,
    payload: Vec<u8>,
    /// Games and samples in `payload`.
    game_count: u32,
    sample_count: u32,
}

/// Why a data set cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum DataSetWriteError {
    /// A position is too large.
    #[error(transparent)]
    Position(#[from] TooLarge),
    /// The games of a block are too large.
    #[error("a game of {byte_count} bytes is too large")]
    Game {
        /// Bytes of the block with this game.
        byte_count: usize,
    },
    /// The specification of the game cannot be written as JSON.
    #[error("write the header of a data set")]
    Header(#[from] serde_json::Error),
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] PartFileError),
}

impl DataSetWriter {
    /// Begins a file of games of `spec` that will be `path`.
    ///
    /// # Errors
    /// [`DataSetWriteError::File`] if the file cannot be created.
    pub fn create(path: &Path, spec: &GameSpec) -> Result<Self, DataSetWriteError> {
        let mut file = PartFile::create(path)?;
        let header = Header { spec: spec.clone(), has_smaller_types: false, counts: None };
        file.write(&header.to_bytes()?)?;
        let counts = DataSetCounts::default();
        Ok(Self { file, header, counts, payload: Vec::new(), game_count: 0, sample_count: 0 })
    }

    /// Returns how much there is so far.
    #[must_use]
    pub const fn counts(&self) -> DataSetCounts {
        self.counts
    }

    /// Appends a game.
    ///
    /// # Errors
    /// [`DataSetWriteError::Position`] or [`DataSetWriteError::Game`] if something is too large,
    /// [`DataSetWriteError::File`] if the disk refuses it.
    pub fn push(&mut self, game: &DataSetGame) -> Result<(), DataSetWriteError> {
        write_game(game, &mut self.payload)?;
        if self.payload.len() > PAYLOAD_BYTES_MAX {
            return Err(DataSetWriteError::Game { byte_count: self.payload.len() });
        }
        // All positions of a game are of its type.
        let spec = &self.header.spec;
        let game_type = game.samples.first().and_then(|sample| spec.packed_game_type(&sample.packed));
        self.header.has_smaller_types |= game_type.is_some_and(|game_type| game_type.to_string() != spec.type_name());
        self.game_count += 1;
        self.sample_count += game.samples.len() as u32;
        self.counts.add(1, game.samples.len());
        if self.payload.len() >= BLOCK_BYTES {
            self.end_block()?;
        }
        Ok(())
    }

    /// Ends the file: it gets its counts and its name.
    ///
    /// # Errors
    /// [`DataSetWriteError::File`] if the disk refuses it.
    pub fn finish(mut self) -> Result<DataSetCounts, DataSetWriteError> {
        self.end_block()?;
        let header = Header { counts: Some(self.counts), ..self.header }.to_bytes();
        self.file.finish(&header?)?;
        Ok(self.counts)
    }

    fn end_block(&mut self) -> Result<(), PartFileError> {
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
