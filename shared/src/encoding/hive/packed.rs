//! The packed form of a position, 59 bytes: 28 x u16 where each piece stands, ply u16, the piece moved last.
//!
//! A piece in play is `level << 10 | cell`, one in hand `0xffff`, one that the encoding's game type has and the game of
//! the position has not `0xfffe`. All numbers are little-endian.

use crate::game::hive::{Cell, GameType, HiveRules, Piece, PieceKind, Position, RebuildError};

/// Length of the packed form.
pub(super) const BYTE_COUNT: usize = 2 * Piece::COUNT + 3;
const IN_HAND: u16 = u16::MAX;
const NOT_IN_GAME: u16 = u16::MAX - 1;
const NONE_MOVED: u8 = u8::MAX;
/// The kinds that a game may do without.
const EXPANSIONS: [PieceKind; 3] = [PieceKind::Ladybug, PieceKind::Mosquito, PieceKind::Pillbug];

/// Why bytes are not a packed position.
#[derive(Debug, thiserror::Error)]
pub(super) enum PackedError {
    #[error("expected {BYTE_COUNT} bytes")]
    Length,
    #[error("there is no piece {0}")]
    Piece(u8),
    #[error("piece {0} cannot be missing from a game")]
    Missing(Piece),
    #[error(transparent)]
    Rebuild(#[from] RebuildError),
}

/// Appends the packed form for an encoding of `game_type`.
pub(super) fn pack(game_type: GameType, position: &Position, bytes: &mut Vec<u8>) {
    let mut packed = [0; BYTE_COUNT];
    let (places, rest) = packed.as_chunks_mut::<2>();
    for (piece, place) in Piece::all().zip(places.iter_mut()) {
        let in_hand = || if position.is_in_play(piece) || !game_type.has(piece.kind()) { IN_HAND } else { NOT_IN_GAME };
        let level = u16::from(position.level_of(piece));
        *place = position.cell_of(piece).map_or_else(in_hand, |cell| level << 10 | cell.index() as u16).to_le_bytes();
    }
    places[Piece::COUNT] = packed_ply(position.ply()).to_le_bytes();
    rest[0] = position.last_moved().map_or(NONE_MOVED, |piece| piece.index() as u8);
    bytes.extend_from_slice(&packed);
}

/// Reads a packed position of an encoding of these rules. What cannot be is refused, by [`Position::rebuild`] too.
pub(super) fn unpack(rules: &HiveRules, bytes: &[u8], position: &mut Position) -> Result<(), PackedError> {
    let bytes: &[u8; BYTE_COUNT] = bytes.try_into().map_err(|_| PackedError::Length)?;
    let (places, rest) = bytes.as_chunks::<2>();
    let mut pieces = [(Piece::from_index(0).expect("there is a first piece"), Cell::ORIGIN, 0); Piece::COUNT];
    let mut piece_count = 0;
    let mut missing = 0_u32;
    for (piece, place) in Piece::all().zip(places) {
        let place = u16::from_le_bytes(*place);
        if place < NOT_IN_GAME {
            let cell = Cell::from_index(place & 1023).expect("ten bits are a cell");
            pieces[piece_count] = (piece, cell, (place >> 10) as u8);
            piece_count += 1;
        } else if place == NOT_IN_GAME {
            missing |= 1 << piece.index();
        }
    }
    let ply = u32::from(u16::from_le_bytes(places[Piece::COUNT]));
    let last_moved = match rest[0] {
        NONE_MOVED => None,
        index => Some(Piece::from_index(index).ok_or(PackedError::Piece(index))?),
    };
    let rules = if missing == 0 { *rules } else { without(rules, missing)? };
    Ok(position.rebuild(&rules, &pieces[..piece_count], ply, last_moved)?)
}

/// Returns the type of the game that a packed position is of; the bytes are not checked.
pub(super) fn game_type_of(game_type: GameType, packed: &[u8]) -> GameType {
    let (places, _) = packed.as_chunks::<2>();
    let is_missing = |kind: PieceKind| places.get(usize::from(kind.first_slot())) == Some(&NOT_IN_GAME.to_le_bytes());
    EXPANSIONS
        .into_iter()
        .filter(|kind| is_missing(*kind))
        .fold(game_type, |game_type, kind| game_type.without(kind).unwrap_or(game_type))
}

/// Returns the rules of the game without these pieces, bit by piece: both sides lack an expansion, or none does.
fn without(rules: &HiveRules, missing: u32) -> Result<HiveRules, PackedError> {
    let mut game_type = rules.game_type;
    for piece in Piece::all().filter(|piece| missing >> piece.index() & 1 == 1) {
        let refused = PackedError::Missing(piece);
        let other = (piece.index() + Piece::PER_SIDE) % Piece::COUNT;
        if missing >> other & 1 == 0 {
            return Err(refused);
        }
        if piece.index() < Piece::PER_SIDE {
            game_type = game_type.without(piece.kind()).ok_or(refused)?;
        }
    }
    Ok(HiveRules { game_type, ..*rules })
}

/// Two bytes hold any game that was ever played; one beyond keeps the side to move.
fn packed_ply(ply: u32) -> u16 {
    u16::try_from(ply).unwrap_or(0xfffe + (ply & 1) as u16)
}
