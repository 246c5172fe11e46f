//! What the rest of a game brought, seen from each of its positions.

use crate::encoding::{Encoding, Ending, Mv, Outlook, Pos};
use crate::game::{Game, Side};

/// The pieces that moved in a game, ply by ply.
#[derive(Debug, Clone, Default)]
pub struct GameCourse {
    /// One bit, or none, a ply.
    movers: Vec<u32>,
}

impl GameCourse {
    /// Notes that `mv` is played in `position`. Every ply must be noted.
    pub fn note<E: Encoding>(&mut self, encoding: &E, position: &Pos<E>, mv: Mv<E>) {
        self.movers.push(encoding.moved_piece(position, mv).map_or(0, |piece| 1 << piece));
    }

    /// Returns the outlook of these positions, each told by the plies before it and its side to move, given the last
    /// position. Plies must rise.
    #[must_use]
    pub fn outlooks<E: Encoding>(&self, encoding: &E, last: &Pos<E>, positions: &[(u32, Side)]) -> Vec<Outlook> {
        let is_over = encoding.game().outcome(last).is_some() && !encoding.game().is_cut_off(last);
        let mut outlooks = Vec::with_capacity(positions.len());
        let (mut movers, mut reached) = (0, self.movers.len());
        for &(ply, side) in positions.iter().rev() {
            let start = (ply as usize).min(reached);
            movers = self.movers[start..reached].iter().fold(movers, |movers, mover| movers | mover);
            reached = start;
            let plies_left = u16::try_from(self.movers.len() - start).unwrap_or(u16::MAX);
            let ending = is_over.then(|| Ending { plies_left, counts: encoding.ending(last, side) });
            outlooks.push(Outlook { movers, ending });
        }
        outlooks.reverse();
        outlooks
    }
}
