//! Tic-tac-toe for a network: two planes of 3 x 3, nine moves, eight symmetries.

use super::{DecodeError, Encoding, MoveCells, PlaneShape, SparsePlanes, Symmetry};
use crate::game::Game;
use crate::game::tictactoe::{Position, Square, TicTacToe};

/// Planes: 0 mine, 1 theirs. Policy index = square.
#[derive(Debug, Clone, Copy)]
pub struct TicTacToeEncoding {
    game: TicTacToe,
}

impl TicTacToeEncoding {
    /// Makes the encoding of this game.
    #[must_use]
    pub const fn new(game: TicTacToe) -> Self {
        Self { game }
    }
}

impl Encoding for TicTacToeEncoding {
    type Game = TicTacToe;

    fn game(&self) -> &TicTacToe {
        &self.game
    }

    fn plane_shape(&self) -> PlaneShape {
        PlaneShape { planes: 2, rows: 3, columns: 3 }
    }

    fn policy_size(&self) -> usize {
        9
    }

    fn placement_kinds(&self) -> usize {
        1
    }

    fn symmetry_count(&self) -> u8 {
        8
    }

    fn show(&self, position: &Position, planes: &mut SparsePlanes) {
        let side = self.game.side_to_move(position);
        for (plane, marks) in [position.marks(side), position.marks(side.opponent())].into_iter().enumerate() {
            for square in (0..9).filter(|square| marks >> square & 1 == 1) {
                planes.put(plane * 9 + square, 1.0);
            }
        }
        planes.end(&[]);
    }

    fn policy_indices(&self, _position: &Position, moves: &[Square], policy_indices: &mut Vec<u16>) {
        policy_indices.extend(moves.iter().map(|square| square.index() as u16));
    }

    fn move_cells(
        &self,
        _position: &Position,
        policy_indices: &[u16],
        cells: &mut Vec<MoveCells>,
    ) -> Result<(), DecodeError> {
        for &policy_index in policy_indices {
            if policy_index >= 9 {
                return Err(DecodeError::PolicyIndex { policy_index, reason: "squares are 0..9".into() });
            }
            cells.push(MoveCells::Placement { kind: 0, target: policy_index });
        }
        Ok(())
    }

    fn transform(&self, position: &Position, symmetry: Symmetry) -> Position {
        let turned = [crate::game::Side::White, crate::game::Side::Black].map(|side| {
            let marks = position.marks(side);
            (0..9)
                .filter(|square| marks >> square & 1 == 1)
                .fold(0, |turned, square| turned | 1 << turn(square, symmetry))
        });
        Position::from_marks(turned[0], turned[1]).expect("a turned position has the same marks")
    }

    fn transform_move(&self, _position: &Position, symmetry: Symmetry, mv: Square) -> Square {
        Square::new(turn(mv.index() as u8, symmetry)).expect("a turned square is a square")
    }

    fn pack(&self, position: &Position, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&position.marks(crate::game::Side::White).to_le_bytes());
        bytes.extend_from_slice(&position.marks(crate::game::Side::Black).to_le_bytes());
    }

    fn unpack(&self, bytes: &[u8], position: &mut Position) -> Result<(), DecodeError> {
        let error = |reason: &str| DecodeError::Position { byte_count: bytes.len(), reason: reason.into() };
        let &[a, b, c, d] = bytes else { return Err(error("expected 4 bytes")) };
        *position = Position::from_marks(u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]))
            .ok_or_else(|| error("the marks contradict each other"))?;
        Ok(())
    }
}

/// Turns a square by `symmetry % 4` quarter turns, mirrored first from 4 on.
fn turn(square: u8, symmetry: Symmetry) -> u8 {
    let (mut row, mut column) = (square / 3, square % 3);
    if symmetry.0 >= 4 {
        column = 2 - column;
    }
    for _ in 0..symmetry.0 % 4 {
        (row, column) = (column, 2 - row);
    }
    row * 3 + column
}
