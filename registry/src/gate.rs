//! A gate: what is to be decided, what its games came to, and its verdict.

use std::collections::HashSet;

use shared::game::{Outcome, Side};
use shared::gate::{GateResult, GateScore, GateSettings, GateTally, PairCounts, Verdict};
use shared::ids::NetworkId;
use shared::search::SearchSettings;
use store::{GameState, NewGame, StoredGame};

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
    /// Begins a gate with no game, whose pairs have so many different openings.
    pub(super) fn new(plan: GatePlan, distinct_opening_count: u32) -> Self {
        let tally = GateTally::new(plan.settings);
        Self { plan, tally, distinct_opening_count, moves_hashes: HashSet::new() }
    }

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

    /// Returns how far it is.
    pub(super) fn report(&self) -> GateReport {
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
