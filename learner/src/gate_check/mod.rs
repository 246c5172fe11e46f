//! Whether the games of a gate were searched: before a verdict counts, a sample of each worker's plies is searched again.
//!
//! Gates are played without noise and at temperature 0, so the same network finds nearly the same move again: nearly, since
//! the worker's tree kept visits of the plies before, and batches of other sizes round differently. A worker that did not
//! search, or searched with something else, plays moves that the search gives next to nothing. What happens to its games
//! is decided elsewhere (`pipeline`, the crate `registry`).

mod batch_evaluator;
mod ply_search;
mod refuted;
mod sample;
#[cfg(test)]
pub(crate) mod simulated;
mod turns;

#[cfg(test)]
use std::sync::Arc;

use inference::InferenceHandle;
use rand::Rng;
use shared::encoding::Encoding;
use shared::ids::NetworkId;
use shared::search::{EvaluationError, SearchSettings};
use store::{Reader, StoreError};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use batch_evaluator::{LocalBatchEvaluator, OwnInference};
use ply_search::{BatchEvaluator, search_again};
pub use refuted::Refuted;
pub(crate) use refuted::sum;
use sample::{games_by_worker, read_games};
use turns::draw_plies;

/// Plies that the search may contradict of any worker: two moves can be as good as each other.
const CONTRADICTED_FREE: u32 = 2;
/// Beyond these, one contradicted ply in so many is what an honest worker may have.
const CONTRADICTED_ONE_IN: u32 = 8;

/// What was found of one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedWorker {
    /// The worker.
    pub worker_id: String,
    /// Plies of its own that were searched again and could have shown something.
    pub ply_count: u32,
    /// Of these, plies whose move the search gave next to nothing.
    pub contradicted_count: u32,
}

impl CheckedWorker {
    /// Returns whether a worker that searched cannot have played so.
    #[must_use]
    pub const fn is_refuted(&self) -> bool {
        self.contradicted_count > CONTRADICTED_FREE + self.ply_count / CONTRADICTED_ONE_IN
    }
}

/// Why the games could not be checked. Trying again may help.
#[derive(Debug, thiserror::Error)]
pub enum GateCheckError {
    /// The games cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The network does not answer.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// The learner stops.
    #[error("the learner stops")]
    Stopping,
}

/// Searches plies of gate games again. Blocks the thread that asks, which must not be one of tokio's.
pub struct GateCheck<E: Encoding> {
    encoding: E,
    networks: Networks<E>,
}

/// Who answers leaves.
enum Networks<E: Encoding> {
    /// The learner's own inference threads.
    Own(OwnInference<E>),
    /// A simulation.
    #[cfg(test)]
    Simulated(Arc<dyn simulated::SimulatedNetworks<E>>),
}

impl<E: Encoding> GateCheck<E> {
    /// Makes a check that asks the learner's own networks.
    #[must_use]
    pub fn new(
        encoding: E,
        inference: InferenceHandle,
        batch_leaf_count_max: usize,
        tokio: Handle,
        stop: CancellationToken,
    ) -> Self {
        let own = OwnInference { encoding: encoding.clone(), handle: inference, batch_leaf_count_max, tokio, stop };
        Self { encoding, networks: Networks::Own(own) }
    }

    /// Makes a check that asks the networks of a simulation.
    #[cfg(test)]
    pub(crate) const fn simulated(encoding: E, networks: Arc<dyn simulated::SimulatedNetworks<E>>) -> Self {
        Self { encoding, networks: Networks::Simulated(networks) }
    }

