//! Random endgames to begin games from: few pieces, none of them to be taken at once, about even.

use std::ops::RangeInclusive;

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::board::{Board, LAST_ROWS};
use super::moves::{Results, find_moves};
use super::mv::Move;
use crate::game::Side;

/// Pieces of a side.
const PIECE_COUNTS: RangeInclusive<u32> = 2..=6;
/// Chance of a piece to be a king.
const KING_SHARE: f64 = 1.0 / 3.0;
/// What a piece is worth, in halves of a man: no man can take a king.
const MAN_WORTH: u32 = 2;
const KING_WORTH: u32 = 3;
/// Most that one side's pieces may be worth more than the other's: one man.
const WORTH_DIFFERENCE_MAX: u32 = MAN_WORTH;

/// Draws pieces and side to move until they make an endgame: about one try in seven does. The same seed gives the same.
pub(super) fn random_endgame(seed: u64) -> (Board, Side) {
    let mut random = Pcg64::seed_from_u64(seed);
    loop {
        let board = draw(&mut random);
        let side = if random.random() { Side::White } else { Side::Black };
        if is_even(&board) && is_quiet(&board, side) {
            return (board, side);
        }
    }
}

/// Puts pieces on free squares, men nowhere on the row where they would be kings.
fn draw(random: &mut impl Rng) -> Board {
    let mut board = Board::default();
    for side in [Side::White, Side::Black] {
        for _ in 0..random.random_range(PIECE_COUNTS) {
            let is_king = random.random_bool(KING_SHARE);
            let free = board.empty() & if is_king { u32::MAX } else { !LAST_ROWS[side.index()] };
            let square = nth_of(free, random.random_range(0..free.count_ones()));
            board.pieces[side.index()] |= square;
            board.kings |= if is_king { square } else { 0 };
        }
    }
    board
}

/// Returns the square of `set` with so many below it.
fn nth_of(mut set: u32, below: u32) -> u32 {
    for _ in 0..below {
        set &= set - 1;
    }
    set & set.wrapping_neg()
}

fn is_even(board: &Board) -> bool {
    let worth = |side| board.men(side).count_ones() * MAN_WORTH + board.kings(side).count_ones() * KING_WORTH;
    worth(Side::White).abs_diff(worth(Side::Black)) <= WORTH_DIFFERENCE_MAX
}

/// Returns whether `side` has a move, and neither side could take anything if it were its turn.
fn is_quiet(board: &Board, side: Side) -> bool {
    let mut moves: Vec<Move> = Vec::new();
    let mut find = |side| {
        moves.clear();
        find_moves(board, side, &mut Results::new(&mut moves));
        (moves.is_empty(), moves.iter().any(|mv| mv.is_capture()))
    };
    let (has_no_move, can_take) = find(side);
    !has_no_move && !can_take && !find(side.opponent()).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endgames_are_even_quiet_and_different() {
        let endgames: Vec<(Board, Side)> = (0..500).map(random_endgame).collect();
        for (board, side) in &endgames {
            let kings = board.kings(Side::White) | board.kings(Side::Black);
            let [white, black] = [Side::White, Side::Black].map(|side| board.pieces(side));
            assert_eq!(Board::new(white, black, kings).as_ref(), Ok(board));
            assert!(is_even(board) && is_quiet(board, *side), "{board:?}");
            assert!(PIECE_COUNTS.contains(&white.count_ones()) && PIECE_COUNTS.contains(&black.count_ones()));
        }
        let different: std::collections::HashSet<&(Board, Side)> = endgames.iter().collect();
        assert_eq!(different.len(), endgames.len());
        let share = |is_so: fn(&(Board, Side)) -> bool| endgames.iter().filter(|it| is_so(it)).count();
        assert!((200..300).contains(&share(|(_, side)| *side == Side::White)), "either side is to move");
        assert_eq!(random_endgame(7), random_endgame(7));
    }

    #[test]
    fn an_endgame_is_found_soon() {
        let mut random = Pcg64::seed_from_u64(1);
        let tries: Vec<Board> = (0..10_000).map(|_| draw(&mut random)).collect();
        let found = tries.iter().filter(|board| is_even(board) && is_quiet(board, Side::White)).count();
        assert!(found > 1_000, "{found} of 10,000 tries are endgames");
    }
}
