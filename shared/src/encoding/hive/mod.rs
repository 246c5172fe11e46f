//! Hive for a network: 24 planes of `frame` x `frame` axial cells, 5,488 policy indices, twelve symmetries.
//!
//! What the planes and indices mean is described in `docs/encoding.md`. Everything is seen from the side to move, and every
//! index is a function of what the planes show.
//!
//! A position knows which expansions its game has. An encoding of a type shows positions of every type within it: what is
//! not in play is neither on the board nor in hand.

mod layout;
mod packed;
mod planes;
mod policy;
mod symmetry;

use std::ops::RangeInclusive;

use super::{
    DecodeError, ENDING_COUNT_MAX, Encoding, MoveCells, Neighbourhood, NetworkInput, PlaneShape, SparsePlanes, Symmetry,
};
use crate::game::Side;
use crate::game::hive::{Cell, GameType, Hive, Move, PieceKind, Position};
use layout::Layout;
use policy::PolicyIndexProblem;

/// How Hive is shown to a network.
#[derive(Debug, Clone)]
pub struct HiveEncoding {
    game: Hive,
    frame: u8,
}

impl HiveEncoding {
    /// Frames that can be used: from what holds an opening to the whole torus.
    pub const FRAMES: RangeInclusive<u8> = 8..=32;
    /// The frame unless told otherwise: held every one of 267,972 positions of human games.
    pub const FRAME_DEFAULT: u8 = 16;
    /// Number of input planes.
    pub const PLANE_COUNT: usize = 24;
    /// Number of policy indices: six directions and "on top", 28 movers, 28 references.
    pub const POLICY_SIZE: usize = 7 * 28 * 28;
    /// The index of a pass: the queen on top of herself, which no other move can be once a piece is in play.
    pub const PASS_INDEX: u16 = 6 * 28 * 28;

    /// Makes the encoding of this game in a square of `frame` cells, clamped to 8..=32.
    #[must_use]
    pub fn new(game: Hive, frame: u8) -> Self {
        Self { game, frame: frame.clamp(*Self::FRAMES.start(), *Self::FRAMES.end()) }
    }

    /// Returns which expansions the game of a packed position has, as far as the bytes tell; they are not checked.
    #[must_use]
    pub fn packed_game_type(&self, packed: &[u8]) -> GameType {
        packed::game_type_of(self.game.rules().game_type, packed)
    }

    /// Returns where `cell` lies in the planes of `position`, `row * frame + column`; `None` if outside the frame.
    #[must_use]
    pub fn frame_cell(&self, position: &Position, cell: Cell) -> Option<u16> {
        Layout::new(position, self.frame).frame_cell(cell)
    }

    /// Returns whether every piece in play lies inside the frame.
    #[must_use]
    pub fn fits(&self, position: &Position) -> bool {
        let layout = Layout::new(position, self.frame);
        layout.width <= self.frame && layout.height <= self.frame
    }

    fn put_move_cells(
        position: &Position,
        layout: &Layout,
        policy_indices: &[u16],
        cells: &mut Vec<MoveCells>,
    ) -> Result<(), DecodeError> {
        cells.reserve(policy_indices.len());
        for &policy_index in policy_indices {
            let of_index = policy::cells_of(position, layout, policy_index);
            let refused =
                |problem: PolicyIndexProblem| DecodeError::PolicyIndex { policy_index, reason: problem.to_string() };
            cells.push(of_index.map_err(refused)?);
        }
        Ok(())
    }
}

/// Appends the hive and the ring of empty cells around it; the first cell of an empty board.
fn put_active_cells(position: &Position, layout: &Layout, cells: &mut Vec<u16>) {
    let occupied = position.occupied();
    if occupied.is_empty() {
        cells.extend(layout.frame_cell(Cell::ORIGIN));
    } else {
        cells.extend(layout.frame_cells(&occupied.union(&occupied.neighbours())));
    }
}

