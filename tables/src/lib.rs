//! Endgame tables of Italian draughts: the exact result of every position with few pieces, and how far it is to the next
//! capture or move of a man.
//!
//! What the values mean, how they are computed and what a file holds: `docs/tables.md`. Files are read and written in
//! [`folder`] alone.

mod check;
mod class;
mod file;
pub mod folder;
mod index;
mod open;
mod oracle;
mod set;
mod solve;
mod value;

pub use check::{Inconsistency, check_one_ply, random_position};
pub use class::{Class, ClassError, Material, PIECE_COUNT_MAX, classes_of};
pub use file::{FORMAT_VERSION, TableFileError, decode, encode, rules_hash};
pub use open::{OpenError, OpenTables, open};
pub use oracle::TableOracle;
pub use set::{ClassTable, TableSet};
pub use solve::solve;
pub use value::{DISTANCE_MAX, TableValue};
