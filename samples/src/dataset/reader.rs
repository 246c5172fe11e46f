//! Reads a data set, block by block, and finds the next intact block behind a damaged one.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use shared::catalog::GameSpec;

use super::block::{BlockError, HEAD_BYTES, Head, MAGIC};
use super::header::{FIXED_BYTES, Header, HeaderError};
use super::{DataSetCounts, DataSetGame, header};

/// Bytes that are searched at once for the next block.
const CHUNK_BYTES: usize = 1 << 16;

/// A data set that is being read.
pub struct DataSet<R = BufReader<File>> {
    input: R,
    /// The file's name, for messages.
    name: String,
    length: u64,
    offset: u64,
    header: Header,
    found: DataSetCounts,
    damages: Vec<Damage>,
}

/// Bytes without an intact block.
#[derive(Debug, Clone, PartialEq)]
struct Damage {
    start: u64,
    end: u64,
    reason: DamageReason,
}

/// Why bytes are not an intact block.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum DamageReason {
    #[error("the file ends inside the head of a block")]
    CutOffHead,
    #[error("the file ends inside a block")]
    CutOff,
    #[error("there is no block")]
    NoBlock,
    #[error(transparent)]
    Block(BlockError),
}

/// Why a data set cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DataSetReadError {
    /// The file cannot be opened.
    #[error("open {name}")]
    Open {
        /// The file.
        name: String,
        /// What the system reported.
        source: io::Error,
    },
    /// The file cannot be read.
    #[error("read {name}")]
    Read {
        /// The file.
        name: String,
        /// What the system reported.
        source: io::Error,
    },
    /// It is not a data set that this program reads.
    #[error("{name}")]
    Header {
        /// The file.
        name: String,
        /// What is wrong with its header.
        source: HeaderError,
    },
}

/// Returns whether a file that begins so is a data set, of whatever version.
#[must_use]
pub fn begins_as_data_set(start: &[u8]) -> bool {
    start.starts_with(&header::MAGIC)
}

/// Returns whether the file at `path` begins like a data set; false if it cannot be read.
#[must_use]
pub fn is_data_set(path: &Path) -> bool {
    let mut start = [0; header::MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && begins_as_data_set(&start)
}

impl DataSet {
    /// Opens the data set at `path`.
    ///
    /// # Errors
    /// [`DataSetReadError::Open`] if the file cannot be opened, else as [`DataSet::read`].
    pub fn open(path: &Path) -> Result<Self, DataSetReadError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|source| DataSetReadError::Open { name: name.clone(), source })?;
        Self::read(BufReader::new(file), name)
    }
}

impl<R: Read + Seek> DataSet<R> {
    /// Opens the data set in `input`, called `name` in messages.
    ///
    /// # Errors
    /// [`DataSetReadError::Read`] if the input cannot be read, [`DataSetReadError::Header`] if its header is not intact.
    pub fn read(mut input: R, name: String) -> Result<Self, DataSetReadError> {
        let failed = |source| DataSetReadError::Read { name: name.clone(), source };
        let length = input.seek(SeekFrom::End(0)).map_err(failed)?;
        let header = read_header(&mut input).map_err(failed)?;
        let header = header.map_err(|source| DataSetReadError::Header { name: name.clone(), source })?;
        let offset = input.stream_position().map_err(failed)?;
        Ok(Self { input, name, length, offset, header, found: DataSetCounts::default(), damages: Vec::new() })
    }

    /// Returns the game.
    #[must_use]
    pub const fn spec(&self) -> &GameSpec {
        &self.header.spec
    }

    /// Returns whether there may be positions of Hive of types with fewer expansions than [`DataSet::spec`] has.
    #[must_use]
    pub const fn has_smaller_types(&self) -> bool {
        self.header.has_smaller_types
    }

    /// Returns the games of the next intact block; `None` at the end.
    ///
    /// # Errors
    /// [`DataSetReadError::Read`] if the input cannot be read. Damage is no error: see [`DataSet::loss`].
    pub fn next_games(&mut self) -> Result<Option<Vec<DataSetGame>>, DataSetReadError> {
        self.next_block().map_err(|source| DataSetReadError::Read { name: self.name.clone(), source })
    }

