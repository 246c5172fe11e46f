//! Every move there can be: 98 steps and 936 captures, told by start, end and the squares captured.
//!
//! The captures from one square grow out of each other like a tree whose branches may meet: a *chain* is a start
//! square and the set of squares jumped so far, from which its end follows. Generating moves walks this tree.
//! All tables are made by the compiler.

use super::square::{Direction, Square};

/// Number of steps: 49 pairs of neighbours, both ways.
pub(super) const STEP_COUNT: usize = 98;
/// Number of captures by start, end and squares captured.
pub(super) const CAPTURE_COUNT: usize = 936;
/// Number of moves, and where the chains without a capture begin: one for each square.
pub(super) const MOVE_COUNT: usize = STEP_COUNT + CAPTURE_COUNT;
const CHAIN_COUNT: usize = MOVE_COUNT + 32;
/// No such chain or step.
pub(super) const NONE: u16 = u16::MAX;

/// What is known of each move, and of the chains that are none yet.
pub(super) struct Tables {
    /// Start squares, as an index.
    pub from: [u8; CHAIN_COUNT],
    /// Squares reached, as an index.
    pub to: [u8; CHAIN_COUNT],
    /// Squares jumped, as a set.
    pub captured: [u32; CHAIN_COUNT],
    /// The chain with one more jump in each direction.
    pub longer: [[u16; 4]; CHAIN_COUNT],
    /// Number of the direction of the first step or jump; of several ways to jump the first in the order of `longer`.
    pub first_direction: [u8; MOVE_COUNT],
    /// The step from each square in each direction.
    pub steps: [[u16; 4]; 32],
    /// What each move is called once the board is turned by 180 degrees.
    pub turned: [u16; MOVE_COUNT],
}

/// The tables.
pub(super) static TABLES: Tables = Tables::new();

/// Returns the chain that starts on the square with this index and has captured nothing.
#[inline]
pub(super) const fn start(index: usize) -> u16 {
    (MOVE_COUNT + index) as u16
}

impl Tables {
    const fn new() -> Self {
        let mut tables = Self {
            from: [0; CHAIN_COUNT],
            to: [0; CHAIN_COUNT],
            captured: [0; CHAIN_COUNT],
            longer: [[NONE; 4]; CHAIN_COUNT],
            first_direction: [0; MOVE_COUNT],
            steps: [[NONE; 4]; 32],
            turned: [NONE; MOVE_COUNT],
        };
        let step_count = tables.add_steps();
        assert!(step_count == STEP_COUNT);
        let mut count = STEP_COUNT;
        let mut from = 0;
        while from < 32 {
            count = tables.add_captures(from, count);
            from += 1;
        }
        assert!(count == MOVE_COUNT);
        tables.turn();
        tables
    }

    const fn add_steps(&mut self) -> usize {
        let mut count = 0;
        let mut from = 0;
        while from < 32 {
            let mut direction = 0;
            while direction < 4 {
                if let Some(to) = neighbour(from, direction) {
                    self.from[count] = from;
                    self.to[count] = to;
                    self.first_direction[count] = direction as u8;
                    self.steps[from as usize][direction] = count as u16;
                    count += 1;
                }
                direction += 1;
            }
            from += 1;
        }
        count
    }

    /// Adds all captures from one square, short ones first. Returns the number of moves so far.
    const fn add_captures(&mut self, from: u8, first: usize) -> usize {
        let start = start(from as usize) as usize;
        self.from[start] = from;
        self.to[start] = from;
        let mut count = self.lengthen(start, first, first);
        let mut chain = first;
        while chain < count {
            count = self.lengthen(chain, first, count);
            chain += 1;
        }
        count
    }

    /// Adds the chains that are one jump longer than `chain`. Chains of the same start are `first..count`.
    const fn lengthen(&mut self, chain: usize, first: usize, mut count: usize) -> usize {
        let mut direction = 0;
        while direction < 4 {
            if let Some((over, to)) = jump(self.to[chain], direction)
                && self.captured[chain] >> over & 1 == 0
            {
                let captured = self.captured[chain] | 1 << over;
                let longer = self.find(captured, first, count);
                if longer == count {
                    self.from[count] = self.from[chain];
                    self.to[count] = to;
                    self.captured[count] = captured;
                    let is_first = self.captured[chain] == 0;
                    self.first_direction[count] = if is_first { direction as u8 } else { self.first_direction[chain] };
                    count += 1;
                }
                assert!(self.to[longer] == to);
                self.longer[chain][direction] = longer as u16;
            }
            direction += 1;
        }
        count
    }

    /// Returns which of the chains `first..count` has captured these squares, `count` if none.
    const fn find(&self, captured: u32, first: usize, count: usize) -> usize {
        let mut chain = first;
        while chain < count && self.captured[chain] != captured {
            chain += 1;
        }
        chain
    }

    const fn turn(&mut self) {
        let mut index = 0;
        while index < MOVE_COUNT {
            let from = 31 - self.from[index];
            let captured = self.captured[index].reverse_bits();
            self.turned[index] = if index < STEP_COUNT {
                self.steps[from as usize][3 - self.first_direction[index] as usize]
            } else {
                let mut first = STEP_COUNT;
                while self.from[first] != from {
                    first += 1;
                }
                self.find(captured, first, MOVE_COUNT) as u16
            };
            index += 1;
        }
    }
}

const fn neighbour(index: u8, direction: usize) -> Option<u8> {
    let Some(square) = Square::from_index(index) else { return None };
    match square.neighbour(Direction::ALL[direction]) {
        Some(next) => Some(next.index() as u8),
        None => None,
    }
}

/// Returns the square jumped and the square reached.
const fn jump(index: u8, direction: usize) -> Option<(u8, u8)> {
    let Some(over) = neighbour(index, direction) else { return None };
    match neighbour(over, direction) {
        Some(to) => Some((over, to)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_move_is_there_once() {
        let tables = &TABLES;
        let told = |index: usize| (tables.from[index], tables.to[index], tables.captured[index]);
        assert_eq!((0..MOVE_COUNT).map(told).collect::<HashSet<_>>().len(), MOVE_COUNT);
        assert!((0..STEP_COUNT).all(|index| tables.captured[index] == 0));
        let longest = (0..MOVE_COUNT).map(|index| tables.captured[index].count_ones()).max();
        assert_eq!(longest, Some(9), "a king can jump nine pieces at most");
    }

    #[test]
    fn turning_twice_changes_nothing() {
        let tables = &TABLES;
        for index in 0..MOVE_COUNT {
            let turned = usize::from(tables.turned[index]);
            assert_eq!(usize::from(tables.turned[turned]), index);
            assert_eq!(tables.from[turned], 31 - tables.from[index]);
            assert_eq!(tables.to[turned], 31 - tables.to[index]);
            assert_eq!(tables.captured[turned], tables.captured[index].reverse_bits());
        }
    }

    #[test]
    fn a_chain_grows_by_one_jump_at_a_time() {
        let tables = &TABLES;
        for chain in 0..CHAIN_COUNT {
            for (direction, longer) in tables.longer[chain].into_iter().enumerate().filter(|(_, next)| *next != NONE) {
                let longer = usize::from(longer);
                let (over, to) = jump(tables.to[chain], direction).expect("both squares are on the board");
                assert_eq!(tables.captured[longer], tables.captured[chain] | 1 << over);
                assert_eq!((tables.from[longer], tables.to[longer]), (tables.from[chain], to));
            }
        }
    }
}
