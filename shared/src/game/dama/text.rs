//! Moves of Italian draughts as text: `22-18` is a step, `31x8` a capture. Where start and end do not name one capture, all squares
//! visited are written: `3x12x19x26`.

use super::{Dama, Move, Position, Route, Square};
use crate::game::{Game, MOVE_TEXT_BYTES_MAX, MoveError};

/// Returns a legal move as people write it.
#[must_use]
pub fn format_move(game: &Dama, position: &Position, mv: Move) -> String {
    let (source, target) = (mv.source(), mv.target());
    if !mv.is_capture() {
        return format!("{source}-{target}");
    }
    let routes = game.routes(position);
    let is_same_ends = |route: &&Route| (route.mv.source(), route.mv.target()) == (source, target);
    if routes.iter().filter(is_same_ends).all(|route| route.mv == mv) {
        return format!("{source}x{target}");
    }
    let route = routes.iter().find(|route| route.mv == mv);
    route.map_or_else(|| format_with_captured(mv), format_route)
}

/// Returns a capture with all squares visited.
#[must_use]
pub fn format_route(route: &Route) -> String {
    let squares: Vec<String> = route.squares.iter().map(Square::to_string).collect();
    squares.join("x")
}

/// Returns a move, a capture with the pieces taken by rising square: `31x8x12x20x28`, as in the hub protocol.
#[must_use]
pub fn format_with_captured(mv: Move) -> String {
    let sign = if mv.is_capture() { 'x' } else { '-' };
    let mut text = format!("{}{sign}{}", mv.source(), mv.target());
    for square in Square::of_set(mv.captured()) {
        text += &format!("x{square}");
    }
    text
}

/// Reads a move that is legal in `position`: `22-18`, `31x8`, with all squares visited `31x24x15x8`, or as the hub
/// protocol has it, start, end and pieces taken: `31x8x12x20x28`.
///
/// # Errors
/// [`MoveError`] if the game is over, or the text is not one legal move. Never panics.
pub fn parse_move(game: &Dama, position: &Position, text: &str) -> Result<Move, MoveError> {
    if game.outcome(position).is_some() {
        return Err(MoveError::GameOver { text: shown(text), ply: position.ply() });
    }
    find_move(game, position, text)
}

/// Reads a move like [`parse_move`], whether or not the game is a draw by now: people play on.
///
/// # Errors
/// [`MoveError`] if the text is not one legal move. Never panics.
pub fn find_move(game: &Dama, position: &Position, text: &str) -> Result<Move, MoveError> {
    let unreadable = |error: UnreadableMove| MoveError::Unreadable { text: shown(text), reason: error.to_string() };
    let written = Written::read(text).map_err(unreadable)?;
    let mut found = written.find(game, position);
    found.dedup();
    match found[..] {
        [mv] => Ok(mv),
        [] => Err(MoveError::Illegal { text: shown(text), ply: position.ply() }),
        _ => Err(unreadable(UnreadableMove::Ambiguous)),
    }
}

/// Why a text cannot be read as a move.
#[derive(Debug, thiserror::Error)]
enum UnreadableMove {
    #[error("too long for a move")]
    TooLong,
    #[error("a move is written like 22-18 or 31x24, with squares 1 to 32")]
    NoSquares,
    #[error("a move names two squares")]
    OneSquare,
    #[error("a step names two squares")]
    LongStep,
    #[error("several captures start and end so; write every square visited")]
    Ambiguous,
}

/// Squares as they stand in a text, and what is between them.
struct Written {
    is_capture: bool,
    squares: Vec<Square>,
}

impl Written {
    fn read(text: &str) -> Result<Self, UnreadableMove> {
        let text = text.trim();
        if text.len() > MOVE_TEXT_BYTES_MAX {
            return Err(UnreadableMove::TooLong);
        }
        let is_capture = text.contains(['x', 'X', ':', '*']);
        let separators: &[char] = if is_capture { &['x', 'X', ':', '*'] } else { &['-'] };
        let squares: Option<Vec<Square>> = text.split(separators).map(read_square).collect();
        let squares = squares.ok_or(UnreadableMove::NoSquares)?;
        match squares.len() {
            0 | 1 => Err(UnreadableMove::OneSquare),
            3.. if !is_capture => Err(UnreadableMove::LongStep),
            _ => Ok(Self { is_capture, squares }),
        }
    }

    /// Returns the legal moves that are written so, sorted.
    fn find(&self, game: &Dama, position: &Position) -> Vec<Move> {
        let mut found = Vec::new();
        if self.is_capture {
            found.extend(game.routes(position).iter().filter(|route| self.names(route)).map(|route| route.mv));
        } else {
            game.steps(position, &mut found);
            found.retain(|mv| [mv.source(), mv.target()][..] == self.squares[..]);
        }
        found.sort_unstable();
        found
    }

    fn names(&self, route: &Route) -> bool {
        let ends = [route.mv.source(), route.mv.target()];
        match self.squares[..] {
            [from, to] => [from, to] == ends,
            [from, to, ref taken @ ..] if [from, to] == ends && is_set(taken, route.mv.captured()) => true,
            ref squares => squares == route.squares,
        }
    }
}

/// Returns whether `squares` are those of `set`, each once, in any order.
fn is_set(squares: &[Square], set: u32) -> bool {
    squares.len() == set.count_ones() as usize && squares.iter().fold(0, |bits, square| bits | square.bit()) == set
}

/// Reads the number of a square, without a sign.
pub(super) fn read_square(text: &str) -> Option<Square> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Square::new(text.parse().ok()?) } else { None }
}

/// Returns as much of a text as fits into a message.
fn shown(text: &str) -> String {
    text.chars().take(MOVE_TEXT_BYTES_MAX).collect()
}
