//! Where the hive lies in the frame, and which piece has which slot.

use crate::game::Side;
use crate::game::hive::{Bits, Cell, CellSet, Piece, PieceKind, Position};

/// The view of one position: the frame around the hive, and the pieces numbered by what the planes show.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Side of the frame in cells.
    pub frame: u8,
    /// Columns that the hive spans.
    pub width: u8,
    /// Rows that the hive spans.
    pub height: u8,
    /// The side whose pieces have the slots 0..14.
    pub side: Side,
    /// Torus coordinates of the frame's first column and row.
    origin: [u8; 2],
    /// The slot of each piece.
    slots: [u8; 28],
    /// The piece in each slot.
    pieces: [u8; 28],
    /// Where the piece in each slot is, `None` in hand.
    cells: [Option<Cell>; 28],
}

/// What pieces in hand are ordered by: behind everything in play.
const IN_HAND: u32 = 1 << 13;
/// Pieces are ordered by keys whose lowest bits are the piece itself: those in hand keep their order.
const PIECE_BITS: u32 = 5;
/// First pieces of the kinds of which there are two, and three, a side.
const PAIRS: [usize; 2] = [PieceKind::Beetle.first_slot() as usize, PieceKind::Spider.first_slot() as usize];
const TRIPLES: [usize; 2] = [PieceKind::Grasshopper.first_slot() as usize, PieceKind::Ant.first_slot() as usize];

impl Layout {
    /// Lays the frame around the hive so that its bounding box is in the middle (half a cell up and left of it if the
    /// room is odd), and numbers the pieces of each kind by row, column and height, those in hand last.
    pub fn new(position: &Position, frame: u8) -> Self {
        let (mut columns, mut rows) = (0_u32, 0_u32);
        let cells: [Option<Cell>; 28] = std::array::from_fn(|index| position.cell_of(piece(index as u8)));
        for cell in cells.iter().flatten() {
            columns |= 1 << cell.q();
            rows |= 1 << cell.r();
        }
        if columns == 0 {
            (columns, rows) = (1 << Cell::ORIGIN.q(), 1 << Cell::ORIGIN.r());
        }
        let (first_column, width) = span(columns);
        let (first_row, height) = span(rows);
        let mut layout = Self {
            frame,
            width,
            height,
            side: position.side_to_move(),
            origin: [origin(first_column, width, frame), origin(first_row, height, frame)],
            slots: [0; 28],
            pieces: [0; 28],
            cells: [None; 28],
        };
        let keys: [u32; 28] = std::array::from_fn(|index| {
            let order = cells[index].map_or(IN_HAND, |cell| {
                let row = u32::from(cell.r().wrapping_sub(first_row) & 31);
                let column = u32::from(cell.q().wrapping_sub(first_column) & 31);
                row << 8 | column << 3 | u32::from(position.level_of(piece(index as u8)))
            });
            order << PIECE_BITS | index as u32
        });
        layout.number_pieces(keys, &cells);
        layout
    }

    /// Returns where `cell` lies in a plane, `None` if outside the frame.
    pub fn frame_cell(&self, cell: Cell) -> Option<u16> {
        // The torus is wider than hive and ring together, so what lies left of the frame comes out right of it.
        let column = cell.q().wrapping_sub(self.origin[0]) & 31;
        let row = cell.r().wrapping_sub(self.origin[1]) & 31;
        let is_inside = column < self.frame && row < self.frame;
        is_inside.then(|| u16::from(row) * u16::from(self.frame) + u16::from(column))
    }

    /// Returns where the cells of a set lie in a plane, rising; those outside the frame are left out.
    pub fn frame_cells<'a>(&self, set: &'a CellSet) -> impl Iterator<Item = u16> + use<'a> {
        let (origin, frame) = (self.origin, self.frame);
        // A row of the torus turned so that the frame's first column is its first bit.
        let columns = u32::MAX >> (32 - u32::from(frame));
        (0..frame).flat_map(move |row| {
            let line = set.line(row.wrapping_add(origin[1])).rotate_right(origin[0].into()) & columns;
            Bits(line).map(move |column| u16::from(row) * u16::from(frame) + column as u16)
        })
    }

    /// Returns the slot of a piece, 0..28.
    pub fn slot_of(&self, piece: Piece) -> u8 {
        self.slots[piece.index()]
    }

    /// Returns the piece in a slot, `None` from 28 on.
    pub fn piece_in(&self, slot: u8) -> Option<Piece> {
        self.pieces.get(usize::from(slot)).map(|index| piece(*index))
    }

    /// Returns where the piece in a slot, 0..28, is; `None` in hand.
    pub fn cell_in(&self, slot: u8) -> Option<Cell> {
        self.cells[usize::from(slot)]
    }

    /// Returns the lowest slot of the side to move with a piece of this kind in hand, that of the last if none is.
    pub fn hand_slot(&self, kind: PieceKind) -> u8 {
        let (first, last) = (kind.first_slot(), kind.first_slot() + kind.count() - 1);
        (first..last).find(|slot| self.cell_in(*slot).is_none()).unwrap_or(last)
    }

    /// Numbers the pieces by their keys, and those of the side to move first.
    fn number_pieces(&mut self, mut keys: [u32; 28], cells: &[Option<Cell>; 28]) {
        for side in [0, Piece::PER_SIDE] {
            for first in PAIRS {
                order(&mut keys, side + first, side + first + 1);
            }
            for first in TRIPLES {
                order(&mut keys, side + first, side + first + 1);
                order(&mut keys, side + first + 1, side + first + 2);
                order(&mut keys, side + first, side + first + 1);
            }
        }
        keys.rotate_left(self.side.index() * Piece::PER_SIDE);
        for (slot, key) in keys.into_iter().enumerate() {
            let index = (key & ((1 << PIECE_BITS) - 1)) as u8;
            self.pieces[slot] = index;
            self.cells[slot] = cells[usize::from(index)];
            self.slots[usize::from(index)] = slot as u8;
        }
    }
}

/// Brings the smaller of two keys to the front.
fn order(keys: &mut [u32; 28], front: usize, back: usize) {
    (keys[front], keys[back]) = (keys[front].min(keys[back]), keys[front].max(keys[back]));
}

fn piece(index: u8) -> Piece {
    Piece::from_index(index).expect("pieces are numbered 0..28")
}

/// Returns the first of the occupied lines of the torus and how many they are. A hive hangs together and is at most 28
/// cells wide, so they form one run, which may go over the edge.
const fn span(lines: u32) -> (u8, u8) {
    let starts = lines & !lines.rotate_left(1);
    (starts.trailing_zeros() as u8 & 31, lines.count_ones() as u8)
}

/// Returns the torus coordinate of the frame's first line.
const fn origin(first: u8, extent: u8, frame: u8) -> u8 {
    let margin = (frame as i32 - extent as i32).div_euclid(2);
    (first as i32 - margin).rem_euclid(32) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_may_go_over_the_edge() {
        assert_eq!(span(0b0111_0000), (4, 3));
        assert_eq!(span(0xC000_0003), (30, 4));
        assert_eq!(span(1), (0, 1));
    }

    #[test]
    fn the_bounding_box_lies_in_the_middle() {
        assert_eq!(origin(16, 1, 16), 9);
        assert_eq!(origin(16, 2, 16), 9);
        assert_eq!(origin(0, 4, 16), 26);
        assert_eq!(origin(3, 18, 16), 4, "a hive too wide loses as much on both sides");
    }
}
