//! Positions as in the hub protocol for draughts programs. Moves: `shared::game::dama::text`.
//!
//! A position is the side to move and a letter a square: `w`, `b`, `W`, `B` or `e`. A capture is its start, its end
//! and the squares of the pieces taken: `31x8x12x20x28`.

use shared::game::Side;
use shared::game::dama::{Board, BoardError, Position, Square};

/// Why a text is not a position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HubError {
    /// The text is too short or too long.
    #[error("a position has 33 letters: the side to move and 32 squares")]
    Length,
    /// A letter that is not one of those known.
    #[error("{0:?} is not a side or a piece: W, B, w, b, e")]
    Letter(char),
    /// The pieces cannot stand so.
    #[error(transparent)]
    Board(#[from] BoardError),
}

/// Returns the text of pieces and side to move.
#[must_use]
pub fn write(board: &Board, side_to_move: Side) -> String {
    let side = if side_to_move == Side::White { 'W' } else { 'B' };
    let squares = Square::of_set(u32::MAX).map(|square| {
        let is_in = |set: u32| set & square.bit() != 0;
        let pieces = [('w', board.men(Side::White)), ('W', board.kings(Side::White)), ('b', board.men(Side::Black))];
        let piece = pieces.into_iter().chain([('B', board.kings(Side::Black))]).find(|(_, set)| is_in(*set));
        piece.map_or('e', |(letter, _)| letter)
    });
    std::iter::once(side).chain(squares).collect()
}

/// Reads a position.
///
/// # Errors
/// [`HubError`] saying what is wrong. Never panics.
pub fn read(text: &str) -> Result<Position, HubError> {
    if text.chars().count() != 33 {
        return Err(HubError::Length);
    }
    let mut letters = text.chars();
    let side = match letters.next() {
        Some('W') => Side::White,
        Some('B') => Side::Black,
        other => return Err(HubError::Letter(other.unwrap_or(' '))),
    };
    let [mut white, mut black, mut kings] = [0_u32; 3];
    for (letter, square) in letters.zip(Square::of_set(u32::MAX)) {
        match letter {
            'w' | 'W' => white |= square.bit(),
            'b' | 'B' => black |= square.bit(),
            'e' => {}
            other => return Err(HubError::Letter(other)),
        }
        if letter.is_ascii_uppercase() {
            kings |= square.bit();
        }
    }
    Ok(Position::new(Board::set_up(white, black, kings)?, side, 0))
}
