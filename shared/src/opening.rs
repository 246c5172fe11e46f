//! Random openings for gates and matches: different positions, each played twice with colours swapped.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::encoding::{Encoding, Symmetry};
use crate::game::Game;

/// Tries to find one more opening that differs from all before.
const TRIES_MAX: u32 = 200;

/// Returns `count` openings of `ply_count` random legal plies, and how many different positions they lead to.
///
/// No opening ends the game. Positions that are the same up to a symmetry of the board count as one. If the game has
/// too few, some occur again. The same seed gives the same openings.
#[must_use]
pub fn random_openings<E: Encoding>(encoding: &E, count: u32, ply_count: u32, seed: u64) -> (Vec<Vec<String>>, u32) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut openings: Vec<Vec<String>> = Vec::new();
    let mut seen = HashSet::new();
    let mut is_exhausted = false;
    while openings.len() < count as usize {
        let tries = if is_exhausted { 0 } else { TRIES_MAX };
        let found = (0..tries)
            .filter_map(|_| random_opening(encoding, ply_count, &mut rng))
            .find(|(_, hash)| seen.insert(*hash));
        match found {
            Some((moves, _)) => openings.push(moves),
            // Nothing new after so many tries: from here on those found come again, in their order.
            None if seen.is_empty() => openings.push(Vec::new()),
            None => {
                is_exhausted = true;
                openings.push(openings[openings.len() % seen.len()].clone());
            }
        }
    }
    (openings, seen.len().max(usize::from(count > 0)) as u32)
}

/// Plays random plies; `None` if the game ends on the way.
fn random_opening<E: Encoding>(encoding: &E, ply_count: u32, rng: &mut Pcg64) -> Option<(Vec<String>, u64)> {
    let game = encoding.game();
    let mut position = game.initial_position();
    let mut moves = Vec::new();
    let mut texts = Vec::new();
    for _ in 0..ply_count {
        moves.clear();
        game.legal_moves(&position, &mut moves);
        if moves.is_empty() {
            return None;
        }
        let mv = moves[rng.random_range(0..moves.len())];
        texts.push(game.format_move(&position, mv));
        game.play(&mut position, mv);
    }
    if game.outcome(&position).is_some() {
        return None;
    }
    let turned = (0..encoding.symmetry_count()).map(|number| encoding.transform(&position, Symmetry(number)));
    turned.map(|position| game.hash(&position)).min().map(|hash| (texts, hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::tictactoe::TicTacToeEncoding;
    use crate::game::tictactoe::TicTacToe;

    #[test]
    fn openings_are_different_positions_until_the_game_has_no_more() {
        let encoding = TicTacToeEncoding::new(TicTacToe);
        // Two plies of tic-tac-toe lead to 12 positions up to symmetry.
        let (openings, distinct) = random_openings(&encoding, 20, 2, 7);
        assert_eq!((openings.len(), distinct), (20, 12));
        assert_eq!(openings[12], openings[0]);
        assert_eq!(random_openings(&encoding, 20, 2, 7).0, openings);
        assert_ne!(random_openings(&encoding, 20, 2, 8).0, openings);
    }

    #[test]
    fn no_opening_is_a_finished_game() {
        let encoding = TicTacToeEncoding::new(TicTacToe);
        let (openings, _) = random_openings(&encoding, 50, 7, 3);
        for opening in &openings {
            let mut position = TicTacToe.initial_position();
            for text in opening {
                let mv = TicTacToe.parse_move(&position, text).expect("legal");
                TicTacToe.play(&mut position, mv);
            }
            assert_eq!((opening.len(), TicTacToe.outcome(&position)), (7, None));
        }
        // A game that is always over by then leaves the start position.
        assert_eq!(random_openings(&encoding, 2, 9, 1), (vec![vec![]; 2], 1));
    }
}
