//! The board: a torus of 32 x 32 cells, larger than any hive of 28 pieces with the ring around it.

/// A cell in axial coordinates modulo 32: q to the right, r to the lower right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell(u16);

/// The six neighbours of a cell, pointy-top hexes, clockwise from the upper right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Direction {
    /// `X/`: q + 1, r - 1.
    NorthEast,
    /// `X-`: q + 1.
    East,
    /// `X\`: r + 1.
    SouthEast,
    /// `/X`: q - 1, r + 1.
    SouthWest,
    /// `-X`: q - 1.
    West,
    /// `\X`: r - 1.
    NorthWest,
}

impl Direction {
    /// All directions, clockwise from the upper right; the position of each is its number in the policy index.
    pub const ALL: [Self; 6] =
        [Self::NorthEast, Self::East, Self::SouthEast, Self::SouthWest, Self::West, Self::NorthWest];

    /// Returns the step (q, r) to the neighbour.
    #[must_use]
    pub const fn step(self) -> (i8, i8) {
        match self {
            Self::NorthEast => (1, -1),
            Self::East => (1, 0),
            Self::SouthEast => (0, 1),
            Self::SouthWest => (-1, 1),
            Self::West => (-1, 0),
            Self::NorthWest => (0, -1),
        }
    }

    /// Returns the direction that leads back.
    #[must_use]
    pub const fn opposite(self) -> Self {
        Self::ALL[(self as usize + 3) % 6]
    }
}

impl Cell {
    /// Cells along one side of the torus.
    pub const SIDE: u16 = 32;
    /// Number of cells.
    pub const COUNT: usize = 1024;
    /// Where the first piece of a game is placed: the middle.
    pub const ORIGIN: Self = Self::from_axial(16, 16);

    /// Returns the cell with these axial coordinates, modulo 32.
    #[must_use]
    pub const fn from_axial(q: i32, r: i32) -> Self {
        Self((r.rem_euclid(32) * 32 + q.rem_euclid(32)) as u16)
    }

    /// Returns the cell with this number (`r * 32 + q`), `None` from 1,024 on.
    #[must_use]
    pub const fn from_index(index: u16) -> Option<Self> {
        if index < 1024 { Some(Self(index)) } else { None }
    }

    /// Returns the number of the cell, `r * 32 + q`, 0..1024.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the coordinate q, 0..32.
    #[must_use]
    pub const fn q(self) -> u8 {
        (self.0 & 31) as u8
    }

    /// Returns the coordinate r, 0..32.
    #[must_use]
    pub const fn r(self) -> u8 {
        (self.0 >> 5) as u8
    }

    /// Returns the neighbour in `direction`.
    #[must_use]
    pub const fn neighbour(self, direction: Direction) -> Self {
        let (q, r) = direction.step();
        Self::from_axial(self.q() as i32 + q as i32, self.r() as i32 + r as i32)
    }

    /// Returns the neighbour in direction number `direction`, 0..6, by a table.
    pub(crate) fn step(self, direction: usize) -> Self {
        Self(NEIGHBOURS[self.0 as usize & (Self::COUNT - 1)][direction & 7])
    }
}

/// Neighbours of every cell; two unused columns make the index a mask.
static NEIGHBOURS: [[u16; 8]; Cell::COUNT] = {
    let mut table = [[0; 8]; Cell::COUNT];
    let mut index = 0;
    while index < Cell::COUNT {
        let mut direction = 0;
        while direction < 6 {
            table[index][direction] = Cell(index as u16).neighbour(Direction::ALL[direction]).0;
            direction += 1;
        }
        index += 1;
    }
    table
};
