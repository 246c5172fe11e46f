//! A table as bytes: a header of 64 bytes, then a byte a position. Described in `docs/tables.md`.

use std::sync::LazyLock;

use shared::game::Side;
use shared::game::dama::{Board, Counting, Dama, fen, perft};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::class::{Class, Material};
use crate::set::ClassTable;
use crate::value::DISTANCE_MAX;

/// What a table begins with.
const MAGIC: &[u8; 16] = b"ALVEARE ENDGAME\n";
/// The format that this program reads and writes.
pub const FORMAT_VERSION: u32 = 1;
/// Bytes before the positions.
const HEADER_BYTES: usize = 64;
/// Bytes of the header before its checksum.
const CHECKED_BYTES: usize = HEADER_BYTES - 8;

/// Why bytes are not a table, one variant for each thing to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableFileError {
    /// Another kind of file.
    #[error("not an endgame table of Alveare")]
    Foreign,
    /// Written by a newer program.
    #[error("format version {0}, this program reads {FORMAT_VERSION}: use a newer program or make the tables anew")]
    Version(u32),
    /// Made with other rules.
    #[error("made for other rules of draughts: make the tables anew")]
    OtherRules,
    /// The bytes are not those that were written.
    #[error("damaged ({0}): delete it and make the tables anew")]
    Damaged(&'static str),
}

/// Returns a number that is another one for other rules: it follows from the ways to play on from some positions, and from
/// when the rules call a draw.
#[must_use]
pub fn rules_hash() -> u64 {
    static HASH: LazyLock<u64> = LazyLock::new(|| {
        let mut hash = Xxh3::new();
        let mut count = |board: &Board, side: Side, depth: u32| {
            hash.update(&perft(board, side, depth, Counting::Results).to_le_bytes());
        };
        count(&Board::START, Side::White, 6);
        // Kings and men that can take in several ways: what is left is decided by the four priorities.
        for text in
            ["W:WK23,K31,18:B7,10,K14,19,K22,26", "B:W14,K18,K19,23,30:BK6,11,K15,K26", "W:WK3,K21,K30:BK8,K12,K25"]
        {
            if let Ok(position) = fen::read(text) {
                count(position.board(), position.side_to_move(), 4);
            }
        }
        hash.update(&Dama::QUIET_PLY_LIMIT.to_le_bytes());
        hash.update(&[DISTANCE_MAX]);
        hash.digest()
    });
    *HASH
}

/// Returns a table as a file holds it.
#[must_use]
pub fn encode(table: &ClassTable) -> Vec<u8> {
    let (class, body) = (table.class(), table.bytes());
    let ([wins, draws, losses], longest) = table.counts();
    let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    let (first, second) = (class.first(), class.second());
    bytes.extend_from_slice(&[first.kings, first.men, second.kings, second.men]);
    bytes.extend_from_slice(&rules_hash().to_le_bytes());
    bytes.extend_from_slice(&xxh3_64(body).to_le_bytes());
    // Positions by result need no more than 4 bytes each: the largest table has some 300 million.
    for count in [wins, draws, losses] {
        bytes.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }
    bytes.extend_from_slice(&[longest, 0, 0, 0]);
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Reads a table; its checksums are compared. Never panics, whatever the bytes.
///
/// # Errors
/// [`TableFileError`].
pub fn decode(bytes: &[u8]) -> Result<ClassTable, TableFileError> {
    let mut rest = bytes.strip_prefix(MAGIC).ok_or(TableFileError::Foreign)?;
    let version = number(&mut rest)?;
    if version != FORMAT_VERSION {
        return Err(TableFileError::Version(version));
    }
    let [first_kings, first_men, second_kings, second_men] = take(&mut rest)?;
    let (rules, body_checksum) = (u64::from_le_bytes(take(&mut rest)?), u64::from_le_bytes(take(&mut rest)?));
    let [_wins, _draws, _losses, _longest]: [u32; 4] =
        [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
    let header_checksum = u64::from_le_bytes(take(&mut rest)?);
    if bytes.get(..CHECKED_BYTES).map(xxh3_64) != Some(header_checksum) {
        return Err(TableFileError::Damaged("its header"));
    }
    if rules != rules_hash() {
        return Err(TableFileError::OtherRules);
    }
    let first = Material { kings: first_kings, men: first_men };
    let class = Class::new(first, Material { kings: second_kings, men: second_men });
    let class = class.filter(|class| class.first() == first).ok_or(TableFileError::Damaged("its pieces"))?;
    let table = ClassTable::new(class, rest.to_vec()).ok_or(TableFileError::Damaged("its length"))?;
    if xxh3_64(rest) != body_checksum {
        return Err(TableFileError::Damaged("its values"));
    }
    Ok(table)
}

fn number(rest: &mut &[u8]) -> Result<u32, TableFileError> {
    take(rest).map(u32::from_le_bytes)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], TableFileError> {
    let (taken, left) = rest.split_first_chunk().ok_or(TableFileError::Damaged("its length"))?;
    *rest = left;
    Ok(*taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::set::TableSet;
    use crate::solve::solve;

    fn table() -> ClassTable {
        solve("KvK".parse().expect("a class"), &TableSet::default(), &mut |_| {})
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let bytes = encode(&table());
        assert_eq!(bytes.len(), HEADER_BYTES + table().class().byte_count());
        assert_eq!(decode(&bytes), Ok(table()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let bytes = encode(&table());
        let changed = |at: usize, value: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            let end = bytes[..CHECKED_BYTES].to_vec();
            bytes[CHECKED_BYTES..HEADER_BYTES].copy_from_slice(&xxh3_64(&end).to_le_bytes());
            decode(&bytes)
        };
        assert_eq!(decode(b"something else"), Err(TableFileError::Foreign));
        assert_eq!(changed(16, 9), Err(TableFileError::Version(9)));
        assert_eq!(changed(24, bytes[24] ^ 1), Err(TableFileError::OtherRules));
        assert_eq!(changed(20, 9), Err(TableFileError::Damaged("its pieces")));
        assert_eq!(changed(20, 2), Err(TableFileError::Damaged("its length")));
        assert_eq!(changed(100, bytes[100] ^ 1), Err(TableFileError::Damaged("its values")));
        assert_eq!(decode(&bytes[..bytes.len() - 1]), Err(TableFileError::Damaged("its length")));
    }

    proptest! {
        #[test]
        fn damaged_bytes_are_refused(cut in 0..200_usize, at in 0..1056_usize, flip in 1..=255_u8, tail in prop::collection::vec(any::<u8>(), 0..80)) {
            let good = encode(&table());
            let mut bytes = good.clone();
            bytes[at % good.len()] ^= flip;
            prop_assert!(decode(&bytes).is_err());
            bytes.truncate(cut);
            prop_assert!(decode(&bytes).is_err());
            bytes.extend(tail);
            prop_assert!(decode(&bytes).is_err());
        }
    }
}
