//! Where the hive lies in the frame, and which piece has which slot.

use crate::game::Side;
use crate::game::hive::{Cell, Piece, PieceKind, Position};

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
    /// How many pieces of each kind each side has in play: mine, theirs.
    in_play: [[u8; 8]; 2],
}

/// What pieces in hand are ordered by: behind everything in play.
const IN_HAND: u16 = u16::MAX;

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
            in_play: [[0; 8]; 2],
        };
        let orders: [u16; 28] = std::array::from_fn(|index| {
            cells[index].map_or(IN_HAND, |cell| {
                let row = u16::from(cell.r().wrapping_sub(first_row) & 31);
                let column = u16::from(cell.q().wrapping_sub(first_column) & 31);
                row << 8 | column << 3 | u16::from(position.level_of(piece(index as u8)))
            })
        });
        layout.number_pieces(&orders);
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

    /// Returns the slot of a piece, 0..28.
    pub fn slot_of(&self, piece: Piece) -> u8 {
        self.slots[piece.index()]
    }

    /// Returns the piece in a slot, `None` from 28 on.
    pub fn piece_in(&self, slot: u8) -> Option<Piece> {
        self.pieces.get(usize::from(slot)).map(|index| piece(*index))
    }

    /// Returns the lowest slot of the side to move with a piece of this kind in hand, that of the last if none is.
    pub fn hand_slot(&self, kind: PieceKind) -> u8 {
        kind.first_slot() + self.in_play[0][kind as usize].min(kind.count() - 1)
    }

    fn number_pieces(&mut self, orders: &[u16; 28]) {
        for side in [Side::White, Side::Black] {
            let first_piece = side.index() as u8 * 14;
            let view = usize::from(side != self.side);
            for kind in PieceKind::ALL {
                let (first, count) = (kind.first_slot(), kind.count());
                let mut group = [0, 1, 2].map(|number| first_piece + first + number.min(count - 1));
                let group = &mut group[..usize::from(count)];
                group.sort_by_key(|index| orders[usize::from(*index)]);
                for (slot, index) in (view as u8 * 14 + first..).zip(group.iter()) {
                    self.slots[usize::from(*index)] = slot;
                    self.pieces[usize::from(slot)] = *index;
                    self.in_play[view][kind as usize] += u8::from(orders[usize::from(*index)] != IN_HAND);
                }
            }
        }
    }
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
