//! The twelve symmetries of the hexagon: six turns, and six turns after mirroring.

use super::Symmetry;
use crate::game::Game;
use crate::game::hive::{Cell, Hive, HiveRules, Move, Piece, Position};

/// Number of symmetries.
pub(super) const COUNT: u8 = 12;

/// Returns the cell turned about the cell where games start, which stays where it is.
pub(super) fn turn_cell(cell: Cell, symmetry: Symmetry) -> Cell {
    let centre = i32::from(Cell::ORIGIN.q());
    // Linear maps with whole coefficients are at home on the torus.
    let (mut q, mut r) = (i32::from(cell.q()) - centre, i32::from(cell.r()) - centre);
    if symmetry.0 >= 6 {
        (q, r) = (r, q);
    }
    for _ in 0..symmetry.0 % 6 {
        (q, r) = (-r, q + r);
    }
    Cell::from_axial(q + centre, r + centre)
}

/// Returns the move turned.
pub(super) fn turn_move(mv: Move, symmetry: Symmetry) -> Move {
    mv.piece().map_or(mv, |piece| Move::new(piece, turn_cell(mv.target(), symmetry)))
}

/// Returns the position turned, without its history.
pub(super) fn turn_position(game: &Hive, position: &Position, symmetry: Symmetry) -> Position {
    let mut pieces = [(Piece::from_index(0).expect("there is a first piece"), Cell::ORIGIN, 0); Piece::COUNT];
    let mut piece_count = 0;
    for (piece, cell) in position.pieces().filter_map(|piece| Some((piece, position.cell_of(piece)?))) {
        pieces[piece_count] = (piece, turn_cell(cell, symmetry), position.level_of(piece));
        piece_count += 1;
    }
    let mut turned = game.initial_position();
    let rules = HiveRules { game_type: position.game_type(), ..*game.rules() };
    turned
        .rebuild(&rules, &pieces[..piece_count], position.ply(), position.last_moved())
        .expect("a turned position is as possible as the position");
    turned
}
