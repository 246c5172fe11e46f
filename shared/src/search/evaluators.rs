//! Evaluators without a network: random play, the rules of thumb of a game, and uniform.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::evaluator::{EvaluationError, Evaluator};
use super::leaf_source::{LeafId, LeafMut, LeafSource};
use crate::game::{Game, Heuristic, Value};

/// Values leaves by playing at random to the end of the game (Coulom 2006); priors are uniform.
#[derive(Debug)]
pub struct RolloutEvaluator<M> {
    random: Pcg64Mcg,
    plies_max: u32,
    moves: Vec<M>,
    priors: Vec<f32>,
}

impl<M> RolloutEvaluator<M> {
    /// Plies after which a rollout counts as a draw, unless the rules end it before.
    pub const PLIES_MAX: u32 = 400;

    /// Makes an evaluator. The same seed and positions give the same values.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with_plies_max(seed, Self::PLIES_MAX)
    }

    /// Makes an evaluator that ends a rollout after `plies_max` plies, as a draw.
    #[must_use]
    pub fn with_plies_max(seed: u64, plies_max: u32) -> Self {
        Self { random: Pcg64Mcg::seed_from_u64(seed), plies_max, moves: vec![], priors: vec![] }
    }
}

impl<M> RolloutEvaluator<M> {
    fn value<G: Game<Move = M>>(&mut self, game: &G, position: &mut G::Position) -> Value {
        let side = game.side_to_move(position);
        for _ in 0..self.plies_max {
            // No move: the game is over.
            let Some(mv) = game.choose_move(position, self.random.next_u32(), &mut self.moves) else { break };
            game.play(position, mv);
        }
        game.outcome(position).map_or(Value::DRAW, |outcome| outcome.value_for(side))
    }
}

impl<G: Game> Evaluator<G> for RolloutEvaluator<G::Move> {
    fn evaluate(&mut self, source: &mut dyn LeafSource<G>, leaves: &[LeafId]) -> Result<(), EvaluationError> {
        for leaf in leaves {
            let LeafMut { game, position, moves } = source.leaf_mut(*leaf);
            let move_count = moves.len();
            let value = self.value(game, position);
            source.expand(*leaf, uniform(&mut self.priors, move_count), value);
        }
        Ok(())
    }

    fn batch_size_max(&self) -> u32 {
        1
    }
}

/// Values leaves by the rules of thumb of the game; priors are uniform.
#[derive(Debug, Clone, Default)]
pub struct HeuristicEvaluator {
    priors: Vec<f32>,
}

impl<G: Heuristic> Evaluator<G> for HeuristicEvaluator {
    fn evaluate(&mut self, source: &mut dyn LeafSource<G>, leaves: &[LeafId]) -> Result<(), EvaluationError> {
        for leaf in leaves {
            let LeafMut { game, position, moves } = source.leaf_mut(*leaf);
            let move_count = moves.len();
            let value = game.heuristic_value(position);
            source.expand(*leaf, uniform(&mut self.priors, move_count), value);
        }
        Ok(())
    }

    fn batch_size_max(&self) -> u32 {
        1
    }
}

/// Gives every move the same prior and every position the value of a draw.
#[derive(Debug, Clone, Default)]
pub struct UniformEvaluator {
    priors: Vec<f32>,
}

impl<G: Game> Evaluator<G> for UniformEvaluator {
    fn evaluate(&mut self, source: &mut dyn LeafSource<G>, leaves: &[LeafId]) -> Result<(), EvaluationError> {
        for leaf in leaves {
            let move_count = source.leaf_moves(*leaf).len();
            source.expand(*leaf, uniform(&mut self.priors, move_count), Value::DRAW);
        }
        Ok(())
    }

    fn batch_size_max(&self) -> u32 {
        1
    }
}

/// Returns equal priors in the memory of `priors`; the search scales them to the sum 1.
fn uniform(priors: &mut Vec<f32>, move_count: usize) -> &[f32] {
    priors.clear();
    priors.resize(move_count, 1.0);
    priors
}
