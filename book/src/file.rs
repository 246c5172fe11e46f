//! A book as bytes: a header of 104 bytes, then 28 bytes a move. Described in `docs/book.md`.

use xxhash_rust::xxh3::xxh3_64;

use crate::contents::{Book, BookEntry, BookHeader, InconsistentBook, Results, TYPE_NAME_BYTES_MAX};

/// What a book begins with.
const MAGIC: &[u8; 16] = b"ALVEARE OPENING\n";
/// The format that this program reads and writes.
pub const FORMAT_VERSION: u32 = 1;
/// Bytes before the moves.
const HEADER_BYTES: usize = 104;
/// Bytes of the header before its checksum.
const CHECKED_BYTES: usize = HEADER_BYTES - 8;
/// Bytes of a move.
const ENTRY_BYTES: usize = 28;

/// Why bytes are not a book, one variant for each thing to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BookFileError {
    /// Another kind of file.
    #[error("not an opening book of Alveare")]
    Foreign,
    /// Written by a newer program.
    #[error("format version {0}, this program reads {FORMAT_VERSION}: use a newer program or make the book anew")]
    Version(u32),
    /// The bytes are not those that were written.
    #[error("damaged ({0}): make the book anew")]
    Damaged(&'static str),
    /// The checksums are right, and what they cover contradicts itself.
    #[error("damaged ({0}): make the book anew")]
    Inconsistent(#[from] InconsistentBook),
}

/// Returns whether a file that begins so is a book, of whatever version.
#[must_use]
pub fn begins_as_book(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Returns a book as a file holds it.
#[must_use]
pub fn encode(book: &Book) -> Vec<u8> {
    let (header, entries) = (book.header(), book.entries());
    let mut body = Vec::with_capacity(entries.len() * ENTRY_BYTES);
    for BookEntry { position, after, results: Results { wins, draws, losses } } in entries {
        body.extend_from_slice(&position.to_le_bytes());
        body.extend_from_slice(&after.to_le_bytes());
        [wins, draws, losses].iter().for_each(|count| body.extend_from_slice(&count.to_le_bytes()));
    }
    let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
    bytes.extend_from_slice(MAGIC);
    [FORMAT_VERSION, header.plies, header.games_min, 0]
        .iter()
        .for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    for name in [&header.game, &header.type_name] {
        let mut padded = [0; TYPE_NAME_BYTES_MAX];
        padded.iter_mut().zip(name.bytes()).for_each(|(place, byte)| *place = byte);
        bytes.extend_from_slice(&padded);
    }
    [header.rules, header.game_count, entries.len() as u64, xxh3_64(&body)]
        .iter()
        .for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

/// Reads a book; its checksums are compared. Never panics, whatever the bytes.
///
/// # Errors
/// [`BookFileError`].
pub fn decode(bytes: &[u8]) -> Result<Book, BookFileError> {
    let mut rest = bytes.strip_prefix(MAGIC).ok_or(BookFileError::Foreign)?;
    let version = u32::from_le_bytes(take(&mut rest)?);
    if version != FORMAT_VERSION {
        return Err(BookFileError::Version(version));
    }
    let [plies, games_min, _]: [u32; 3] = [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
    let names: [[u8; TYPE_NAME_BYTES_MAX]; 2] = [take(&mut rest)?, take(&mut rest)?];
    let [rules, game_count, entry_count, body_checksum] =
        [long(&mut rest)?, long(&mut rest)?, long(&mut rest)?, long(&mut rest)?];
    let header_checksum = long(&mut rest)?;
    if bytes.get(..CHECKED_BYTES).map(xxh3_64) != Some(header_checksum) {
        return Err(BookFileError::Damaged("its header"));
    }
    let (records, remainder) = rest.as_chunks::<ENTRY_BYTES>();
    if records.len() as u64 != entry_count || !remainder.is_empty() {
        return Err(BookFileError::Damaged("its length"));
    }
    if xxh3_64(rest) != body_checksum {
        return Err(BookFileError::Damaged("its moves"));
    }
    let [game, type_name] = names.map(|name| unpadded(&name));
    let (game, type_name) = (game?, type_name?);
    let entries = records.iter().map(|record| entry(record)).collect::<Result<_, _>>()?;
    Ok(Book::new(BookHeader { game, type_name, rules, plies, games_min, game_count }, entries)?)
}

fn entry(mut record: &[u8]) -> Result<BookEntry, BookFileError> {
    let rest = &mut record;
    let (position, after) = (long(rest)?, long(rest)?);
    let results = Results { wins: number(rest)?, draws: number(rest)?, losses: number(rest)? };
    Ok(BookEntry { position, after, results })
}

/// Returns a name without the zeros behind it.
fn unpadded(name: &[u8]) -> Result<String, BookFileError> {
    let length = name.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let name = str::from_utf8(&name[..length]);
    name.map(str::to_owned).map_err(|_| InconsistentBook::Names.into())
}

fn number(rest: &mut &[u8]) -> Result<u32, BookFileError> {
    take(rest).map(u32::from_le_bytes)
}

fn long(rest: &mut &[u8]) -> Result<u64, BookFileError> {
    take(rest).map(u64::from_le_bytes)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], BookFileError> {
    let (taken, left) = rest.split_first_chunk().ok_or(BookFileError::Damaged("its length"))?;
    *rest = left;
    Ok(*taken)
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
