//! Sets of squares as numbers: which of the sets of so many squares it is.

/// Squares of the board.
const SQUARE_COUNT: usize = 32;
/// Most pieces that are counted by one number.
const SET_SIZE_MAX: usize = 5;

/// `BINOMIAL[n][k]`: how many sets of k of n squares there are.
const BINOMIAL: [[u32; SET_SIZE_MAX + 1]; SQUARE_COUNT + 1] = {
    let mut table = [[0; SET_SIZE_MAX + 1]; SQUARE_COUNT + 1];
    let mut n = 0;
    while n <= SQUARE_COUNT {
        table[n][0] = 1;
        let mut k = 1;
        while k <= SET_SIZE_MAX && n > 0 {
            table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    table
};

/// Returns how many sets of `size` of the squares of `among` there are; `size` is at most 5.
pub const fn set_count(among: u32, size: u8) -> usize {
    BINOMIAL[among.count_ones() as usize][size as usize] as usize
}

/// Returns the number of `set`, at most 5 of the squares of `among`: from 0, in the order of the combinatorial number system
/// (Lehmer 1964), the highest square first.
#[inline]
pub const fn rank(set: u32, among: u32) -> usize {
    let (mut left, mut size, mut rank) = (set, 1, 0);
    while left != 0 {
        let bit = left & left.wrapping_neg();
        rank += BINOMIAL[(among & (bit - 1)).count_ones() as usize][size] as usize;
        size += 1;
        left ^= bit;
    }
    rank
}

/// Returns the set of `size` of the squares of `among` that has this number.
pub fn unrank(mut rank: usize, size: u8, among: u32) -> u32 {
    let squares = squares_of(among);
    let (mut set, mut above) = (0, among.count_ones() as usize);
    for left in (1..=usize::from(size)).rev() {
        let below = (0..above).rev().find(|below| BINOMIAL[*below][left] as usize <= rank).unwrap_or(0);
        rank -= BINOMIAL[below][left] as usize;
        set |= squares[below];
        above = below;
    }
    set
}

/// Calls `visit` with each set of `size` of the squares of `among`, in the order of their numbers.
#[inline]
pub fn each_set(size: u8, among: u32, mut visit: impl FnMut(u32)) {
    let squares = squares_of(among);
    let end = 1_u64 << among.count_ones();
    // Gosper's hack: the next number with as many bits.
    let mut places = (1_u64 << size) - 1;
    while places < end {
        let (mut set, mut left) = (0, places);
        while left != 0 {
            set |= squares[left.trailing_zeros() as usize & (SQUARE_COUNT - 1)];
            left &= left - 1;
        }
        visit(set);
        if places == 0 {
            return;
        }
        let lowest = places & places.wrapping_neg();
        let carried = places + lowest;
        places = carried | ((places ^ carried) >> (2 + lowest.trailing_zeros()));
    }
}

fn squares_of(mut set: u32) -> [u32; SQUARE_COUNT] {
    let mut squares = [0; SQUARE_COUNT];
    for square in &mut squares {
        *square = set & set.wrapping_neg();
        set ^= *square;
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sets_of_some_squares_are_numbered_without_a_gap() {
        for among in [u32::MAX, 0xffff_fff0, 0x0fff_ffff, 0x8421_1248, 0] {
            for size in 0..=SET_SIZE_MAX as u8 {
                let mut next = 0;
                each_set(size, among, |set| {
                    assert_eq!((set & !among, set.count_ones()), (0, size.into()));
                    assert_eq!(rank(set, among), next);
                    if next % 97 == 0 {
                        assert_eq!(unrank(next, size, among), set);
                    }
                    next += 1;
                });
                assert_eq!(next, set_count(among, size), "{size} of {among:x}");
            }
        }
    }
}
