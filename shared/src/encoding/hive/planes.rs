//! The 24 input planes.

use super::HiveEncoding;
use super::layout::Layout;
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

/// Writes the planes, f32 [24, frame, frame].
pub(super) fn encode(position: &Position, layout: &Layout, planes: &mut [f32]) {
    let size = usize::from(layout.frame) * usize::from(layout.frame);
    let planes = &mut planes[..HiveEncoding::PLANE_COUNT * size];
    planes[..QUEEN * size].fill(0.0);
    planes[PINNED * size..PLY * size].fill(0.0);
    for (piece, cell) in position.pieces().filter_map(|piece| Some((piece, position.cell_of(piece)?))) {
        let Some(place) = layout.frame_cell(cell).map(usize::from) else { continue };
        let is_mine = piece.side() == layout.side;
        planes[(piece.kind() as usize + if is_mine { 0 } else { 8 }) * size + place] = 1.0;
        if position.top(cell) == Some(piece) {
            planes[HEIGHT * size + place] = f32::from(position.height(cell)) / 7.0;
            planes[TOP * size + place] = if is_mine { 1.0 } else { -1.0 };
        }
    }
    for (plane, cells) in [(PLACEMENT, position.placement_cells()), (PINNED, position.pinned_cells())] {
        for place in cells.iter().filter_map(|cell| layout.frame_cell(cell)) {
            planes[plane * size + usize::from(place)] = 1.0;
        }
    }
    let queen_neighbours = |side| position.queen_neighbour_count(side) as f32 / 6.0;
    let mut fill = |plane: usize, value: f32| planes[plane * size..(plane + 1) * size].fill(value);
    fill(QUEEN, queen_neighbours(layout.side));
    fill(QUEEN + 1, queen_neighbours(layout.side.opponent()));
    fill(PLY, position.ply() as f32 / 200.0);
    fill(IN_HAND, position.pieces_in_hand(layout.side).count() as f32 / 14.0);
}
