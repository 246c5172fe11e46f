//! What a position of draughts seems worth: material, what must be captured now, and mobility.

use super::board::Board;
use super::moves::{Sink, find_moves, step_count};
use super::mv::Move;
use super::{Dama, Position};
use crate::game::heuristic::squashed;
use crate::game::{Heuristic, Value};

/// A man ahead, as a score.
const MAN: f32 = 0.6;
/// A king ahead. No man can take it, and it goes both ways: Italian books count it for about three men.
const KING: f32 = 1.8;
/// A step more to choose from than the opponent has.
const STEP: f32 = 0.03;

impl Heuristic for Dama {
    /// Men, kings and possible steps of the side to move less those of its opponent. Captures are forced, so what the
    /// best legal one takes counts as taken.
    fn heuristic_value(&self, position: &mut Position) -> Value {
        let (board, side) = (position.board(), position.side_to_move());
        let opponent = side.opponent();
        let mut gain = Gain { board, best: 0.0 };
        find_moves(board, side, &mut gain);
        let ahead = material(board, board.pieces(side)) - material(board, board.pieces(opponent)) + gain.best;
        let freedom = step_count(board, side) as f32 - step_count(board, opponent) as f32;
        squashed(ahead + STEP * freedom)
    }
}

fn material(board: &Board, pieces: u32) -> f32 {
    let count = |set: u32| set.count_ones() as f32;
    MAN * count(pieces & !board.kings) + KING * count(pieces & board.kings)
}

/// Finds what the best legal capture takes.
struct Gain<'a> {
    board: &'a Board,
    best: f32,
}

impl Sink for Gain<'_> {
    fn step(&mut self, _: Move) {}

    fn steps<const DIRECTION: usize>(&mut self, _: u32) {}

    fn capture(&mut self, route: &[u16]) {
        let captured = route.last().map_or(0, |chain| Move::new(*chain).captured());
        self.best = self.best.max(material(self.board, captured));
    }

    fn forget_captures(&mut self) {
        self.best = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Game;
    use crate::game::dama::fen;

    fn value(text: &str) -> f32 {
        Dama::default().heuristic_value(&mut fen::read(text).expect("a position")).get()
    }

    #[test]
    fn the_start_is_even_and_both_sides_see_a_turned_board_alike() {
        assert_eq!(Dama::default().heuristic_value(&mut Dama::default().initial_position()), Value::DRAW);
        assert_eq!(value("W:W21,22:B5,6,7"), value("B:W26,27,28:B11,12"));
    }

    #[test]
    fn a_man_more_is_better_and_a_king_better_still() {
        let (even, man, king) = (value("W:W21,31:B1,2"), value("W:W21,30,31:B1,2"), value("W:W21,K30,31:B1,2"));
        assert!(even < man && man < king, "{even} {man} {king}");
        assert!(value("B:W21,30,31:B1,2") < 0.0, "seen from the other side it is worse");
    }

    #[test]
    fn what_must_be_captured_counts_as_taken() {
        assert!(value("W:W21,22:B18,3") > value("W:W21,22:B14,3"));
    }
}
