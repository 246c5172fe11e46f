//! Sets of cells as 32 rows of 32 bits, and the small bit tricks that move generation uses.

use super::Cell;

/// A set of cells of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CellSet {
    pub(super) rows: [u32; 32],
}

impl CellSet {
    /// The set without cells.
    pub const EMPTY: Self = Self { rows: [0; 32] };

    /// Adds a cell.
    pub fn insert(&mut self, cell: Cell) {
        self.rows[usize::from(cell.r()) & 31] |= 1 << cell.q();
    }

    /// Takes a cell out.
    pub fn remove(&mut self, cell: Cell) {
        self.rows[usize::from(cell.r()) & 31] &= !(1 << cell.q());
    }

    /// Returns whether the cell is in the set.
    #[must_use]
    pub const fn contains(&self, cell: Cell) -> bool {
        self.rows[cell.r() as usize & 31] >> cell.q() & 1 == 1
    }

    /// Returns the cells of row `r` modulo 32: bit q for the column q.
    #[must_use]
    pub(crate) const fn line(&self, r: u8) -> u32 {
        self.rows[r as usize & 31]
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.iter().map(|row| row.count_ones() as usize).sum()
    }

    /// Returns whether there is no cell in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| *row == 0)
    }

    /// Returns the cells, by row and then by column.
    pub fn iter(&self) -> impl Iterator<Item = Cell> + '_ {
        self.rows.iter().enumerate().flat_map(|(r, &row)| {
            Bits(row).map(move |q| Cell::from_index((r * 32 + q) as u16).expect("32 rows of 32 bits"))
        })
    }

    /// Returns the cells of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { rows: std::array::from_fn(|r| self.rows[r] | other.rows[r]) }
    }

    /// Returns the cells of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self { rows: std::array::from_fn(|r| self.rows[r] & other.rows[r]) }
    }

    /// Returns the cells of this set that are not in the other.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self { rows: std::array::from_fn(|r| self.rows[r] & !other.rows[r]) }
    }

    /// Returns the cells that touch a cell of the set.
    #[must_use]
    pub fn neighbours(&self) -> Self {
        let mut padded = [0; 34];
        padded[0] = self.rows[31];
        padded[1..33].copy_from_slice(&self.rows);
        padded[33] = self.rows[0];
        Self {
            rows: std::array::from_fn(|r| {
                let (above, row, below) = (padded[r], padded[r + 1], padded[r + 2]);
                row.rotate_left(1) | row.rotate_right(1) | above | above.rotate_right(1) | below | below.rotate_left(1)
            }),
        }
    }
}

impl FromIterator<Cell> for CellSet {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> Self {
        let mut set = Self::EMPTY;
        cells.into_iter().for_each(|cell| set.insert(cell));
        set
    }
}

/// The positions of the set bits of a number, rising.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bits(pub(crate) u32);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::hive::Direction;

    #[test]
    fn neighbours_wrap_around_both_edges() {
        for cell in [Cell::ORIGIN, Cell::from_axial(0, 0), Cell::from_axial(31, 31), Cell::from_axial(0, 31)] {
            let expected: CellSet = Direction::ALL.into_iter().map(|direction| cell.neighbour(direction)).collect();
            let set: CellSet = [cell].into_iter().collect();
            assert_eq!(set.neighbours(), expected);
            assert_eq!(set.neighbours().len(), 6);
            assert!(set.neighbours().iter().all(|neighbour| expected.contains(neighbour)));
        }
    }

    #[test]
    fn sets_add_and_take_away() {
        let (a, b) = (Cell::from_axial(3, 4), Cell::from_axial(30, 9));
        let mut set: CellSet = [a, b].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [a, b]);
        set.remove(a);
        assert!(!set.contains(a) && set.contains(b) && !set.is_empty());
        assert_eq!(set.union(&[a].into_iter().collect()).minus(&set).iter().collect::<Vec<_>>(), [a]);
    }
}
