//! The 24 input planes.

use super::layout::Layout;
use crate::encoding::SparsePlanes;
use crate::game::hive::Position;

/// Height of the stack / 7.
const HEIGHT: usize = 16;
/// Top piece: +1 mine, -1 theirs.
const TOP: usize = 17;
/// Cells where the side to move may place.
const PLACEMENT: usize = 18;
/// Filled neighbours of my queen / 6, over the whole plane; that of their queen follows.
const QUEEN: usize = 19;
/// Pieces that may not move without splitting the hive.
const PINNED: usize = 21;
/// Ply / 200, over the whole plane. From here on all planes are so.
pub(super) const PLY: usize = 22;
/// My pieces in hand / 14, over the whole plane.
const IN_HAND: usize = 23;

/// The planes that hold one number.
pub(super) const UNIFORM: [u8; 4] = [QUEEN as u8, QUEEN as u8 + 1, PLY as u8, IN_HAND as u8];

/// Appends the planes of a position.
pub(super) fn show(position: &Position, layout: &Layout, planes: &mut SparsePlanes) {
    let size = usize::from(layout.frame) * usize::from(layout.frame);
    for piece in position.pieces() {
        let Some(cell) = position.cell_of(piece) else { continue };
        let Some(place) = layout.frame_cell(cell).map(usize::from) else { continue };
        let is_mine = piece.side() == layout.side;
        let (kind, top) = if is_mine { (piece.kind() as usize, 1.0) } else { (piece.kind() as usize + 8, -1.0) };
        let mark = (kind * size + place, 1.0);
        if position.top(cell) == Some(piece) {
            let height = f32::from(position.height(cell)) / 7.0;
            planes.put_all([mark, (HEIGHT * size + place, height), (TOP * size + place, top)]);
        } else {
            planes.put_all([mark]);
        }
    }
    for (plane, cells) in [(PLACEMENT, position.placement_cells()), (PINNED, position.pinned_cells())] {
        layout.frame_cells(&cells).for_each(|place| planes.put(plane * size + usize::from(place), 1.0));
    }
    let queen_neighbours = |side| position.queen_neighbour_count(side) as f32 / 6.0;
    planes.end(&[
        queen_neighbours(layout.side),
        queen_neighbours(layout.side.opponent()),
        position.ply() as f32 / 200.0,
        position.pieces_in_hand(layout.side).count() as f32 / 14.0,
    ]);
}
