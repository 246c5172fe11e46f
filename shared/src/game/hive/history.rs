//! Finding a repeated position: the hash of a piece, and the hashes since the last placement.

use super::{Cell, Piece};

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

/// The positions that can come again: those since the last placement, which cannot be undone.
#[derive(Debug, Default)]
pub(super) struct History {
    hashes: Vec<u64>,
    /// How many of `hashes` fall into each of 64 buckets: most positions are new, and this tells so at once.
    bucket_counts: Buckets,
    /// How often the present position has occurred, itself included; 0 if that was never recorded.
    occurrence_count: u32,
}

#[derive(Debug, Clone, Copy)]
struct Buckets([u8; 64]);

impl Default for Buckets {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Clone for History {
    fn clone(&self) -> Self {
        Self { hashes: self.hashes.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        self.hashes.clone_from(&source.hashes);
        self.bucket_counts = source.bucket_counts;
        self.occurrence_count = source.occurrence_count;
    }
}

impl History {
    /// Forgets all positions, keeps the memory.
    pub(super) fn clear(&mut self) {
        self.hashes.clear();
        self.bucket_counts = Buckets::default();
        self.occurrence_count = 0;
    }

    /// Takes note of a position.
    pub(super) fn record(&mut self, hash: u64) {
        let bucket = &mut self.bucket_counts.0[(hash >> 58) as usize & 63];
        self.occurrence_count = 1;
        if *bucket > 0 {
            self.occurrence_count += self.hashes.iter().map(|known| u32::from(*known == hash)).sum::<u32>();
        }
        *bucket = bucket.saturating_add(1);
        self.hashes.push(hash);
    }

    /// Returns how often the present position has occurred, itself included.
    pub(super) const fn occurrence_count(&self) -> u32 {
        self.occurrence_count
    }
}
