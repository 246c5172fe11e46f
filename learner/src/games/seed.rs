//! Numbers that stand for other numbers: seeds of games, hashes of move lists.

/// Returns a seed made from `seed` and a number (SplitMix64, Steele et al. 2014): different numbers, unrelated seeds.
#[must_use]
pub fn mix_seed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the hash of a list of moves (FNV-1a over their texts, each ended by a zero byte).
pub(super) fn hash_moves<'a>(moves: impl Iterator<Item = &'a str>) -> u64 {
    let bytes = moves.flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
