//! The tables that are in memory, and the value of a position in them.

use shared::game::Side;
use shared::game::dama::Board;

use crate::class::{Class, PIECE_COUNT_MAX, classes_of};
use crate::value::{IMPOSSIBLE, TableValue};

/// The values of all positions with the same pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassTable {
    class: Class,
    /// A byte a position, at the place that [`Class::index`] says.
    bytes: Vec<u8>,
}

/// Tables of several classes. Every position with at most [`Self::piece_count`] pieces is in them.
#[derive(Debug, Clone)]
pub struct TableSet {
    /// By [`Class::slot`].
    tables: Vec<Option<ClassTable>>,
}

impl ClassTable {
    /// Makes a table of its bytes; `None` if they are not as many as the class has.
    #[must_use]
    pub fn new(class: Class, bytes: Vec<u8>) -> Option<Self> {
        (bytes.len() == class.byte_count()).then_some(Self { class, bytes })
    }

    /// Makes a table without a position.
    pub(crate) fn empty(class: Class) -> Self {
        Self { class, bytes: vec![IMPOSSIBLE; class.byte_count()] }
    }

    /// Returns the class.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.class
    }

    /// Returns the bytes, one a position.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Returns how many positions are won, drawn and lost for the side to move, and the longest distance.
    #[must_use]
    pub fn counts(&self) -> ([u64; 3], u8) {
        let (mut counts, mut longest) = ([0; 3], 0);
        for value in self.bytes.iter().filter_map(|byte| TableValue::from_byte(*byte)) {
            let (place, distance) = match value {
                TableValue::Win(distance) => (0, distance),
                TableValue::Draw => (1, 0),
                TableValue::Loss(distance) => (2, distance),
            };
            counts[place] += 1;
            longest = longest.max(distance);
        }
        (counts, longest)
    }
}

impl Default for TableSet {
    fn default() -> Self {
        Self { tables: (0..Class::SLOT_COUNT).map(|_| None).collect() }
    }
}

impl TableSet {
    /// Adds a table, in the place of one of the same class.
    pub fn insert(&mut self, table: ClassTable) {
        let slot = table.class.slot();
        self.tables[slot] = Some(table);
    }

    /// Returns the table of a class, if it is there.
    #[must_use]
    #[inline]
    pub fn table(&self, class: Class) -> Option<&ClassTable> {
        self.tables.get(class.slot())?.as_ref()
    }

    /// Returns the tables.
    pub fn tables(&self) -> impl Iterator<Item = &ClassTable> {
        self.tables.iter().flatten()
    }

    /// Returns with up to how many pieces every position is known; 0 without tables.
    #[must_use]
    pub fn piece_count(&self) -> u8 {
        let has_all = |count: &u8| classes_of(*count).into_iter().all(|class| self.table(class).is_some());
        (2..=PIECE_COUNT_MAX).take_while(has_all).last().unwrap_or(0)
    }

    /// Returns the bytes of all tables.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.tables().map(|table| table.bytes.len()).sum()
    }

    /// Returns the value of a position without a past; `None` if it is in no table. Who has no piece has lost.
    #[must_use]
    #[inline]
    pub fn value(&self, board: &Board, side: Side) -> Option<TableValue> {
        if board.pieces(side) == 0 {
            return Some(TableValue::Loss(0));
        }
        let (class, board, side) = Class::of(board, side)?;
        let byte = self.table(class)?.bytes.get(class.index(&board, side))?;
        TableValue::from_byte(*byte)
    }
}
