//! Hashes of move lists: how many games are different.

/// Returns the hash of a list of moves (FNV-1a over their texts, each ended by a zero byte).
pub fn hash_moves<'a>(moves: impl Iterator<Item = &'a str>) -> u64 {
    let bytes = moves.flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