impl Encoding for HiveEncoding {
    type Game = Hive;

    fn game(&self) -> &Hive {
        &self.game
    }

    fn plane_shape(&self) -> PlaneShape {
        let side = usize::from(self.frame);
        PlaneShape { planes: Self::PLANE_COUNT, rows: side, columns: side }
    }

    fn policy_size(&self) -> usize {
        Self::POLICY_SIZE
    }

    fn placement_kinds(&self) -> usize {
        PieceKind::ALL.len()
    }

    /// Ply and pieces in hand.
    fn feature_count(&self) -> usize {
        Self::PLANE_COUNT - planes::PLY
    }

    fn uniform_planes(&self) -> &'static [u8] {
        &planes::UNIFORM
    }

    fn symmetry_count(&self) -> u8 {
        symmetry::COUNT
    }

    fn neighbourhood(&self) -> Neighbourhood {
        Neighbourhood::Hexagon
    }

    fn active_cells(&self, position: &Position, cells: &mut Vec<u16>) {
        put_active_cells(position, &Layout::new(position, self.frame), cells);
    }

    fn show(&self, position: &Position, planes: &mut SparsePlanes) {
        planes::show(position, &Layout::new(position, self.frame), planes);
    }

    /// Pieces around the own queen and around the other.
    fn ending_scales(&self) -> &'static [u8] {
        &[6, 6]
    }

    fn ending(&self, last: &Position, side: Side) -> [u8; ENDING_COUNT_MAX] {
        let count = |side| last.queen_neighbour_count(side) as u8;
        [count(side), count(side.opponent()), 0, 0]
    }

    fn moved_piece(&self, position: &Position, mv: Move) -> Option<u8> {
        mv.piece().filter(|piece| position.is_on_board(*piece)).map(|piece| piece.index() as u8)
    }

    fn put_pieces(&self, position: &Position, pieces: &mut Vec<(u8, u16)>) {
        let layout = Layout::new(position, self.frame);
        let on_top = position.pieces().filter_map(|piece| {
            let cell = position.cell_of(piece).filter(|cell| position.top(*cell) == Some(piece))?;
            Some((piece.index() as u8, layout.frame_cell(cell)?))
        });
        pieces.extend(on_top);
    }

    fn policy_indices(&self, position: &Position, moves: &[Move], policy_indices: &mut Vec<u16>) {
        policy::indices_of(position, &Layout::new(position, self.frame), moves, policy_indices);
    }

    fn move_cells(
        &self,
        position: &Position,
        policy_indices: &[u16],
        cells: &mut Vec<MoveCells>,
    ) -> Result<(), DecodeError> {
        Self::put_move_cells(position, &Layout::new(position, self.frame), policy_indices, cells)
    }

    fn lay_out(
        &self,
        position: &Position,
        policy_indices: &[u16],
        input: &mut NetworkInput,
    ) -> Result<(), DecodeError> {
        let layout = Layout::new(position, self.frame);
        Self::put_move_cells(position, &layout, policy_indices, &mut input.cells)?;
        planes::show(position, &layout, &mut input.planes);
        put_active_cells(position, &layout, &mut input.active_cells);
        Ok(())
    }

    fn transform(&self, position: &Position, symmetry: Symmetry) -> Position {
        symmetry::turn_position(&self.game, position, symmetry)
    }

    fn transform_move(&self, _position: &Position, symmetry: Symmetry, mv: Move) -> Move {
        symmetry::turn_move(mv, symmetry)
    }

    fn pack(&self, position: &Position, bytes: &mut Vec<u8>) {
        packed::pack(self.game.rules().game_type, position, bytes);
    }

    fn unpack(&self, bytes: &[u8], position: &mut Position) -> Result<(), DecodeError> {
        packed::unpack(self.game.rules(), bytes, position)
            .map_err(|error| DecodeError::Position { byte_count: bytes.len(), reason: error.to_string() })
    }
}
