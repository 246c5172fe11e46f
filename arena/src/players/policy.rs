//! The player that needs no search: the bare policy of a network.

use shared::catalog::NetworkGame;
use shared::game::Value;

use super::network::NetworkClient;
use super::{MatchPlayer, Opening, PlayerError, PlayerFailure};

/// Plays the move with the highest prior, of equals the first.
pub struct PolicyPlayer<G: NetworkGame> {
    game: G,
    network: NetworkClient<G>,
    moves: Vec<G::Move>,
    value: Option<Value>,
}

impl<G: NetworkGame> PolicyPlayer<G> {
    /// Makes the player.
    pub fn new(game: G, network: NetworkClient<G>) -> Self {
        Self { game, network, moves: vec![], value: None }
    }
}

impl<G: NetworkGame> MatchPlayer<G> for PolicyPlayer<G> {
    fn begin(&mut self, _: &Opening<'_, G>, _: u64) -> Result<(), PlayerFailure> {
        Ok(())
    }

    fn choose(&mut self, position: &G::Position) -> Result<G::Move, PlayerFailure> {
        self.moves.clear();
        self.game.legal_moves(position, &mut self.moves);
        let (moves, mut best, mut root_value) = (&self.moves, None, None);
        self.network
            .evaluate_one(position, moves, |priors, value| {
                root_value = Some(value);
                best =
                    moves.iter().zip(priors).reduce(|best, it| if it.1 > best.1 { it } else { best }).map(|it| *it.0);
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
