//! Where an ant can crawl to: the regions of empty cells along the hive that slides connect.
//!
//! The regions of the hive as it lies are flooded once a position and shared by all ants. Lifting an ant changes
//! slides only between the six cells around it, so its reach is usually a sum of regions.

use super::cell_set::Bits;
use super::tables::{OPEN, SLIDES};
use super::{Cell, CellSet};

const REGION_COUNT_MAX: usize = 4;

/// The regions of one position, flooded when first asked for.
pub(super) struct Slides<'a> {
    around: &'a [u8; Cell::COUNT],
    regions: [CellSet; REGION_COUNT_MAX],
    sizes: [usize; REGION_COUNT_MAX],
    count: usize,
}

impl<'a> Slides<'a> {
    /// Takes the table that tells which neighbours of each cell are occupied.
    pub(super) fn new(around: &'a [u8; Cell::COUNT]) -> Self {
        Self { around, regions: [CellSet::EMPTY; REGION_COUNT_MAX], sizes: [0; REGION_COUNT_MAX], count: 0 }
    }

    /// Returns the cells that an ant standing alone on `from` can reach.
    pub(super) fn reach(&mut self, from: Cell) -> CellSet {
        let around = self.around_of(from);
        let Some(regions) = self.regions_of(from) else { return self.flood_without(from) };
        let mut reach = CellSet::EMPTY;
        for index in Bits(regions) {
            reach = reach.union(&self.regions[index]);
        }
        for direction in Bits(u32::from(OPEN[around])) {
            reach.remove(from.step(direction));
        }
        reach
    }

    /// Returns the number of cells that an ant standing alone on `from` can reach.
    pub(super) fn reach_count(&mut self, from: Cell) -> usize {
        let around = self.around_of(from);
        match self.regions_of(from) {
            Some(0) => 0,
            Some(regions) => {
                Bits(regions).map(|index| self.sizes[index]).sum::<usize>() - OPEN[around].count_ones() as usize
            }
            None => self.flood_without(from).len(),
        }
    }

    /// Returns the regions that an ant on `from` reaches, less the cells that touch nothing but the ant.
    ///
    /// `None` if that is not so simple: a cell between the ant and other pieces, where lifting the ant cuts a way.
    fn regions_of(&mut self, from: Cell) -> Option<u32> {
        let around = self.around_of(from);
        for direction in Bits(u32::from(OPEN[around])) {
            if self.around_of(from.step(direction)) != 1 << ((direction + 3) % 6) {
                return None;
            }
        }
        let mut regions = 0;
        for direction in Bits(u32::from(SLIDES[around])) {
            regions |= 1 << self.region_with(from.step(direction))?;
        }
        Some(regions)
    }

    fn region_with(&mut self, cell: Cell) -> Option<usize> {
        if let Some(index) = self.regions[..self.count].iter().position(|region| region.contains(cell)) {
            return Some(index);
        }
        let index = self.count;
        let region = self.regions.get_mut(index)?;
        self.sizes[index] = flood(self.around, cell, region);
        self.count += 1;
        Some(index)
    }

    fn flood_without(&self, from: Cell) -> CellSet {
        let mut around = *self.around;
        for direction in 0..6 {
            around[from.step(direction).index() & 1023] &= !(1 << ((direction + 3) % 6));
        }
        let mut reach = CellSet::EMPTY;
        flood(&around, from, &mut reach);
        reach.remove(from);
        reach
    }

    fn around_of(&self, cell: Cell) -> usize {
        usize::from(self.around[cell.index() & 1023]) & 63
    }
}

/// Adds all cells that slides connect with `start` to `reach`, returns how many there are.
///
/// Walks along the hive: nearly every cell leads back, and on to one other.
fn flood(around: &[u8; Cell::COUNT], start: Cell, reach: &mut CellSet) -> usize {
    let slides_of = |cell: Cell| u32::from(SLIDES[usize::from(around[cell.index() & 1023]) & 63]);
    // Cells with directions that are yet to be walked.
    let mut forks = [(start, 0); 64];
    let mut fork_count = 1;
    forks[0].1 = slides_of(start);
    let mut count = 1;
    reach.insert(start);
    while fork_count > 0 {
        fork_count -= 1;
        let (mut cell, mut slides) = forks[fork_count & 63];
        while slides != 0 {
            let rest = slides & (slides - 1);
            if rest != 0 {
                forks[fork_count & 63] = (cell, rest);
                fork_count += 1;
            }
            let way = slides ^ rest;
            cell = cell.step(way.trailing_zeros() as usize);
            if reach.contains(cell) {
                break;
            }
            reach.insert(cell);
            count += 1;
            slides = slides_of(cell) & !(way << 3 | way >> 3);
        }
    }
    count
}
