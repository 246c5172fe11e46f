//! The player that needs no search: the bare policy of a network.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::catalog::NetworkGame;
use shared::game::Value;

use super::network::NetworkClient;
use super::{MatchPlayer, Opening, PlayerError, PlayerFailure};
use crate::levels::draw_by_prior;

/// Plays the move with the highest prior, of equals the first, or draws one by the priors.
pub struct PolicyPlayer<G: NetworkGame> {
    game: G,
    network: NetworkClient<G>,
    temperature: f32,
    random: Pcg64Mcg,
    moves: Vec<G::Move>,
    value: Option<Value>,
}

impl<G: NetworkGame> PolicyPlayer<G> {
    /// Makes the player. At `temperature` 0 it plays the highest prior.
    pub fn new(game: G, network: NetworkClient<G>, temperature: f32) -> Self {
        Self { game, network, temperature, random: Pcg64Mcg::seed_from_u64(0), moves: vec![], value: None }
    }
}

impl<G: NetworkGame> MatchPlayer<G> for PolicyPlayer<G> {
    fn begin(&mut self, _: &Opening<'_, G>, seed: u64) -> Result<(), PlayerFailure> {
        self.random = Pcg64Mcg::seed_from_u64(seed);
        Ok(())
    }

    fn choose(&mut self, position: &G::Position) -> Result<G::Move, PlayerFailure> {
        self.moves.clear();
        self.game.legal_moves(position, &mut self.moves);
        let (moves, temperature, share) = (&self.moves, self.temperature, self.random.random());
        let (mut best, mut root_value) = (None, None);
        self.network
            .evaluate_one(position, moves, |priors, value| {
                root_value = Some(value);
                best = draw_by_prior(priors, temperature, share).and_then(|at| moves.get(at).copied());
            })
            .map_err(PlayerError::from)?;
        self.value = root_value;
        Ok(best.ok_or(PlayerError::NoMove)?)
    }

    fn observe(&mut self, _: &G::Position, _: G::Move) -> Result<(), PlayerFailure> {
        Ok(())
    }

    fn value(&self) -> Option<Value> {
        self.value
    }
}
