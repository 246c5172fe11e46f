//! Numbers that stand for other numbers: seeds of games.

/// Returns a seed made from `seed` and a number (SplitMix64, Steele et al. 2014): different numbers, unrelated seeds.
#[must_use]
pub const fn mix_seed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
