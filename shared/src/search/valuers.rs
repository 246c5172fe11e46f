//! Who values a leaf without a network: random play, rules of thumb, or nobody in particular.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::game::{Appraise, Game, Value};

/// Values leaves on the spot.
pub trait Valuer<G: Game> {
    /// Returns what `position` is worth to its side to move, and writes a prior for each of `moves` (0 before) if any are
    /// given. The game goes on in `position`, which may be played on: nobody else needs it.
    fn value(&mut self, game: &G, position: &mut G::Position, moves: &[G::Move], priors: &mut [f32]) -> Value;
}

/// Plays at random to the end of the game (Coulom 2006).
#[derive(Debug)]
pub struct Rollouts<M> {
    random: Pcg64Mcg,
    plies_max: u32,
    moves: Vec<M>,
}

impl<M> Rollouts<M> {
    /// Plies after which a rollout counts as a draw, unless the rules end it before.
    pub const PLIES_MAX: u32 = 400;

    /// Makes a player. The same seed and positions give the same values.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with_plies_max(seed, Self::PLIES_MAX)
    }

    /// Makes a player that gives up after `plies_max` plies, as a draw.
    #[must_use]
    pub fn with_plies_max(seed: u64, plies_max: u32) -> Self {
        Self { random: Pcg64Mcg::seed_from_u64(seed), plies_max, moves: vec![] }
    }
}

impl<G: Game> Valuer<G> for Rollouts<G::Move> {
    fn value(&mut self, game: &G, position: &mut G::Position, _: &[G::Move], priors: &mut [f32]) -> Value {
        priors.fill(1.0);
        let side = game.side_to_move(position);
        for _ in 0..self.plies_max {
            // No move: the game is over.
            let Some(mv) = game.choose_move(position, self.random.next_u32(), &mut self.moves) else { break };
            game.play(position, mv);
        }
        game.outcome(position).map_or(Value::DRAW, |outcome| outcome.value_for(side))
    }
}

/// Values a leaf as the rules of thumb of its game do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Appraisal;

impl<G: Appraise> Valuer<G> for Appraisal {
    fn value(&mut self, game: &G, position: &mut G::Position, _: &[G::Move], priors: &mut [f32]) -> Value {
        priors.fill(1.0);
        game.appraise(position)
    }
}

/// Holds every move for equally good and every position for even.
#[derive(Debug, Clone, Copy, Default)]
pub struct Even;

impl<G: Game> Valuer<G> for Even {
    fn value(&mut self, _: &G, _: &mut G::Position, _: &[G::Move], priors: &mut [f32]) -> Value {
        priors.fill(1.0);
        Value::DRAW
    }
}