    /// Returns what is lost, as a message, once the end is reached; `None` if the file is intact.
    #[must_use]
    pub fn loss(&self) -> Option<String> {
        let lost = match self.header.counts {
            None => "it was never finished, so how much is missing is unknown".to_owned(),
            Some(counts) if counts == self.found && self.damages.is_empty() => return None,
            Some(counts) => format!(
                "{} of {} games and {} of {} positions are lost",
                counts.games.saturating_sub(self.found.games),
                counts.games,
                counts.samples.saturating_sub(self.found.samples),
                counts.samples
            ),
        };
        let places = self.damages.iter().map(|damage| {
            let Damage { start, end, reason } = damage;
            format!("; bytes {start} to {end}: {reason}")
        });
        Some(format!("{}: {lost}{}", self.name, places.collect::<String>()))
    }

    fn next_block(&mut self) -> io::Result<Option<Vec<DataSetGame>>> {
        while self.offset < self.length {
            match self.block_at(self.offset)? {
                Ok((games, end)) => {
                    self.offset = end;
                    self.found.add(games.len(), games.iter().map(|game| game.samples.len()).sum());
                    return Ok(Some(games));
                }
                Err(reason) => {
                    let next = self.find_head(self.offset + 1)?.unwrap_or(self.length);
                    self.damages.push(Damage { start: self.offset, end: next, reason });
                    self.offset = next;
                }
            }
        }
        Ok(None)
    }

    /// Reads the block at `offset`: its games and where it ends.
    fn block_at(&mut self, offset: u64) -> io::Result<Result<(Vec<DataSetGame>, u64), DamageReason>> {
        let left = self.length - offset;
        if left < HEAD_BYTES as u64 {
            return Ok(Err(DamageReason::CutOffHead));
        }
        self.input.seek(SeekFrom::Start(offset))?;
        let mut head = [0; HEAD_BYTES];
        self.input.read_exact(&mut head)?;
        let Some(head) = Head::read(&head) else { return Ok(Err(DamageReason::NoBlock)) };
        // Memory is allocated only for bytes that are there.
        let length = u64::from(head.payload_length);
        if length > left - HEAD_BYTES as u64 {
            return Ok(Err(DamageReason::CutOff));
        }
        let mut payload = vec![0; length as usize];
        self.input.read_exact(&mut payload)?;
        let end = offset + HEAD_BYTES as u64 + length;
        Ok(head.games(&payload).map(|games| (games, end)).map_err(DamageReason::Block))
    }

    /// Returns the offset of the next head of a block, from `from` on.
    fn find_head(&mut self, mut from: u64) -> io::Result<Option<u64>> {
        let mut chunk = Vec::new();
        loop {
            self.input.seek(SeekFrom::Start(from))?;
            chunk.clear();
            // A head that begins in this chunk may end in the next.
            let wanted = CHUNK_BYTES + HEAD_BYTES - 1;
            Read::by_ref(&mut self.input).take(wanted as u64).read_to_end(&mut chunk)?;
            let is_head = |bytes: &[u8]| {
                bytes.starts_with(&MAGIC) && bytes.first_chunk().is_some_and(|head| Head::read(head).is_some())
            };
            if let Some(index) = chunk.windows(HEAD_BYTES).position(is_head) {
                return Ok(Some(from + index as u64));
            }
            if chunk.len() < wanted {
                return Ok(None);
            }
            from += CHUNK_BYTES as u64;
        }
    }
}

