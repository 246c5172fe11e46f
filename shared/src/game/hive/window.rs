//! The 7 x 7 cells around a piece as one 64-bit number, for pieces that go at most three steps.
//!
//! Rows of 8 bits; the piece is at row 3, column 3.

use super::cell_set::Bits;
use super::{Cell, CellSet};

const CENTRE: u64 = 1 << 27;

/// Returns the part of `set` around `centre`.
pub(super) fn cut_out(set: &CellSet, centre: Cell) -> u64 {
    let first = usize::from(centre.r()) + 29;
    let turn = (u32::from(centre.q()) + 29) & 31;
    (0..7)
        .fold(0, |window, row| window | u64::from(set.rows[(first + row) & 31].rotate_right(turn) & 0x7f) << (8 * row))
}

/// Adds the cells of a window around `centre` to `set`.
pub(super) fn paste(set: &mut CellSet, centre: Cell, window: u64) {
    let first = usize::from(centre.r()) + 29;
    let turn = (u32::from(centre.q()) + 29) & 31;
    for row in 0..7 {
        set.rows[(first + row) & 31] |= ((window >> (8 * row)) as u32 & 0x7f).rotate_left(turn);
    }
}

/// Returns the cells of a window around `centre`, one by one.
pub(super) fn cells(centre: Cell, window: u64) -> impl Iterator<Item = Cell> {
    let (q, r) = (i32::from(centre.q()) - 3, i32::from(centre.r()) - 3);
    let halves = [window as u32, (window >> 32) as u32];
    halves.into_iter().enumerate().flat_map(move |(half, bits)| {
        Bits(bits).map(move |bit| {
            let bit = (half * 32 + bit) as i32;
            Cell::from_axial(q + (bit & 7), r + (bit >> 3))
        })
    })
}

/// Where a spider in the middle gets: exactly three slides, no cell twice.
pub(super) fn spider(occupied: u64) -> u64 {
    let occupied = occupied & !CENTRE;
    let filled: [u64; 6] = std::array::from_fn(|direction| shift(occupied, (direction + 3) % 6));
    // Per direction: the cells from which a slide that way is open.
    let open: [u64; 6] = std::array::from_fn(|direction| {
        !filled[direction] & (filled[(direction + 1) % 6] ^ filled[(direction + 5) % 6])
    });
    let slide = |from: u64| (0..6).fold(0, |reached, direction| reached | shift(from & open[direction], direction));
    let mut targets = 0;
    let mut first_steps = slide(CENTRE);
    while first_steps != 0 {
        let first = first_steps & first_steps.wrapping_neg();
        first_steps ^= first;
        let second = slide(first) & !CENTRE;
        targets |= slide(second) & !(CENTRE | first);
    }
    targets
}

/// Where a ladybug in the middle gets if no gate of stacks is in its way: two steps on top of pieces, one down.
pub(super) fn ladybug(occupied: u64) -> u64 {
    let occupied = occupied & !CENTRE;
    let first = touching(CENTRE) & occupied;
    let second = touching(first) & occupied;
    touching(second) & !occupied & !CENTRE
}

fn touching(cells: u64) -> u64 {
    (0..6).fold(0, |reached, direction| reached | shift(cells, direction))
}

/// Moves all cells one step in direction number `direction`.
const fn shift(cells: u64, direction: usize) -> u64 {
    match direction {
        0 => cells >> 7,
        1 => cells << 1,
        2 => cells << 8,
        3 => cells << 7,
        4 => cells >> 1,
        _ => cells >> 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_cut_out_and_pasted_back_over_the_edge() {
        let centre = Cell::from_axial(1, 31);
        let set: CellSet = (0..5).map(|step| Cell::from_axial(30 + step, 33 - step)).collect();
        let window = cut_out(&set, centre);
        let mut pasted = CellSet::EMPTY;
        paste(&mut pasted, centre, window);
        assert_eq!(pasted, set);
        assert_eq!(cells(centre, window).collect::<CellSet>(), set);
    }

    #[test]
    fn a_spider_walks_three_steps_around_a_piece() {
        // One piece to the east: the spider ends on its far side, by both ways around.
        assert_eq!(spider(CENTRE | CENTRE << 1), CENTRE << 2);
    }
}
