//! Moves of Hive as text: the MoveStrings of the Universal Hive Protocol.
//!
//! Which of several texts for one move is written follows `docs/hive-rules.md`; every text that names a legal move is
//! read.

use super::{Cell, Direction, Hive, Move, Piece, PieceError, PieceKind, Position};
use crate::game::{Game, MOVE_TEXT_BYTES_MAX, MoveError, Side};

/// What stands before or behind a reference piece.
const MARKS: [char; 3] = ['-', '/', '\\'];

/// Why a text is not a MoveString.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoveTextError {
    /// Longer than any move.
    #[error("longer than {MOVE_TEXT_BYTES_MAX} bytes")]
    TooLong,
    /// Nothing but spaces.
    #[error("empty")]
    Empty,
    /// A move is one word or two.
    #[error("more than two words")]
    Words,
    /// One word, but there are pieces on the board.
    #[error("only the first piece of a game needs no reference piece")]
    NoReference,
    /// A word names no piece.
    #[error(transparent)]
    Piece(#[from] PieceError),
    /// The reference piece is in hand.
    #[error("{0} is not on the board")]
    NotOnBoard(Piece),
    /// The cell beside the reference piece has a piece on it.
    #[error("{text} is occupied: a climb there is written {top}")]
    Occupied {
        /// The place as written.
        text: String,
        /// The piece on top there.
        top: Piece,
    },
}

/// Returns a legal move as a MoveString: `wS1`, `bA1 wS1-`, `pass`.
#[must_use]
pub fn format_move(position: &Position, mv: Move) -> String {
    let Some(piece) = mv.piece() else { return "pass".to_owned() };
    if position.ply() == 0 {
        return piece.to_string();
    }
    if let Some(top) = position.top(mv.target()) {
        return format!("{piece} {top}");
    }
    let reference = Direction::ALL
        .into_iter()
        .filter_map(|direction| {
            let neighbour = mv.target().neighbour(direction.opposite());
            let top = position.top(neighbour)?;
            let reference = if top == piece { position.under(piece)? } else { top };
            Some((reference, direction))
        })
        .min_by_key(|(reference, _)| tile_number(*reference));
    let Some((reference, direction)) = reference else { return piece.to_string() };
    let (before, after) = marks(direction);
    format!("{piece} {before}{reference}{after}")
}

/// Reads a MoveString that is legal in `position`.
///
/// A placement may name any number that is in hand: records count equal pieces in any order.
///
/// # Errors
/// [`MoveError`] if the text is not a move or the move is not legal.
pub fn parse_move(hive: &Hive, position: &Position, text: &str) -> Result<Move, MoveError> {
    let ply = position.ply();
    let shown = || text.chars().take(MOVE_TEXT_BYTES_MAX).collect::<String>();
    if hive.outcome(position).is_some() {
        return Err(MoveError::GameOver { text: shown(), ply });
    }
    let unreadable = |error: MoveTextError| MoveError::Unreadable { text: shown(), reason: error.to_string() };
    let mv = read_move(position, text).map_err(unreadable)?;
    let mut legal = Vec::new();
    hive.legal_moves(position, &mut legal);
    if legal.contains(&lowest_in_hand(position, mv)) { Ok(mv) } else { Err(MoveError::Illegal { text: shown(), ply }) }
}

/// Returns the move that the rules list for `mv`: equal pieces enter by their numbers, records number them in any order.
#[must_use]
pub fn lowest_in_hand(position: &Position, mv: Move) -> Move {
    let Some(piece) = mv.piece() else { return mv };
    if position.is_on_board(piece) || !position.is_in_play(piece) {
        return mv;
    }
    let lowest = position.pieces_in_hand(piece.side()).find(|other| other.kind() == piece.kind());
    Move::new(lowest.unwrap_or(piece), mv.target())
}