/// Reads a header, and leaves `input` behind it.
fn read_header(input: &mut (impl Read + Seek)) -> io::Result<Result<Header, HeaderError>> {
    input.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    Read::by_ref(input).take(FIXED_BYTES as u64).read_to_end(&mut bytes)?;
    let length = match Header::length(&bytes) {
        Ok(length) => length,
        Err(error) => return Ok(Err(error)),
    };
    Read::by_ref(input).take((length - FIXED_BYTES) as u64).read_to_end(&mut bytes)?;
    Ok(Header::read(&bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::block::tests::game;
    use super::super::block::write_game;
    use super::*;
    use proptest::prelude::*;

    const SPEC: GameSpec = GameSpec::TicTacToe {};

    /// A file with these games, a block each.
    fn file_of(games: &[DataSetGame], is_finished: bool) -> Vec<u8> {
        let mut counts = DataSetCounts::default();
        counts.add(games.len(), games.iter().map(|game| game.samples.len()).sum());
        let header = Header { spec: SPEC, has_smaller_types: false, counts: is_finished.then_some(counts) };
        let mut file = header.to_bytes().expect("a header");
        for game in games {
            let mut payload = Vec::new();
            write_game(game, &mut payload).expect("a small game");
            file.extend(Head::of(&payload, 1, game.samples.len() as u32).to_bytes());
            file.extend(payload);
        }
        file
    }

    fn read(file: Vec<u8>) -> Result<(Vec<DataSetGame>, Option<String>), DataSetReadError> {
        let mut data = DataSet::read(Cursor::new(file), "some.samples".to_owned())?;
        let mut games = Vec::new();
        while let Some(more) = data.next_games()? {
            games.extend(more);
        }
        Ok((games, data.loss()))
    }

    /// Returns whether `found` are some of `games`, in their order.
    fn are_some_of(found: &[DataSetGame], games: &[DataSetGame]) -> bool {
        let mut rest = games.iter();
        found.iter().all(|game| rest.any(|other| other == game))
    }

    fn games() -> impl Strategy<Value = Vec<DataSetGame>> {
        prop::collection::vec(game(), 1..6)
    }

    proptest! {
        #[test]
        fn an_intact_file_is_read_whole(games in games()) {
            let (found, loss) = read(file_of(&games, true)).expect("a data set");
            prop_assert_eq!((found, loss), (games, None));
        }

        #[test]
        fn a_file_that_is_cut_off_gives_its_intact_blocks(games in games(), at in any::<prop::sample::Index>()) {
            let mut file = file_of(&games, true);
            let header = file_of(&[], true).len();
            file.truncate(at.index(file.len()));
            let length = file.len();
            match read(file) {
                Ok((found, loss)) => {
                    prop_assert!(length >= header && found == games[..found.len()] && found.len() < games.len());
                    let loss = loss.expect("something is lost");
                    let lost = format!("some.samples: {} of {} games", games.len() - found.len(), games.len());
                    prop_assert!(loss.starts_with(&lost), "{}", loss);
                }
                Err(error) => prop_assert!(length < header, "{error:?}"),
            }
        }

        #[test]
        fn a_changed_byte_costs_one_block(games in games(), at in any::<prop::sample::Index>(), bit in 0..8) {
            let mut file = file_of(&games, true);
            let header = file_of(&[], true).len();
            let at = header + at.index(file.len() - header);
            file[at] ^= 1_u8 << bit;
            let (found, loss) = read(file).expect("the header is whole");
            prop_assert_eq!(found.len() + 1, games.len());
            prop_assert!(are_some_of(&found, &games));
            prop_assert!(loss.is_some_and(|loss| loss.contains("bytes ")));
        }

        #[test]
        fn bytes_that_are_gone_or_too_many_cost_what_they_touch(
            games in games(),
            at in any::<prop::sample::Index>(),
            gone in 0usize..40,
            more in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut file = file_of(&games, true);
            let at = at.index(file.len());
            let end = (at + gone).min(file.len());
            file.splice(at..end, more);
            if let Ok((found, _)) = read(file) {
                prop_assert!(are_some_of(&found, &games));
            }
        }

        #[test]
        fn rubbish_never_panics(rubbish in prop::collection::vec(any::<u8>(), 0..300), is_finished in any::<bool>()) {
            let _ = read(rubbish.clone());
            let mut file = file_of(&[], is_finished);
            file.extend(rubbish);
            let (found, _) = read(file).expect("the header is whole");
            prop_assert!(found.is_empty());
        }
    }

    fn empty_game() -> DataSetGame {
        let outcome = shared::game::Outcome::Draw;
        DataSetGame { outcome, is_from_endgame: true, is_cut_off: true, ply_count: 9, samples: Vec::new() }
    }

    #[test]
    fn an_unfinished_file_gives_its_games_and_says_so() {
        let game = empty_game();
        let (found, loss) = read(file_of(std::slice::from_ref(&game), false)).expect("a data set");
        assert_eq!(found, [game]);
        assert!(loss.is_some_and(|loss| loss.contains("never finished")));
    }

    #[test]
    fn a_block_behind_long_damage_is_found() {
        let game = empty_game();
        let (mut file, header) = (file_of(std::slice::from_ref(&game), true), file_of(&[], true).len());
        file.splice(header..header, vec![b'A'; 2 * CHUNK_BYTES + HEAD_BYTES / 2]);
        let (found, loss) = read(file).expect("a data set");
        assert_eq!(found, [game]);
        assert!(loss.is_some_and(|loss| loss.contains("there is no block")));
    }
}
