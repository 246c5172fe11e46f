//! Gates: the games in which a candidate meets the best network, in pairs with swapped colours.

use std::collections::HashSet;
use std::sync::MutexGuard;

use shared::encoding::Encoding;
use shared::game::{Outcome, Side};
use shared::gate::{GateResult, GateScore, GateSettings, GateTally, PairCounts, Verdict};
use shared::ids::NetworkId;
use shared::opening::random_openings;
use shared::search::SearchSettings;
use shared::seed::mix_seed;
use store::{GameState, NewGame, StoredGame};

use super::pairs::PairedGames;
use super::registry::Inner;
use super::{GameRegistry, RegistryError};

/// What is to be decided, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct GatePlan {
    /// The candidate.
    pub candidate_id: NetworkId,
    /// The best network.
    pub best_id: NetworkId,
    /// The iteration that made the candidate.
    pub iteration: u32,
    /// Games and score needed.
    pub settings: GateSettings,
    /// Random plies before the players begin.
    pub opening_plies: u32,
    /// How the games are searched.
    pub search: SearchSettings,
}

/// How far a gate is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateReport {
    /// The candidate.
    pub candidate_id: NetworkId,
    /// Games and score needed.
    pub settings: GateSettings,
    /// Finished games, from the candidate's view.
    pub score: GateScore,
    /// Pairs that the sequential test has looked at; none by the rule of the score.
    pub tested_pairs: PairCounts,
    /// The decision, as soon as no remaining game can change it.
    pub verdict: Option<Verdict>,
    /// Pairs of games, each with its own opening.
    pub pair_count: u32,
    /// Different openings among the pairs, symmetric ones counted as one.
    pub distinct_opening_count: u32,
    /// Different games, by their moves, among the finished ones.
    pub distinct_game_count: u32,
}

/// A gate under way.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    plan: GatePlan,
    tally: GateTally,
    distinct_opening_count: u32,
    moves_hashes: HashSet<u64>,
}

impl Gate {
    /// Counts a finished game.
    pub(super) fn count(&mut self, game: &NewGame, outcome: Outcome, moves_hash: u64) {
        let Some(pair_index) = game.pair_index else { return };
        let is_white = game.white_network == self.plan.candidate_id.into();
        let candidate = if is_white { Side::White } else { Side::Black };
        let result = match outcome {
            Outcome::Draw => GateResult::Drawn,
            Outcome::Win(side) if side == candidate => GateResult::Won,
            Outcome::Win(_) => GateResult::Lost,
        };
        self.tally.count(pair_index, is_white, result);
        self.moves_hashes.insert(moves_hash);
    }

    /// Returns the decision, as soon as no remaining game can change it.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        self.tally.verdict()
    }

    /// Returns how its games are searched.
    pub(super) const fn search(&self) -> &SearchSettings {
        &self.plan.search
    }

    /// Forgets all games.
    pub(super) fn begin_anew(&mut self) {
        self.tally = GateTally::new(self.plan.settings);
        self.moves_hashes.clear();
    }

    fn report(&self) -> GateReport {
        GateReport {
            candidate_id: self.plan.candidate_id,
            settings: self.plan.settings,
            score: self.tally.score(),
            tested_pairs: self.tally.tested_pairs(),
            verdict: self.verdict(),
            pair_count: self.plan.settings.pair_count(),
            distinct_opening_count: self.distinct_opening_count,
            distinct_game_count: self.moves_hashes.len() as u32,
        }
    }
}

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
        let mut gate = Gate {
            plan: plan.clone(),
            tally: GateTally::new(plan.settings),
            distinct_opening_count: distinct,
            moves_hashes: HashSet::new(),
        };
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

/// Counts the finished games of the store; returns which games exist, as (pair, whether the candidate is White).
pub(super) fn count_stored(gate: &mut Gate, stored: &[StoredGame]) -> HashSet<(u32, bool)> {
    let mut present = HashSet::new();
    for stored in stored.iter().filter(|stored| stored.state != GameState::Quarantined) {
        let Some(pair_index) = stored.game.pair_index else { continue };
        let is_new = present.insert((pair_index, stored.game.white_network == gate.plan.candidate_id.into()));
        if let (true, Some(result), Some(moves_hash)) = (is_new, stored.result, stored.moves_hash) {
            gate.count(&stored.game, result.outcome, moves_hash);
        }
    }
    present
}
