//! Gates: the games in which a candidate meets the best network, in pairs with swapped colours.

use std::sync::MutexGuard;

use shared::encoding::Encoding;
use shared::ids::NetworkId;
use shared::opening::random_openings;
use shared::seed::mix_seed;

use super::gate::{Gate, GatePlan, GateReport, count_stored};
use super::pairs::PairedGames;
use super::registry::Inner;
use super::{GameRegistry, RegistryError};

impl<E: Encoding> GameRegistry<E> {
    /// Begins the gate of a candidate, or takes it up where the store says it is. Its games are on disk when the call
    /// returns. Openings and seeds follow from the run's seed and the candidate's number.
    ///
    /// # Errors
    /// [`RegistryError`] if the settings are impossible or the games could not be stored.
    pub fn begin_gate(&self, plan: &GatePlan) -> Result<GateReport, RegistryError> {
        plan.settings.check()?;
        let pair_count = plan.settings.pair_count();
        let seed = mix_seed(self.run_seed ^ 0x6761_7465, u64::from(plan.candidate_id.get()));
        let (openings, distinct) = random_openings(&self.encoding, pair_count, plan.opening_plies, seed);
        if distinct < pair_count {
            tracing::warn!(
                distinct,
                pair_count,
                "the game has fewer openings than the gate has pairs: some come again"
            );
        }
        let mut gate = Gate::new(plan.clone(), distinct);
        let mut inner = self.lock_gate(plan.candidate_id);
        let stored = inner.reader.gate_games(plan.candidate_id)?;
        let present = count_stored(&mut gate, &stored);
        let paired = PairedGames {
            network_id: plan.candidate_id,
            opponent_id: plan.best_id,
            is_yardstick: false,
            iteration: plan.iteration,
            seed,
            search: &plan.search,
        };
        self.add_paired_games(&mut inner, &paired, (0..).zip(&openings), &present)?;
        let report = gate.report();
        inner.gates.insert(plan.candidate_id, gate);
        self.settle(&mut inner);
        Ok(report)
    }

    /// Returns how far a gate is.
    ///
    /// # Errors
    /// [`RegistryError::UnknownGate`] if it was not begun, or is closed.
    pub fn gate_report(&self, candidate_id: NetworkId) -> Result<GateReport, RegistryError> {
        let inner = self.lock();
        inner.gates.get(&candidate_id).map(Gate::report).ok_or(RegistryError::UnknownGate(candidate_id))
    }

    /// Forgets a gate whose verdict is in the store ([`Promote`], [`Reject`]), with its open games.
    ///
    /// [`Promote`]: store::Change::Promote
    /// [`Reject`]: store::Change::Reject
    pub fn close_gate(&self, candidate_id: NetworkId) {
        let mut inner = self.lock_gate(candidate_id);
        inner.gates.remove(&candidate_id);
        for game_id in inner.games.ids_of_gate(candidate_id) {
            inner.games.remove(game_id);
        }
        self.settle(&mut inner);
    }

    /// Locks the registry at a moment when no game of the gate is on its way to the disk: memory and store agree.
    pub(super) fn lock_gate(&self, candidate_id: NetworkId) -> MutexGuard<'_, Inner<E>> {
        let inner = self.lock();
        let game_ids = inner.games.ids_of_gate(candidate_id);
        self.wait_until_written(inner, game_ids)
    }
}
