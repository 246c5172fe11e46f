//! The packed form of a position, 37 bytes: three boards of three u32 each, and the side to move.
//!
//! A board is White's squares, Black's squares and the kings, little-endian; first the present one, then those one and
//! two plies ago.

use crate::game::Side;
use crate::game::dama::{Board, BoardError, Position};

const BOARD_BYTE_COUNT: usize = 12;
const BYTE_COUNT: usize = 3 * BOARD_BYTE_COUNT + 1;

/// Why bytes are not a packed position.
#[derive(Debug, thiserror::Error)]
pub(super) enum PackedError {
    #[error("expected {BYTE_COUNT} bytes")]
    Length,
    #[error("there is no side {0}")]
    Side(u8),
    #[error(transparent)]
    Board(#[from] BoardError),
}

/// Appends the packed form.
pub(super) fn pack(position: &Position, bytes: &mut Vec<u8>) {
    let [before, two_before] = position.earlier_boards();
    for board in [position.board(), before, two_before] {
        let kings = board.kings(Side::White) | board.kings(Side::Black);
        for set in [board.pieces(Side::White), board.pieces(Side::Black), kings] {
            bytes.extend_from_slice(&set.to_le_bytes());
        }
    }
    bytes.push(position.side_to_move().index() as u8);
}

/// Reads a packed position. What cannot be is refused.
pub(super) fn unpack(bytes: &[u8], position: &mut Position) -> Result<(), PackedError> {
    let bytes: &[u8; BYTE_COUNT] = bytes.try_into().map_err(|_| PackedError::Length)?;
    let (sets, rest) = bytes.as_chunks::<4>();
    let set = |index: usize| u32::from_le_bytes(sets[index]);
    let board = |first: usize| Board::new(set(first), set(first + 1), set(first + 2));
    let side = match rest[0] {
        0 => Side::White,
        1 => Side::Black,
        other => return Err(PackedError::Side(other)),
    };
    position.reset(board(0)?, [board(3)?, board(6)?], side, 0);
    Ok(())
}
