//! Tables of games, as CSV and Parquet: a column `uhp_string`, and if there are any, columns that say who won.
//!
//! Names of players are looked at to understand `winner`, and kept nowhere. Rows are read some thousand at a time.

mod csv;
mod guard;
#[path = "parquet.rs"]
mod parquet_file;
mod winner;

use shared::game::Outcome;

pub(super) use self::csv::visit_csv;
pub(super) use parquet_file::{bytes, visit_parquet};

/// Extension of tables as text.
pub(super) const CSV_EXTENSION: &str = "csv";
/// Extension of Parquet files.
pub(super) const PARQUET_EXTENSION: &str = "parquet";
/// First bytes of a Parquet file.
pub(super) const PARQUET_START: [u8; 4] = *b"PAR1";
/// Rows that are handed on together.
const ROWS_AT_ONCE: usize = 4096;
/// The columns that are read: the game, who won, and the players' names.
const COLUMNS: [&str; 4] = ["uhp_string", "winner", "player_white", "player_black"];

/// A game in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Its number from 1: of CSV the line, of Parquet the row.
    pub(super) number: u32,
    /// The GameString.
    pub(super) game: String,
    /// What the columns say of the outcome.
    pub(super) winner: Option<Outcome>,
}

impl Row {
    /// Makes a row of its cells, in the order of [`COLUMNS`].
    fn of(number: u64, cells: [Option<&[u8]>; 4]) -> Self {
        let [game, winner, white, black] = cells.map(|cell| notation::decode(cell.unwrap_or_default().to_vec()));
        Self {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            winner: winner::read(&winner, [&white, &black]),
            game,
        }
    }
}

/// Returns where each of [`COLUMNS`] stands among `names`; `None` without a column of games.
fn find_columns<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<[Option<usize>; 4]> {
    let found = COLUMNS.map(|column| names.clone().position(|name| name.trim().eq_ignore_ascii_case(column)));
    found[0].map(|_| found)
}

/// Why a table without games is dropped.
fn no_column() -> String {
    format!("no column {}", COLUMNS[0])
}
