//! Italian draughts for a network: 13 planes of 8 x 8, and two ways to number moves.
//!
//! What the planes and indices mean is described in `docs/encoding-dama.md`. Everything is seen from the side to move: for
//! Black the board is turned by 180 degrees and the colours are changed. That is the game's only symmetry, so there is
//! none left to turn samples by.

mod packed;
mod policy;

use super::{DecodeError, ENDING_COUNT_MAX, Encoding, MoveCells, Neighbourhood, PlaneShape, SparsePlanes, Symmetry};
use crate::game::Side;
use crate::game::dama::{Board, Dama, Move, Position, Square};

pub use policy::PolicyCoding;

/// Cells of one plane.
const CELL_COUNT: usize = 64;

/// How Italian draughts is shown to a network.
#[derive(Debug, Clone, Copy)]
pub struct DamaEncoding {
    game: Dama,
    coding: PolicyCoding,
}

impl DamaEncoding {
    /// Number of input planes: four a position of three, and the side to move.
    pub const PLANE_COUNT: usize = 13;
    /// The plane that is 1 all over if White is to move, else 0.
    pub const SIDE_PLANE: usize = 12;

    /// Makes the encoding of this game with moves numbered so.
    #[must_use]
    pub const fn new(game: Dama, coding: PolicyCoding) -> Self {
        Self { game, coding }
    }
}

/// Returns the board as the side to move sees it: its own pieces are White's.
fn seen(board: &Board, side: Side) -> Board {
    match side {
        Side::White => *board,
        Side::Black => board.turned(),
    }
}

/// Returns where a square of the turned board lies in a plane, `row * 8 + column`.
const fn cell(square: Square) -> u16 {
    square.row() as u16 * 8 + square.column() as u16
}

impl Encoding for DamaEncoding {
    type Game = Dama;

    fn game(&self) -> &Dama {
        &self.game
    }

    fn plane_shape(&self) -> PlaneShape {
        PlaneShape { planes: Self::PLANE_COUNT, rows: 8, columns: 8 }
    }

    fn policy_size(&self) -> usize {
        self.coding.size()
    }

    fn is_one_to_one(&self) -> bool {
        self.coding == PolicyCoding::Lossless
    }

    fn placement_kinds(&self) -> usize {
        1
    }

    /// The side to move.
    fn feature_count(&self) -> usize {
        Self::PLANE_COUNT - Self::SIDE_PLANE
    }

    fn uniform_planes(&self) -> &'static [u8] {
        &[Self::SIDE_PLANE as u8]
    }

    fn symmetry_count(&self) -> u8 {
        1
    }

    fn neighbourhood(&self) -> Neighbourhood {
        Neighbourhood::Diagonal
    }

    /// The dark squares.
    fn active_cells(&self, _position: &Position, cells: &mut Vec<u16>) {
        cells.extend(Square::of_set(u32::MAX).map(cell));
    }

    fn show(&self, position: &Position, planes: &mut SparsePlanes) {
        let side = position.side_to_move();
        let [before, two_before] = position.earlier_boards();
        for (index, board) in [position.board(), before, two_before].into_iter().enumerate() {
            let board = seen(board, side);
            let sets =
                [board.men(Side::White), board.kings(Side::White), board.men(Side::Black), board.kings(Side::Black)];
            for (plane, set) in (index * 4..).zip(sets) {
                for square in Square::of_set(set) {
                    planes.put(plane * CELL_COUNT + usize::from(cell(square)), 1.0);
                }
            }
        }
        planes.end(&[f32::from(u8::from(side == Side::White))]);
    }

    /// Own men and kings, then those of the other.
    fn ending_scales(&self) -> &'static [u8] {
        &[Board::PIECE_COUNT_MAX as u8; 4]
    }

    fn ending(&self, last: &Position, side: Side) -> [u8; ENDING_COUNT_MAX] {
        let (board, other) = (last.board(), side.opponent());
        [board.men(side), board.kings(side), board.men(other), board.kings(other)].map(|men| men.count_ones() as u8)
    }

    fn policy_indices(&self, position: &Position, moves: &[Move], policy_indices: &mut Vec<u16>) {
        let side = position.side_to_move();
        policy_indices
            .extend(moves.iter().map(|mv| self.coding.index(if side == Side::White { *mv } else { mv.turned() })));
    }

    fn move_cells(
        &self,
        position: &Position,
        policy_indices: &[u16],
        cells: &mut Vec<MoveCells>,
    ) -> Result<(), DecodeError> {
        let board = seen(position.board(), position.side_to_move());
        for &policy_index in policy_indices {
            let ends = self.coding.ends(&board, policy_index);
            let (source, target) = ends.ok_or_else(|| DecodeError::PolicyIndex {
                policy_index,
                reason: "there is no piece to move so".into(),
            })?;
            cells.push(MoveCells::Movement { source: cell(source), target: cell(target) });
        }
        Ok(())
    }

    fn transform(&self, position: &Position, _symmetry: Symmetry) -> Position {
        position.clone()
    }

    fn transform_move(&self, _position: &Position, _symmetry: Symmetry, mv: Move) -> Move {
        mv
    }

    fn pack(&self, position: &Position, bytes: &mut Vec<u8>) {
        packed::pack(position, bytes);
    }

    fn unpack(&self, bytes: &[u8], position: &mut Position) -> Result<(), DecodeError> {
        packed::unpack(bytes, position)
            .map_err(|error| DecodeError::Position { byte_count: bytes.len(), reason: error.to_string() })
    }
}
