//! How the client writes pieces and cells.

use shared::game::Side;
use shared::game::hive::{Piece, PieceKind};

/// The board is a torus of this many columns and rows.
pub(super) const BOARD_SIDE: i32 = 26;

/// Why a command of the client cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CommandError {
    #[error("{column:?} {row:?} is not a cell")]
    Cell { column: String, row: String },
    #[error("{0:?} is not W or B")]
    Side(String),
    #[error("{0:?} is not a piece")]
    Name(String),
    #[error("there is no piece {0:?}")]
    NoPiece(String),
    #[error("unknown command")]
    Unknown,
}

/// A place on the client's board: column A - Z as 0..26, row 1 - 26.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) column: i32,
    pub(super) row: i32,
}

/// A piece as it was named; old clients leave out the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    /// Whose piece it is, if the name tells.
    pub(super) side: Option<Side>,
    kind: PieceKind,
    number: u8,
}

impl Name {
    /// Returns the piece, which is of `side` if its name does not tell.
    pub(super) fn piece(self, side: Side) -> Option<Piece> {
        Piece::new(self.side.unwrap_or(side), self.kind, self.number)
    }
}

/// Reads `N 13`.
pub(super) fn read_place(column: &str, row: &str) -> Result<Place, CommandError> {
    let error = || CommandError::Cell { column: column.to_owned(), row: row.to_owned() };
    let [letter] = column.as_bytes() else { return Err(error()) };
    let index = letter.to_ascii_uppercase().wrapping_sub(b'A');
    match row.parse() {
        Ok(row @ 1..=BOARD_SIDE) if index < 26 => Ok(Place { column: i32::from(index), row }),
        _ => Err(error()),
    }
}

/// Reads `W` or `B`.
pub(super) fn read_side(text: &str) -> Result<Side, CommandError> {
    match text {
        "W" | "w" => Ok(Side::White),
        "B" | "b" => Ok(Side::Black),
        _ => Err(CommandError::Side(text.to_owned())),
    }
}

/// Reads `wA1`, `bM1`, `bM`, and without a colour `Q`, `b1`; the case says nothing.
pub(super) fn read_name(text: &str) -> Result<Name, CommandError> {
    let error = || CommandError::Name(text.to_owned());
    let upper = text.to_ascii_uppercase();
    let letters = upper.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let (side, kind) = match letters.as_bytes() {
        [kind] => (None, *kind),
        [b'W', kind] => (Some(Side::White), *kind),
        [b'B', kind] => (Some(Side::Black), *kind),
        _ => return Err(error()),
    };
    let kind = PieceKind::ALL.into_iter().find(|known| known.letter() == char::from(kind)).ok_or_else(error)?;
    let number = match &upper[letters.len()..] {
        "" if kind.count() == 1 => 1,
        digits => digits.parse().map_err(|_| error())?,
    };
    Ok(Name { side, kind, number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_all_years_are_read() {
        for (text, side, expected) in [
            ("wQ", Side::Black, Some("wQ")),
            ("bM1", Side::White, Some("bM")),
            ("b1", Side::White, Some("wB1")),
            ("bb1", Side::White, Some("bB1")),
            ("bs2", Side::White, Some("bS2")),
            ("p", Side::Black, Some("bP")),
            ("A3", Side::Black, Some("bA3")),
            ("wA4", Side::White, None),
            ("b", Side::White, None),
            ("xQ", Side::White, None),
            ("é1", Side::White, None),
            ("wA99999", Side::White, None),
            ("", Side::White, None),
        ] {
            let found = read_name(text).ok().and_then(|name| name.piece(side)).map(|piece| piece.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn cells_are_on_the_board() {
        assert_eq!(read_place("N", "13"), Ok(Place { column: 13, row: 13 }));
        for (column, row) in [("N", "0"), ("N", "27"), ("NN", "1"), ("1", "1"), ("", ""), ("é", "-1")] {
            assert!(read_place(column, row).is_err(), "{column} {row}");
        }
    }
}
