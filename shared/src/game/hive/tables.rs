//! Tables over the 64 ways in which the six neighbours of a cell can be occupied. Bit d: direction d is occupied.

/// Directions of a step on the ground: the target is empty and exactly one of the two cells beside it is occupied.
pub(super) const SLIDES: [u8; 64] = {
    let mut table = [0; 64];
    let mut around = 0;
    while around < 64 {
        let (left, right) = beside(around as u8);
        table[around] = (left ^ right) & !(around as u8);
        around += 1;
    }
    table
};

/// Empty directions with two empty neighbours: the cells that a piece touches far from any other piece around it.
pub(super) const OPEN: [u8; 64] = {
    let mut table = [0; 64];
    let mut around = 0;
    while around < 64 {
        let (left, right) = beside(around as u8);
        table[around] = !(left | right | around as u8) & 63;
        around += 1;
    }
    table
};

/// Number of groups in which the occupied neighbours lie; 0 if all six are occupied.
pub(super) const GROUPS: [i8; 64] = {
    let mut table = [0; 64];
    let mut around = 0;
    while around < 64 {
        let (left, _) = beside(around as u8);
        table[around] = (around as u8 & !left).count_ones() as i8;
        around += 1;
    }
    table
};

/// Returns `mask` turned one direction each way: what lies clockwise-before and clockwise-after every direction.
pub(super) const fn beside(mask: u8) -> (u8, u8) {
    ((mask << 1 | mask >> 5) & 63, (mask >> 1 | mask << 5) & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_tell_the_rules_of_sliding() {
        // One neighbour in direction 0: a piece slides to either side of it.
        assert_eq!((SLIDES[1], OPEN[1], GROUPS[1]), (0b10_0010, 0b01_1100, 1));
        // Neighbours in directions 0 and 2 close the gate to direction 1.
        assert_eq!((SLIDES[0b101], GROUPS[0b101]), (0b10_1000, 2));
        assert_eq!((SLIDES[63], OPEN[63], GROUPS[63]), (0, 0, 0));
        assert_eq!((SLIDES[0], OPEN[0], GROUPS[0]), (0, 63, 0));
    }
}
