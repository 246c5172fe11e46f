//! Networks of a simulation: they answer in the thread that asks, which lets the simulation go on meanwhile.

use rand::SeedableRng;
use rand_pcg::Pcg64;
use shared::encoding::{Encoding, Mv, Pos};
use shared::game::Value;
use shared::ids::NetworkId;

use super::GateCheckError;
use super::ply_search::BatchEvaluator;

/// Networks of a simulation.
pub(crate) trait SimulatedNetworks<E: Encoding>: Send + Sync {
    /// A check of this candidate's gate begins. Returns the seed of all that is drawn for it.
    fn begin_check(&self, candidate_id: NetworkId) -> u64;

    /// Evaluates a leaf: the priors of its moves, and its value.
    fn evaluate(&self, network_id: NetworkId, position: &Pos<E>, moves: &[Mv<E>]) -> (Vec<f32>, Value);

    /// Lets the simulation go on as long as a batch takes.
    ///
    /// # Errors
    /// [`GateCheckError`] if there is no answer.
    fn await_answer(&self) -> Result<(), GateCheckError>;
}

/// Begins a check. Returns what it draws from.
pub(super) fn begin<E: Encoding>(networks: &dyn SimulatedNetworks<E>, candidate_id: NetworkId) -> Pcg64 {
    Pcg64::seed_from_u64(networks.begin_check(candidate_id))
}

/// Asks them.
pub(super) struct SimulatedBatchEvaluator<'a, E: Encoding> {
    networks: &'a dyn SimulatedNetworks<E>,
    answers: Vec<(Vec<f32>, Value)>,
}

impl<'a, E: Encoding> SimulatedBatchEvaluator<'a, E> {
    pub(super) fn new(networks: &'a dyn SimulatedNetworks<E>) -> Self {
        Self { networks, answers: Vec::new() }
    }
}

impl<E: Encoding> BatchEvaluator<E> for SimulatedBatchEvaluator<'_, E> {
    fn add(&mut self, network_id: NetworkId, position: &Pos<E>, moves: &[Mv<E>]) -> Result<(), GateCheckError> {
        self.answers.push(self.networks.evaluate(network_id, position, moves));
        Ok(())
    }

    fn evaluate(&mut self) -> Result<Vec<(Vec<f32>, Value)>, GateCheckError> {
        if !self.answers.is_empty() {
            self.networks.await_answer()?;
        }
        Ok(std::mem::take(&mut self.answers))
    }
}
