//! Whether a table agrees with the rules one ply on: together with the distances, which grow by one from ply to ply, a table
//! that agrees everywhere is right.

use shared::game::dama::{Board, Dama, Position, fen};
use shared::game::{Game, Side};

use crate::set::{ClassTable, TableSet};
use crate::value::TableValue;

/// A position whose value does not follow from those that its moves lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} is {}, by its moves {}", fen::write(.board, *.side), text_of(.held), text_of(.expected))]
pub struct Inconsistency {
    /// The pieces.
    pub board: Board,
    /// The side to move.
    pub side: Side,
    /// What the table holds.
    pub held: Option<TableValue>,
    /// What follows from the moves; `None` if one of them leads out of the tables.
    pub expected: Option<TableValue>,
}

/// Returns a position of the table: that at `number`, or the next one, counted round. `None` if the table is empty.
#[must_use]
pub fn random_position(table: &ClassTable, number: u64) -> Option<(Board, Side)> {
    let (class, count) = (table.class(), table.bytes().len());
    let first = (number % count.max(1) as u64) as usize;
    (first..count).chain(0..first).find_map(|index| class.position(index))
}

/// Looks a position up, plays all its moves by the rules, and compares.
///
/// # Errors
/// [`Inconsistency`] if the value is another than follows from the moves.
pub fn check_one_ply(tables: &TableSet, board: &Board, side: Side) -> Result<TableValue, Inconsistency> {
    let held = tables.value(board, side);
    let expected = expected(tables, board, side);
    held.filter(|held| expected == Some(*held)).ok_or(Inconsistency { board: *board, side, held, expected })
}

fn text_of(value: &Option<TableValue>) -> String {
    value.map_or_else(|| "in no table".to_owned(), |value| value.to_string())
}

fn expected(tables: &TableSet, board: &Board, side: Side) -> Option<TableValue> {
    let (dama, position) = (Dama::default(), Position::new(*board, side, 0));
    let mut moves = vec![];
    dama.legal_moves(&position, &mut moves);
    let (mut win, mut loss, mut is_drawn): (Option<u8>, u8, bool) = (None, 0, false);
    for mv in moves {
        let mut after = position.clone();
        dama.play(&mut after, mv);
        let value = tables.value(after.board(), after.side_to_move())?;
        match value.before(after.quiet_ply_count() == 0) {
            TableValue::Win(distance) => win = Some(win.map_or(distance, |known| known.min(distance))),
            TableValue::Loss(distance) => loss = loss.max(distance),
            TableValue::Draw => is_drawn = true,
        }
    }
    Some(match win {
        Some(distance) => TableValue::Win(distance),
        None if is_drawn => TableValue::Draw,
        None => TableValue::Loss(loss),
    })
}
