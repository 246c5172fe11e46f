//! Yardstick games: the best network meets an earlier one, so that a run cannot grow weaker unseen, promotion by promotion.
//!
//! Evaluators play them like gate games, whenever no gate waits. Nothing is decided by them, and nothing of them is kept in
//! memory: their results are read from the store.

use std::collections::HashSet;

use shared::encoding::Encoding;
use shared::ids::NetworkId;
use shared::opening::random_openings;
use shared::search::SearchSettings;
use shared::seed::mix_seed;

use super::pairs::PairedGames;
use super::{GameRegistry, RegistryError};

/// Games that are to be played.
#[derive(Debug, Clone, PartialEq)]
pub struct YardstickPlan {
    /// The network that is measured.
    pub network_id: NetworkId,
    /// The earlier one.
    pub opponent_id: NetworkId,
    /// The iteration in which it is.
    pub iteration: u32,
    /// Pairs of games that are added to those there are.
    pub pair_count: u32,
    /// Random plies before the players begin.
    pub opening_plies: u32,
    /// How the games are searched.
    pub search: SearchSettings,
}

impl<E: Encoding> GameRegistry<E> {
    /// Adds yardstick games, which are on disk when the call returns. Openings go on where those of earlier games of the
    /// same networks ended; they and the seeds follow from the run's seed and the numbers of the networks.
    ///
    /// # Errors
    /// [`RegistryError::Store`] if the games could not be stored.
    pub fn add_yardstick_games(&self, plan: &YardstickPlan) -> Result<(), RegistryError> {
        let networks = u64::from(plan.network_id.get()) << 32 | u64::from(plan.opponent_id.get());
        let seed = mix_seed(self.run_seed ^ 0x7961_7264, networks);
        let mut inner = self.lock();
        let first = (inner.reader.yardstick_game_count(plan.network_id, plan.opponent_id)? / 2) as u32;
        let (openings, _) = random_openings(&self.encoding, first + plan.pair_count, plan.opening_plies, seed);
        let paired = PairedGames {
            network_id: plan.network_id,
            opponent_id: plan.opponent_id,
            is_yardstick: true,
            iteration: plan.iteration,
            seed,
            search: &plan.search,
        };
        let added = (0..).zip(&openings).skip(first as usize);
        self.add_paired_games(&mut inner, &paired, added, &HashSet::new())?;
        self.settle(&mut inner);
        Ok(())
    }
}
