//! Counting the ways to play on, to compare the rules with other programs.

use super::board::Board;
use super::moves::{Results, WayCount, Ways, find_moves};
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
    below(board, side, &mut lists, counting)
}

fn below(board: &Board, side: Side, lists: &mut [Vec<Move>], counting: Counting) -> u64 {
    let [moves, deeper @ ..] = lists else { return 1 };
    moves.clear();
    match counting {
        Counting::Paths if deeper.is_empty() => {
            let mut count = WayCount::default();
            find_moves(board, side, &mut count);
            return count.0;
        }
        Counting::Paths => find_moves(board, side, &mut Ways(moves)),
        Counting::Results => find_moves(board, side, &mut Results::new(moves)),
    }
    if deeper.is_empty() {
        return moves.len() as u64;
    }
    let count = |mv: &Move| {
        let mut after = *board;
        after.play(side, *mv);
        below(&after, side.opponent(), deeper, counting)
    };
    moves.iter().map(count).sum()
}
