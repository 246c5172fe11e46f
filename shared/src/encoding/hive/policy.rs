//! Moves and their policy indices: `(direction * 28 + slot of the mover) * 28 + slot of the reference`.
//!
//! The reference is the lowest slot among the pieces that name the destination, the mover aside: for an empty cell every
//! piece in the stacks around it, buried ones too; for an occupied cell, direction "on top", every piece below.

use super::HiveEncoding;
use super::MoveCells;
use super::layout::Layout;
use crate::game::hive::{Cell, Direction, Move, Piece, Position};

/// The direction "on top".
const ON_TOP: u16 = 6;

/// Why an index names no move that could exist in a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum PolicyIndexProblem {
    #[error("indices are 0..5488")]
    OutOfRange,
    #[error("no such slot")]
    NoSlot,
    #[error("the opponent's piece is in hand")]
    OpponentInHand,
    #[error("the piece is not in play")]
    NotInPlay,
    #[error("mover and reference are one piece")]
    OnePiece,
    #[error("the reference is in hand")]
    ReferenceInHand,
    #[error("a piece cannot be placed on another")]
    PlacedOnTop,
    #[error("the cell is occupied")]
    Occupied,
}

/// Appends the index of each move, in their order.
pub(super) fn indices_of(position: &Position, layout: &Layout, moves: &[Move], policy_indices: &mut Vec<u16>) {
    let mut references = References::new(layout);
    policy_indices.extend(moves.iter().map(|mv| match mv.piece() {
        None => HiveEncoding::PASS_INDEX,
        Some(piece) => {
            references.set_mover(position, layout, piece);
            references.index_of(mv.target())
        }
    }));
}

/// Returns the cells of the planes that an index touches, or why there is no such move.
pub(super) fn cells_of(
    position: &Position,
    layout: &Layout,
    policy_index: u16,
) -> Result<MoveCells, PolicyIndexProblem> {
    let (direction, mover_slot, reference_slot) = parts_of(policy_index)?;
    if policy_index == HiveEncoding::PASS_INDEX && position.ply() > 0 {
        return Ok(MoveCells::Nothing);
    }
    let target = target_of(position, layout, (direction, mover_slot, reference_slot))?;
    let Some(target) = layout.frame_cell(target) else { return Ok(MoveCells::Nothing) };
    if let Some(source) = layout.cell_in(mover_slot) {
        let source = layout.frame_cell(source);
        return Ok(source.map_or(MoveCells::Nothing, |source| MoveCells::Movement { source, target }));
    }
    let mover = layout.piece_in(mover_slot).ok_or(PolicyIndexProblem::NoSlot)?;
    if mover.side() != layout.side {
        return Err(PolicyIndexProblem::OpponentInHand);
    }
    if !position.is_in_play(mover) {
        return Err(PolicyIndexProblem::NotInPlay);
    }
    Ok(MoveCells::Placement { kind: mover.kind() as u8, target })
}

/// Returns direction, slot of the mover, and slot of the reference.
fn parts_of(policy_index: u16) -> Result<(u16, u8, u8), PolicyIndexProblem> {
    let direction = policy_index / (28 * 28);
    if direction > ON_TOP {
        return Err(PolicyIndexProblem::OutOfRange);
    }
    Ok((direction, (policy_index / 28 % 28) as u8, (policy_index % 28) as u8))
}

/// Returns the destination that an index names.
fn target_of(
    position: &Position,
    layout: &Layout,
    (direction, mover_slot, reference_slot): (u16, u8, u8),
) -> Result<Cell, PolicyIndexProblem> {
    if reference_slot == mover_slot {
        let is_first = direction == ON_TOP && position.ply() == 0;
        return if is_first { Ok(Cell::ORIGIN) } else { Err(PolicyIndexProblem::OnePiece) };
    }
    let cell = layout.cell_in(reference_slot).ok_or(PolicyIndexProblem::ReferenceInHand)?;
    if direction == ON_TOP {
        let is_on_board = layout.cell_in(mover_slot).is_some();
        return if is_on_board { Ok(cell) } else { Err(PolicyIndexProblem::PlacedOnTop) };
    }
    let target = cell.step(usize::from(direction));
    if position.height(target) > 0 { Err(PolicyIndexProblem::Occupied) } else { Ok(target) }
}

/// The lowest slot in each stack, eight times over to leave room for a direction; `EMPTY` where no piece is.
struct References {
    lowest: [u8; Cell::COUNT],
    mover: Option<Piece>,
    mover_slot: u16,
    /// The mover's cell and what stood in `lowest` there with the mover counted.
    changed: Option<(Cell, u8)>,
}

const EMPTY: u8 = 31 * 8;

impl References {
    fn new(layout: &Layout) -> Self {
        let mut lowest = [EMPTY; Cell::COUNT];
        for slot in 0..28 {
            if let Some(cell) = layout.cell_in(slot) {
                let entry = &mut lowest[cell.index()];
                *entry = (*entry).min(slot * 8);
            }
        }
        Self { lowest, mover: None, mover_slot: 0, changed: None }
    }

    /// Takes `mover` out of the stacks and puts the one before back.
    fn set_mover(&mut self, position: &Position, layout: &Layout, mover: Piece) {
        if self.mover == Some(mover) {
            return;
        }
        if let Some((cell, lowest)) = self.changed.take() {
            self.lowest[cell.index()] = lowest;
        }
        self.mover = Some(mover);
        let Some(cell) = position.cell_of(mover) else {
            self.mover_slot = u16::from(layout.hand_slot(mover.kind()));
            return;
        };
        self.mover_slot = u16::from(layout.slot_of(mover));
        self.changed = Some((cell, self.lowest[cell.index()]));
        let others = position.stack(cell).filter(|piece| *piece != mover);
        self.lowest[cell.index()] = others.map(|piece| layout.slot_of(piece) * 8).min().unwrap_or(EMPTY);
    }

    /// Returns the index of the mover's way to `target`.
    fn index_of(&self, target: Cell) -> u16 {
        let below = self.lowest[target.index()];
        if below < EMPTY {
            return index(ON_TOP, self.mover_slot, u16::from(below / 8));
        }
        // `direction` leads from the reference to the target.
        let around = Direction::ALL
            .map(|direction| self.lowest[target.neighbour(direction.opposite()).index()] | direction as u8);
        let named = u16::from(around.into_iter().fold(u8::MAX, u8::min));
        if named < u16::from(EMPTY) {
            index(named % 8, self.mover_slot, named / 8)
        } else {
            index(ON_TOP, self.mover_slot, self.mover_slot)
        }
    }
}

const fn index(direction: u16, mover_slot: u16, reference_slot: u16) -> u16 {
    (direction * 28 + mover_slot) * 28 + reference_slot
}