    /// Searches up to `ply_count_max` plies of each worker again that had finished games of the candidate's gate, and
    /// returns what was found.
    ///
    /// # Errors
    /// [`GateCheckError`]; [`GateCheckError::Stopping`] if the stop came first.
    pub fn check(
        &self,
        reader: &Reader,
        candidate_id: NetworkId,
        ply_count_max: u32,
    ) -> Result<Vec<CheckedWorker>, GateCheckError> {
        let count_max = ply_count_max as usize;
        match &self.networks {
            Networks::Own(own) => {
                let evaluator = || LocalBatchEvaluator::new(own);
                self.check_by(evaluator, reader, candidate_id, count_max, &mut rand::rng())
            }
            #[cfg(test)]
            Networks::Simulated(networks) => {
                let mut random = simulated::begin(networks.as_ref(), candidate_id);
                let evaluator = || simulated::SimulatedBatchEvaluator::new(networks.as_ref());
                self.check_by(evaluator, reader, candidate_id, count_max, &mut random)
            }
        }
    }

    fn check_by<A: BatchEvaluator<E>>(
        &self,
        evaluator: impl Fn() -> A,
        reader: &Reader,
        candidate_id: NetworkId,
        count_max: usize,
        random: &mut impl Rng,
    ) -> Result<Vec<CheckedWorker>, GateCheckError> {
        let mut checked = Vec::new();
        for (worker_id, played) in games_by_worker(reader, candidate_id)? {
            let mut evaluator = evaluator();
            let games = read_games(&self.encoding, reader, played, count_max, random)?;
            let plies = draw_plies(&self.encoding, games, count_max, &mut evaluator, random)?;
            let agreements = search_again(&self.encoding, plies, &mut evaluator)?;
            let contradicted_count = agreements.iter().filter(|agrees| !**agrees).count() as u32;
            checked.push(CheckedWorker { worker_id, ply_count: agreements.len() as u32, contradicted_count });
        }
        Ok(checked)
    }
}

/// Returns whether a search of these settings finds the same move again: with noise or temperature it need not.
#[must_use]
fn is_repeatable(search: &SearchSettings) -> bool {
    let is_cold = search.temperature_after == 0.0 && (search.temperature == 0.0 || search.temperature_plies == 0);
    is_cold && !search.has_noise()
}

#[cfg(test)]
mod tests {
    use shared::encoding::tictactoe::TicTacToeEncoding;
    use shared::encoding::{Mv, Pos};
    use shared::game::Value;

    use super::ply_search::BatchEvaluator;
    use super::*;

    /// Equal priors and an even value for every leaf.
    #[derive(Default)]
    pub(super) struct Uniform(Vec<usize>);

    impl BatchEvaluator<TicTacToeEncoding> for Uniform {
        fn add(
            &mut self,
            _: NetworkId,
            _: &Pos<TicTacToeEncoding>,
            moves: &[Mv<TicTacToeEncoding>],
        ) -> Result<(), GateCheckError> {
            self.0.push(moves.len());
            Ok(())
        }

        fn evaluate(&mut self) -> Result<Vec<(Vec<f32>, Value)>, GateCheckError> {
            let answer = |move_count| (vec![1.0 / move_count as f32; move_count], Value::DRAW);
            Ok(std::mem::take(&mut self.0).into_iter().map(answer).collect())
        }
    }

    #[test]
    fn a_worker_may_differ_in_few_plies_and_not_in_many() {
        let is_refuted = |ply_count, contradicted_count| {
            CheckedWorker { worker_id: "w".into(), ply_count, contradicted_count }.is_refuted()
        };
        assert!(!is_refuted(64, 10) && is_refuted(64, 11));
        assert!(!is_refuted(4, 2) && is_refuted(4, 3), "of a small gate");
        assert!(!is_refuted(0, 0), "nothing was shown");
    }

    #[test]
    fn noise_and_temperature_are_not_repeated() {
        let cold = SearchSettings::default().for_match(64);
        assert!(is_repeatable(&cold));
        assert!(!is_repeatable(&SearchSettings { temperature_after: 0.1, ..cold.clone() }));
        assert!(!is_repeatable(&SearchSettings { temperature: 1.0, ..cold.clone() }));
        assert!(is_repeatable(&SearchSettings { temperature: 1.0, temperature_plies: 0, ..cold.clone() }));
        assert!(!is_repeatable(&SearchSettings { dirichlet_alpha: 0.3, ..cold }));
    }
}
