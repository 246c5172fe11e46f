//! Players that search, with a network or without.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::game::{Game, Heuristic, Value};
use shared::search::{
    Evaluator, LeafId, ParallelSearch, Search, SearchPreset, SearchSettings, SharedOracle, select_leaves, simulate,
};

use super::{MatchPlayer, Opening, PlayerError, PlayerFailure};

/// Searches each move as the gate does, and keeps its tree from ply to ply.
pub struct SearchPlayer<G: Game, E> {
    game: G,
    settings: SearchSettings,
    evaluator: E,
    oracle: Option<SharedOracle<G>>,
    search: Option<Search<G>>,
    leaves: Vec<LeafId>,
    value: Option<Value>,
}

impl<G: Game, E: Evaluator<G> + Send> SearchPlayer<G, E> {
    /// Makes the player.
    pub fn new(game: G, settings: SearchSettings, evaluator: E) -> Self {
        Self { game, settings, evaluator, oracle: None, search: None, leaves: vec![], value: None }
    }

    /// Asks `oracle` in each search.
    #[must_use]
    pub fn with_oracle(mut self, oracle: Option<SharedOracle<G>>) -> Self {
        self.oracle = oracle;
        self
    }
}

impl<G: Game, E: Evaluator<G> + Send> MatchPlayer<G> for SearchPlayer<G, E> {
    fn begin(&mut self, opening: &Opening<'_, G>, seed: u64) -> Result<(), PlayerFailure> {
        let search = Search::new(self.game.clone(), opening.position.clone(), self.settings.clone(), seed);
        self.search = Some(search.map_err(PlayerError::from)?.with_oracle(self.oracle.clone()));
        Ok(())
    }

    fn choose(&mut self, _: &G::Position) -> Result<G::Move, PlayerFailure> {
        let search = self.search.as_mut().ok_or(PlayerError::NotBegun)?;
        while !search.is_done() {
            select_leaves(search, self.settings.leaves_per_game, &mut self.leaves);
            if !self.leaves.is_empty() {
                self.evaluator.evaluate(search, &self.leaves).map_err(PlayerError::from)?;
            }
        }
        self.value = Some(search.root_value());
        Ok(search.choose_move())
    }

    fn observe(&mut self, _: &G::Position, mv: G::Move) -> Result<(), PlayerFailure> {
        self.search.as_mut().ok_or(PlayerError::NotBegun)?.play(mv);
        Ok(())
    }

    fn value(&self) -> Option<Value> {
        self.value
    }
}

/// Searches each move afresh, without a network.
pub struct PresetPlayer<G: Game> {
    game: G,
    preset: SearchPreset,
    simulation_count: u32,
    oracle: Option<SharedOracle<G>>,
    random: Pcg64Mcg,
    value: Option<Value>,
}

impl<G: Heuristic> PresetPlayer<G> {
    /// Makes the player.
    pub fn new(game: G, preset: SearchPreset, simulation_count: u32) -> Self {
        Self { game, preset, simulation_count, oracle: None, random: Pcg64Mcg::seed_from_u64(0), value: None }
    }

    /// Asks `oracle` in each search.
    #[must_use]
    pub fn with_oracle(mut self, oracle: Option<SharedOracle<G>>) -> Self {
        self.oracle = oracle;
        self
    }
}

impl<G: Heuristic> MatchPlayer<G> for PresetPlayer<G> {
    fn begin(&mut self, _: &Opening<'_, G>, seed: u64) -> Result<(), PlayerFailure> {
        self.random = Pcg64Mcg::seed_from_u64(seed);
        Ok(())
    }

    fn choose(&mut self, position: &G::Position) -> Result<G::Move, PlayerFailure> {
        let settings = self.preset.settings(self.simulation_count);
        let seed = self.random.random();
        let search = ParallelSearch::new(self.game.clone(), position.clone(), self.preset.rule(), settings, seed);
        let mut search = search.map_err(PlayerError::from)?.with_oracle(self.oracle.clone());
        let mut evaluator = self.preset.evaluator::<G>(seed);
        let mut thread = search.thread(0);
        // One thread alone never waits.
        while simulate(&mut thread, &mut *evaluator).map_err(PlayerError::from)? {}
        drop(thread);
        self.value = Some(search.root_value());
        Ok(search.choose_move().ok_or(PlayerError::NoMove)?)
    }

    fn observe(&mut self, _: &G::Position, _: G::Move) -> Result<(), PlayerFailure> {
        Ok(())
    }

    fn value(&self) -> Option<Value> {
        self.value
    }
}
