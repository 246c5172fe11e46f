//! Tests of the format: what is written is read, what is damaged is refused.

use proptest::prelude::*;
use shared::game::hive::Hive;

use super::*;

fn entry(position: u64, after: u64, wins: u32) -> BookEntry {
    BookEntry { position, after, results: Results { wins, draws: 1, losses: 2 } }
}

fn header() -> BookHeader {
    BookHeader { game_count: 9, ..BookHeader::of(&Hive::default(), 16, 3) }
}

fn book() -> Book {
    Book::new(header(), vec![entry(1, 5, 3), entry(1, 7, 0), entry(4, 2, 6)]).expect("a book")
}

#[test]
fn a_book_is_read_as_it_was_written() {
    let bytes = encode(&book());
    assert_eq!(bytes.len(), HEADER_BYTES + 3 * ENTRY_BYTES);
    assert_eq!(decode(&bytes), Ok(book()));
    assert_eq!((book().position_count(), book().entries_of(1).len(), book().entries_of(3).len()), (2, 2, 0));
}

#[test]
fn what_is_wrong_is_said() {
    let bytes = encode(&book());
    let changed = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        let checksum = xxh3_64(&bytes[..CHECKED_BYTES]);
        bytes[CHECKED_BYTES..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
        decode(&bytes)
    };
    assert_eq!(decode(b"something else"), Err(BookFileError::Foreign));
    assert_eq!(changed(16, 9), Err(BookFileError::Version(9)));
    assert_eq!(changed(32, b' '), Err(InconsistentBook::Names.into()));
    assert_eq!(changed(48, 0), Err(InconsistentBook::Names.into()));
    assert_eq!(changed(72, 5), Err(InconsistentBook::Games.into()), "fewer games than a move has");
    assert_eq!(changed(80, 4), Err(BookFileError::Damaged("its length")));
    assert_eq!(changed(120, 1), Err(BookFileError::Damaged("its moves")));
    assert_eq!(decode(&bytes[..bytes.len() - 1]), Err(BookFileError::Damaged("its length")));
    assert_eq!(decode(&bytes[..40]), Err(BookFileError::Damaged("its length")));
    let mut bytes = bytes;
    bytes[90] ^= 1;
    assert_eq!(decode(&bytes), Err(BookFileError::Damaged("its header")));
}

#[test]
fn moves_out_of_order_are_no_book() {
    let made = |entries: Vec<BookEntry>| Book::new(header(), entries).map(drop);
    assert_eq!(made(vec![entry(4, 2, 6), entry(1, 5, 3)]), Err(InconsistentBook::Order));
    assert_eq!(made(vec![entry(1, 5, 3), entry(1, 5, 4)]), Err(InconsistentBook::Order));
    assert_eq!(made(vec![entry(1, 5, 7)]), Err(InconsistentBook::Games), "more than there are");
    let nothing = BookEntry { position: 1, after: 2, results: Results::default() };
    assert_eq!(made(vec![nothing]), Err(InconsistentBook::Games));
}

proptest! {
    #[test]
    fn damaged_bytes_are_refused(cut in 0..190_usize, at in 0..188_usize, flip in 1..=255_u8, tail in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut bytes = encode(&book());
        bytes[at] ^= flip;
        prop_assert!(decode(&bytes).is_err());
        bytes.truncate(cut);
        prop_assert!(decode(&bytes).is_err());
        bytes.extend(tail);
        prop_assert!(decode(&bytes).is_err());
    }
}
