//! What a position of Hive seems worth: how far the queens are surrounded, and mobility.

use super::moves::{Count, Generator};
use super::{Cell, Hive, Position};
use crate::game::heuristic::squashed;
use crate::game::{Heuristic, Side, Value};

/// Score of a queen with so many neighbours: each neighbour brings the end nearer than the one before.
const SURROUNDED: [f32; 7] = [0.0, 0.1, 0.3, 0.6, 1.1, 2.2, 4.0];
/// Score of a move more to choose from than the opponent has.
const MOVE: f32 = 0.01;

impl Heuristic for Hive {
    /// Neighbours of the opponent's queen less those of the own, and moves of the side to move less those that the
    /// opponent would have in its place.
    fn heuristic_value(&self, position: &mut Position) -> Value {
        let side = position.side_to_move();
        let danger = |side: Side| SURROUNDED[position.queen_neighbour_count(side) as usize];
        let ahead = danger(side.opponent()) - danger(side);
        let own_moves = self.moves_of_anyone(position);
        let undo = position.bring(None, Cell::ORIGIN);
        let their_moves = self.moves_of_anyone(position);
        position.take_back(undo);
        squashed(ahead + MOVE * (own_moves as f32 - their_moves as f32))
    }
}

impl Hive {
    /// Returns the number of moves of the side to move, whether the game is over or not.
    fn moves_of_anyone(&self, position: &Position) -> usize {
        let mut count = Count::default();
        Generator::new(position).generate(self.rules(), &mut count);
        count.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Game;

    fn position(moves: &str) -> (Hive, Position) {
        let hive = Hive::default();
        let mut position = hive.initial_position();
        for text in moves.split(';') {
            let mv = hive.parse_move(&position, text).expect("a legal move");
            hive.play(&mut position, mv);
        }
        (hive, position)
    }

    #[test]
    fn a_surrounded_queen_is_bad_for_her_side() {
        // Black's queen has three neighbours, White's one; Black is to move.
        let text = "wS1;bS1 wS1-;wQ -wS1;bQ bS1-;wA1 -wQ;bA1 bQ-;wA1 bQ/";
        let (hive, mut after) = position(text);
        let before = hive.hash(&after);
        let for_black = hive.heuristic_value(&mut after).get();
        assert_eq!(hive.hash(&after), before, "the position is as it was");
        let undo = after.bring(None, Cell::ORIGIN);
        let for_white = hive.heuristic_value(&mut after).get();
        assert!(for_black < -0.2 && for_white > 0.2, "{for_black} {for_white}");
        after.take_back(undo);
    }
}
