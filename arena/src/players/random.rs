//! The player that plays any legal move.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::game::Game;

use super::{MatchPlayer, Opening, PlayerFailure};

/// Plays any legal move.
pub struct RandomPlayer<G: Game> {
    game: G,
    random: Pcg64Mcg,
    moves: Vec<G::Move>,
}

impl<G: Game> RandomPlayer<G> {
    /// Makes the player.
    pub fn new(game: G) -> Self {
        Self { game, random: Pcg64Mcg::seed_from_u64(0), moves: vec![] }
    }
}

impl<G: Game> MatchPlayer<G> for RandomPlayer<G> {
    fn begin(&mut self, _: &Opening<'_, G>, seed: u64) -> Result<(), PlayerFailure> {
        self.random = Pcg64Mcg::seed_from_u64(seed);
        Ok(())
    }

    fn choose(&mut self, position: &G::Position) -> Result<G::Move, PlayerFailure> {
        self.moves.clear();
        self.game.legal_moves(position, &mut self.moves);
        Ok(self.moves[self.random.random_range(0..self.moves.len())])
    }

    fn observe(&mut self, _: &G::Position, _: G::Move) -> Result<(), PlayerFailure> {
        Ok(())
    }
}
