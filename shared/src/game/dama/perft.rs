//! Counting the ways to play on, to compare the rules with other programs.

use super::board::Board;
use super::moves::{Results, WayCount, Ways, find, side_of};
use super::mv::Move;
use crate::game::Side;

/// What counts as a way to play on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// Every way to jump is a move of its own, as in published tables.
    Paths,
    /// Ways that lead to the same position are one move.
    Results,
}

/// Returns the number of ways to play on for exactly `depth` plies. No draws; a side without moves has no way.
#[must_use]
pub fn perft(board: &Board, side: Side, depth: u32, counting: Counting) -> u64 {
    let mut lists = vec![Vec::new(); depth as usize];
    match side {
        Side::White => below::<0, 1>(board, &mut lists, counting),
        Side::Black => below::<2, 3>(board, &mut lists, counting),
    }
}

/// Counts for the side that goes forward in these directions, known to the compiler; there is a list for each ply.
fn below<const FIRST: usize, const SECOND: usize>(board: &Board, lists: &mut [Vec<Move>], counting: Counting) -> u64 {
    let [moves, deeper @ ..] = lists else { return 1 };
    moves.clear();
    match counting {
        Counting::Paths if deeper.is_empty() => {
            let mut count = WayCount::default();
            find::<FIRST, SECOND>(board, &mut count);
            return count.0;
        }
        Counting::Paths => find::<FIRST, SECOND>(board, &mut Ways(moves)),
        Counting::Results => find::<FIRST, SECOND>(board, &mut Results::new(moves)),
    }
    if deeper.is_empty() {
        return moves.len() as u64;
    }
    let mut count = 0;
    for mv in moves {
        let mut after = *board;
        after.play(side_of(FIRST), *mv);
        count += match side_of(FIRST) {
            Side::White => below::<2, 3>(&after, deeper, counting),
            Side::Black => below::<0, 1>(&after, deeper, counting),
        };
    }
    count
}
