//! The packed form of a position, 59 bytes: 28 x u16 where each piece stands, ply u16, the piece moved last.
//!
//! A piece in play is `level << 10 | cell`, one in hand `0xffff`. All numbers are little-endian.

use crate::game::hive::{Cell, Hive, Piece, Position, RebuildError};

/// Length of the packed form.
pub(super) const BYTE_COUNT: usize = 2 * Piece::COUNT + 3;
const IN_HAND: u16 = u16::MAX;
const NONE_MOVED: u8 = u8::MAX;

/// Why bytes are not a packed position.
#[derive(Debug, thiserror::Error)]
pub(super) enum PackedError {
    #[error("expected {BYTE_COUNT} bytes")]
    Length,
    #[error("there is no piece {0}")]
    Piece(u8),
    #[error(transparent)]
    Rebuild(#[from] RebuildError),
}

/// Appends the packed form.
pub(super) fn pack(position: &Position, bytes: &mut Vec<u8>) {
    let mut packed = [0; BYTE_COUNT];
    let (places, rest) = packed.as_chunks_mut::<2>();
    for (piece, place) in Piece::all().zip(places.iter_mut()) {
        let level = u16::from(position.level_of(piece));
        *place = position.cell_of(piece).map_or(IN_HAND, |cell| level << 10 | cell.index() as u16).to_le_bytes();
    }
    places[Piece::COUNT] = packed_ply(position.ply()).to_le_bytes();
    rest[0] = position.last_moved().map_or(NONE_MOVED, |piece| piece.index() as u8);
    bytes.extend_from_slice(&packed);
}

/// Reads a packed position. What cannot be is refused, by [`Position::rebuild`] too.
pub(super) fn unpack(game: &Hive, bytes: &[u8], position: &mut Position) -> Result<(), PackedError> {
    let bytes: &[u8; BYTE_COUNT] = bytes.try_into().map_err(|_| PackedError::Length)?;
    let (places, rest) = bytes.as_chunks::<2>();
    let mut pieces = [(Piece::from_index(0).expect("there is a first piece"), Cell::ORIGIN, 0); Piece::COUNT];
    let mut piece_count = 0;
    for (piece, place) in Piece::all().zip(places) {
        let place = u16::from_le_bytes(*place);
        if place != IN_HAND {
            let cell = Cell::from_index(place & 1023).expect("ten bits are a cell");
            pieces[piece_count] = (piece, cell, (place >> 10) as u8);
            piece_count += 1;
        }
    }
    let ply = u32::from(u16::from_le_bytes(places[Piece::COUNT]));
    let last_moved = match rest[0] {
        NONE_MOVED => None,
        index => Some(Piece::from_index(index).ok_or(PackedError::Piece(index))?),
    };
    Ok(position.rebuild(game.rules(), &pieces[..piece_count], ply, last_moved)?)
}

/// Two bytes hold any game that was ever played; one beyond keeps the side to move.
fn packed_ply(ply: u32) -> u16 {
    u16::try_from(ply).unwrap_or(0xfffe + (ply & 1) as u16)
}
