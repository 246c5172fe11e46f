//! What people know of a game without a network: the contract of the evaluations written by hand.

use super::{Game, Value};

/// A game whose positions can be valued by a few rules of thumb, as the search preset `grandmaster` does.
pub trait Heuristic: Game {
    /// Returns what `position`, which goes on, seems worth to its side to move; never a sure win or loss.
    ///
    /// Tries moves out on `position`, and leaves it as it was.
    fn heuristic_value(&self, position: &mut Self::Position) -> Value;
}

/// Squashes a score of any size into a value: `score / (1 + |score|)`, so a score of 1 is worth half a win.
pub(super) fn squashed(score: f32) -> Value {
    Value::new(score / (1.0 + score.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_keep_their_order_and_sign_and_are_never_certain() {
        let values = [-1e6, -1.0, 0.0, 0.5, 1.0, 20.0].map(|score| squashed(score).get());
        assert!(values.is_sorted() && values[0] > -1.0 && values[5] < 1.0, "{values:?}");
        assert_eq!((values[1], values[2], values[4]), (-0.5, 0.0, 0.5));
    }
}
