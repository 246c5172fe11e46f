//! The hash of a piece, of which that of a position is made.

use super::{Cell, Piece};
use crate::game::repetitions::Key;

/// Returns the hash of a piece seen from the reference cell: by side, kind, level and the way from there.
pub(super) fn piece_hash(piece: Piece, level: u8, cell: Cell, reference: Cell) -> u64 {
    let (cell, reference) = (cell.index() as u64, reference.index() as u64);
    let way = (cell.wrapping_sub(reference) & 31) | (cell.wrapping_sub(reference & !31) & 0x3e0);
    let kind = (piece.side().index() as u64) << 3 | piece.kind() as u64;
    split_mix(way | u64::from(level) << 10 | kind << 13)
}

/// The finalizer of the SplitMix64 generator (Steele, Lea, Flood 2014).
const fn split_mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

impl Key for u64 {
    /// Hashes of positions are sums of mixed numbers.
    fn mixed(self) -> u64 {
        self
    }
}
