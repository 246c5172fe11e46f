//! Opening books: which moves were played in many games, and how these games ended.
//!
//! A book counts games ([`BookBuilder`]), lies in a file ([`file`](decode)), and chooses moves ([`Book::choose`]). What the
//! numbers mean and what a file holds: `docs/book.md`. Where games come from, and who asks, is the business of others.

mod builder;
mod choice;
mod contents;
mod disk;
mod file;
mod key;

pub use builder::{BookBuilder, OpeningWalk, Step};
pub use choice::BookMove;
pub use contents::{Book, BookEntry, BookHeader, InconsistentBook, Results, TYPE_NAME_BYTES_MAX};
pub use disk::{BookError, check_game, open, read};
pub use file::{BookFileError, FORMAT_VERSION, begins_as_book, decode, encode};
pub use key::{position_key, rules_key};