/// Reads a MoveString without a look at the rules: the pieces that it names are on the board, the move may be illegal.
///
/// # Errors
/// [`MoveTextError`] if the text names no piece, or no cell, or a climb by the cell beside another piece. Never panics.
pub fn read_move(position: &Position, text: &str) -> Result<Move, MoveTextError> {
    let mv = read_recorded_move(position, text)?;
    let place = text.split_whitespace().nth(1).unwrap_or_default();
    if place.contains(MARKS)
        && let Some(top) = position.top(mv.target())
    {
        return Err(MoveTextError::Occupied { text: place.to_owned(), top });
    }
    Ok(mv)
}

/// Reads a MoveString like [`read_move`]. As some records have it, a climb may also be told by the cell beside another
/// piece: `bB1 wQ-` goes to the right of wQ, whether or not a piece lies there.
///
/// # Errors
/// [`MoveTextError`] if the text names no piece, or no cell. Never panics.
pub fn read_recorded_move(position: &Position, text: &str) -> Result<Move, MoveTextError> {
    if text.len() > MOVE_TEXT_BYTES_MAX {
        return Err(MoveTextError::TooLong);
    }
    let mut words = text.split_whitespace();
    let first = words.next().ok_or(MoveTextError::Empty)?;
    let second = words.next();
    if words.next().is_some() {
        return Err(MoveTextError::Words);
    }
    if first.eq_ignore_ascii_case("pass") && second.is_none() {
        return Ok(Move::PASS);
    }
    let piece = read_piece(first)?;
    match second {
        Some(place) => Ok(Move::new(piece, read_place(position, place)?)),
        None if position.ply() == 0 => Ok(Move::new(piece, Cell::ORIGIN)),
        None => Err(MoveTextError::NoReference),
    }
}

/// Reads `bQ-`, `\wA1`, `wS2`: a cell named by a piece on the board.
fn read_place(position: &Position, text: &str) -> Result<Cell, MoveTextError> {
    let direction = Direction::ALL.into_iter().find_map(|direction| {
        let (before, after) = marks(direction);
        let name = text.strip_prefix(before)?.strip_suffix(after)?;
        // Every text ends and starts with nothing: one of the two is the mark.
        Some((direction, name))
    });
    let (direction, name) = direction.map_or((None, text), |(direction, name)| (Some(direction), name));
    let reference = read_piece(name)?;
    let cell = position.cell_of(reference).ok_or(MoveTextError::NotOnBoard(reference))?;
    Ok(direction.map_or(cell, |direction| cell.neighbour(direction)))
}

/// Reads the name of a piece, whatever its case: `WS1` and `ws1` are `wS1`.
fn read_piece(name: &str) -> Result<Piece, PieceError> {
    name.parse().or_else(|error| {
        let mut letters = name.chars();
        let side = letters.next().map(|letter| letter.to_ascii_lowercase());
        let kind = letters.next().map(|letter| letter.to_ascii_uppercase());
        side.into_iter().chain(kind).chain(letters).collect::<String>().parse().map_err(|_: PieceError| error)
    })
}

/// What is written before and after the reference piece, for a piece that lies in `direction` from it.
const fn marks(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::NorthEast => ("", "/"),
        Direction::East => ("", "-"),
        Direction::SouthEast => ("", "\\"),
        Direction::SouthWest => ("/", ""),
        Direction::West => ("-", ""),
        Direction::NorthWest => ("\\", ""),
    }
}

/// The order in which reference pieces are preferred: Q A G S B M L P by number, White's before Black's.
fn tile_number(piece: Piece) -> (Side, usize, u8) {
    use PieceKind::{Ant, Beetle, Grasshopper, Ladybug, Mosquito, Pillbug, Queen, Spider};
    let order = [Queen, Ant, Grasshopper, Spider, Beetle, Mosquito, Ladybug, Pillbug];
    let rank = order.iter().position(|kind| *kind == piece.kind()).unwrap_or(order.len());
    (piece.side(), rank, piece.number())
}
