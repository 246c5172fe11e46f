//! The 32 dark squares, the four directions, and steps and leaps of whole sets of squares.
//!
//! A set of squares is a `u32`, bit s - 1 for the square that people call s.

use std::fmt;

/// A dark square, numbered row by row from the upper left as White sees the board.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// Returns the square that people call `number`, 1..=32.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 32 { Some(Self(number - 1)) } else { None }
    }

    /// Returns the square with this index, 0..32.
    #[must_use]
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < 32 { Some(Self(index)) } else { None }
    }

    /// Returns the square with this index, modulo 32.
    pub(super) const fn wrapping(index: u8) -> Self {
        Self(index & 31)
    }

    /// Returns the squares of a set, by rising number.
    pub fn of_set(mut set: u32) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let square = Self::from_index(set.trailing_zeros() as u8)?;
            set &= set - 1;
            Some(square)
        })
    }

    /// Returns what people call the square, 1..=32.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    /// Returns the number less one, 0..32.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the set of this square alone.
    #[must_use]
    pub const fn bit(self) -> u32 {
        1 << self.0
    }

    /// Returns the row, 0 at Black's side.
    #[must_use]
    pub const fn row(self) -> u8 {
        self.0 / 4
    }

    /// Returns the column, 0 at White's left. Row and column are both even or both odd.
    #[must_use]
    pub const fn column(self) -> u8 {
        self.0 % 4 * 2 + self.row() % 2
    }

    /// Returns the square at this row and column, if there is such a dark square.
    #[must_use]
    pub const fn at(row: u8, column: u8) -> Option<Self> {
        if row < 8 && column < 8 && (row + column).is_multiple_of(2) { Some(Self(row * 4 + column / 2)) } else { None }
    }

    /// Returns the square that lies here once the board is turned by 180 degrees.
    #[must_use]
    pub const fn turned(self) -> Self {
        Self(31 - self.0)
    }

    /// Returns the next square in this direction, `None` at the edge.
    #[must_use]
    pub const fn neighbour(self, direction: Direction) -> Option<Self> {
        let (down, right) = direction.step();
        Self::at(self.row().wrapping_add_signed(down), self.column().wrapping_add_signed(right))
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

/// One of the four diagonal directions, as White sees the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Forward for White, to the left.
    UpLeft,
    /// Forward for White, to the right.
    UpRight,
    /// Forward for Black, to White's left.
    DownLeft,
    /// Forward for Black, to White's right.
    DownRight,
}

impl Direction {
    /// All directions by their numbers; turned by 180 degrees, number d is 3 - d.
    pub const ALL: [Self; 4] = [Self::UpLeft, Self::UpRight, Self::DownLeft, Self::DownRight];

    /// Returns what one step adds to row and column.
    #[must_use]
    pub const fn step(self) -> (i8, i8) {
        match self {
            Self::UpLeft => (-1, -1),
            Self::UpRight => (-1, 1),
            Self::DownLeft => (1, -1),
            Self::DownRight => (1, 1),
        }
    }
}

const EVEN_ROWS: u32 = 0x0f0f_0f0f;
const ODD_ROWS: u32 = !EVEN_ROWS;
/// Columns 0 and 7: no neighbour on one side.
const LEFT_EDGE: u32 = EVEN_ROWS & 0x1111_1111;
const RIGHT_EDGE: u32 = ODD_ROWS & 0x8888_8888;
/// Columns 0 and 1, and 6 and 7: nothing to jump to on one side.
const TWO_LEFT: u32 = 0x1111_1111;
const TWO_RIGHT: u32 = 0x8888_8888;

/// Returns the neighbours of all squares of `set` in direction number `DIRECTION`.
#[inline]
pub(super) const fn step<const DIRECTION: usize>(set: u32) -> u32 {
    match DIRECTION {
        0 => (set & EVEN_ROWS & !LEFT_EDGE) >> 5 | (set & ODD_ROWS) >> 4,
        1 => (set & EVEN_ROWS) >> 4 | (set & ODD_ROWS & !RIGHT_EDGE) >> 3,
        2 => (set & EVEN_ROWS & !LEFT_EDGE) << 3 | (set & ODD_ROWS) << 4,
        _ => (set & EVEN_ROWS) << 4 | (set & ODD_ROWS & !RIGHT_EDGE) << 5,
    }
}

/// Returns the squares two steps from those of `set` in direction number `DIRECTION`.
#[inline]
pub(super) const fn leap<const DIRECTION: usize>(set: u32) -> u32 {
    match DIRECTION {
        0 => (set & !TWO_LEFT) >> 9,
        1 => (set & !TWO_RIGHT) >> 7,
        2 => (set & !TWO_LEFT) << 7,
        _ => (set & !TWO_RIGHT) << 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Square> {
        Square::of_set(u32::MAX)
    }

    #[test]
    fn squares_lie_where_the_board_has_them() {
        let place = |number| Square::new(number).map(|square| (square.row(), square.column()));
        assert_eq!([1, 4, 5, 8, 29, 32].map(place), [(0, 0), (0, 6), (1, 1), (1, 7), (7, 1), (7, 7)].map(Some));
        assert_eq!((Square::new(0), Square::new(33), Square::from_index(32)), (None, None, None));
        for square in all() {
            assert_eq!(Square::at(square.row(), square.column()), Some(square));
            assert_eq!(square.turned().number(), 33 - square.number());
            assert_eq!(square.turned().bit(), square.bit().reverse_bits());
        }
        assert_eq!(all().count(), 32);
    }

    #[test]
    fn sets_step_and_leap_like_their_squares() {
        type Shift = fn(u32) -> u32;
        let steps: [Shift; 4] = [step::<0>, step::<1>, step::<2>, step::<3>];
        let leaps: [Shift; 4] = [leap::<0>, leap::<1>, leap::<2>, leap::<3>];
        for (number, direction) in Direction::ALL.into_iter().enumerate() {
            for square in all() {
                let next = square.neighbour(direction);
                let over = next.and_then(|next| next.neighbour(direction));
                assert_eq!(steps[number](square.bit()), next.map_or(0, Square::bit), "{square} {direction:?}");
                assert_eq!(leaps[number](square.bit()), over.map_or(0, Square::bit), "{square} {direction:?}");
                let turned = next.map(Square::turned);
                assert_eq!(square.turned().neighbour(Direction::ALL[3 - number]), turned, "{square} {direction:?}");
            }
        }
    }
}
