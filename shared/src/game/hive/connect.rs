//! One hive: the cells without which it would fall apart.

use super::cell_set::Bits;
use super::tables::GROUPS;
use super::{Cell, CellSet, Piece, Position};

impl Position {
    /// Returns whether the hive falls apart without this cell, however many pieces lie on it.
    #[must_use]
    pub fn is_cut(&self, cell: Cell) -> bool {
        if GROUPS[usize::from(self.around(cell)) & 63] < 2 {
            return false;
        }
        // Without holes every piece that joins two groups of neighbours is their only connection.
        !self.has_holes() || self.cut_cells().contains(cell)
    }

    /// Returns whether a lone piece lies on this cell and may not move without splitting the hive.
    #[must_use]
    pub fn is_pinned(&self, cell: Cell) -> bool {
        self.height(cell) == 1 && self.is_cut(cell)
    }

    /// Returns the cells of the pieces, of either side, that may not move without splitting the hive.
    #[must_use]
    pub fn pinned_cells(&self) -> CellSet {
        let lone = |cell: &Cell| self.height(*cell) == 1;
        if self.has_holes() {
            return self.cut_cells().iter().filter(lone).collect();
        }
        let occupied = self.occupied();
        occupied.iter().filter(|cell| GROUPS[usize::from(self.around(*cell)) & 63] > 1).filter(lone).collect()
    }

    /// Returns the articulation points of the graph of occupied cells (Hopcroft and Tarjan 1973).
    pub(super) fn cut_cells(&self) -> CellSet {
        let mut visit = Visit { position: self, order: [0; 32], count: 0, cut: CellSet::EMPTY };
        let Some(root) = self.pieces().next().and_then(|piece| self.cell_of(piece)) else { return visit.cut };
        visit.count = 1;
        visit.order[visit.top(root)] = 1;
        let mut child_count = 0;
        for direction in Bits(u32::from(self.around(root))) {
            let child = root.step(direction);
            if visit.order[visit.top(child)] == 0 {
                child_count += 1;
                visit.descend(child, 1);
            }
        }
        if child_count > 1 {
            visit.cut.insert(root);
        }
        visit.cut
    }

    /// Returns whether all pieces hang together.
    pub(super) fn is_connected(&self) -> bool {
        let Some(first) = self.pieces().next().and_then(|piece| self.cell_of(piece)) else { return true };
        let occupied = self.occupied();
        let mut reached: CellSet = [first].into_iter().collect();
        loop {
            let further = reached.neighbours().union(&reached).intersection(&occupied);
            if further == reached {
                return reached == occupied;
            }
            reached = further;
        }
    }
}

struct Visit<'a> {
    position: &'a Position,
    /// Per top piece: when its cell was first seen, from 1.
    order: [u8; 32],
    count: u8,
    cut: CellSet,
}

impl Visit<'_> {
    fn top(&self, cell: Cell) -> usize {
        self.position.top(cell).map_or(31, Piece::index) & 31
    }

    /// Returns the earliest cell that can be reached from `cell` without going through its parent.
    fn descend(&mut self, cell: Cell, parent_order: u8) -> u8 {
        self.count += 1;
        let own = self.count;
        let index = self.top(cell);
        self.order[index] = own;
        let mut earliest = own;
        for direction in Bits(u32::from(self.position.around(cell))) {
            let next = cell.step(direction);
            let seen = self.order[self.top(next)];
            if seen == 0 {
                let reached = self.descend(next, own);
                earliest = earliest.min(reached);
                if reached >= own {
                    self.cut.insert(cell);
                }
            } else if seen != parent_order {
                earliest = earliest.min(seen);
            }
        }
        earliest
    }
}
