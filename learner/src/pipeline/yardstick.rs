//! The yardstick: whether the best network is really stronger than those before, beside what the gates say.

use registry::YardstickPlan;
use shared::encoding::Encoding;
use shared::gate::GateScore;
use shared::ids::{Generation, NetworkId};
use store::{NetworkRow, YardstickScore};
use tracing::{info, warn};

use super::{Pipeline, PipelineError, alarms};
use crate::config::YardstickConfig;

/// What the yardstick games of a run say of its newest network that was measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct YardstickReport {
    /// The network.
    pub network_id: NetworkId,
    /// Its generation.
    pub generation: Generation,
    /// Its games against network 1.
    pub against_first: GateScore,
    /// Its games against later networks.
    pub against_later: Vec<(NetworkId, GateScore)>,
    /// The games of the newest generations against network 1 together.
    pub pooled: GateScore,
}

impl YardstickReport {
    /// Makes the report of all scores; `None` before the first game.
    pub(super) fn new(config: &YardstickConfig, scores: &[YardstickScore]) -> Option<Self> {
        let newest = scores.iter().max_by_key(|score| score.generation)?;
        let (generation, network_id) = (newest.generation, newest.network_id);
        let own = scores.iter().filter(|score| score.network_id == network_id);
        let (first, later): (Vec<&YardstickScore>, Vec<_>) =
            own.partition(|score| score.opponent_id == NetworkId::FIRST);
        let is_pooled = |score: &&YardstickScore| {
            let age = generation.get() - score.generation.get();
            score.opponent_id == NetworkId::FIRST && age < config.pooled_generations
        };
        Some(Self {
            network_id,
            generation,
            against_first: first.iter().map(|score| score.score).sum(),
            against_later: later.iter().map(|score| (score.opponent_id, score.score)).collect(),
            pooled: scores.iter().filter(is_pooled).map(|score| score.score).sum(),
        })
    }
}

impl<E: Encoding> Pipeline<E> {
    /// Adds games of the best network against earlier ones, unless some of before are still to finish.
    pub(super) fn add_yardstick_games(&self, iteration: u32) -> Result<(), PipelineError> {
        let (config, best) = (self.settings.yardstick, self.best.get());
        if config.games == 0 || best.network_id == NetworkId::FIRST {
            return Ok(());
        }
        let reader = self.store.store().reader()?;
        let open_count = reader.open_yardstick_count()?;
        if open_count > 0 {
            info!(iteration, open_games = open_count, "no new yardstick games: the previous ones are not finished");
            return Ok(());
        }
        for opponent_id in opponents(&reader.networks()?, best.generation, config.earlier_generations) {
            let plan = YardstickPlan {
                network_id: best.network_id,
                opponent_id,
                iteration,
                pair_count: config.games / 2,
                opening_plies: self.settings.gate.opening_plies,
                search: config.search(&self.settings.gate.search),
            };
            self.best.add_in_play(opponent_id);
            match self.registry.add_yardstick_games(&plan) {
                Ok(()) => {}
                // They come with the next gate: nothing waits for them.
                Err(error) if error.is_retryable() => warn!(%error, iteration, "yardstick games left out"),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reports what the yardstick games say so far, and warns if the run has grown weaker.
    pub(super) fn report_yardstick(&mut self, iteration: u32) -> Result<(), PipelineError> {
        let config = self.settings.yardstick;
        let scores = if config.games == 0 { vec![] } else { self.store.store().reader()?.yardstick_scores()? };
        let Some(report) = YardstickReport::new(&config, &scores) else { return Ok(()) };
        self.reporter.report_yardstick(iteration, &report);
        alarms::check_yardstick(&config, &self.alarms, iteration, &report);
        Ok(())
    }
}

/// Returns whom the best network of this generation meets: network 1, and the best one of some generations before.
fn opponents(networks: &[NetworkRow], best: Generation, earlier_generations: u32) -> Vec<NetworkId> {
    let earlier = best.get().checked_sub(earlier_generations).filter(|generation| *generation > 0).map(Generation::new);
    let of_generation = |wanted| networks.iter().find(|row| row.generation == Some(wanted));
    let earlier = earlier.and_then(of_generation).map(|row| row.network.network_id);
    std::iter::once(NetworkId::FIRST).chain(earlier).collect()
}

#[cfg(test)]
mod tests {
    use store::{NetworkState, NewNetwork};

    use super::*;
    use crate::progress::AlarmBoard;

    const CONFIG: YardstickConfig =
        YardstickConfig { games: 4, simulation_count: 8, earlier_generations: 2, pooled_generations: 2 };

    fn id(number: u32) -> NetworkId {
        NetworkId::new(number).expect("from 1")
    }

    fn score(generation: u32, opponent: u32, wins: u32, losses: u32) -> YardstickScore {
        YardstickScore {
            network_id: id(generation + 1),
            generation: Generation::new(generation),
            opponent_id: id(opponent),
            score: GateScore { wins, draws: 0, losses },
        }
    }

    #[test]
    fn the_newest_network_is_reported_and_the_newest_generations_are_put_together() {
        assert_eq!(YardstickReport::new(&CONFIG, &[]), None);
        let scores = [score(1, 1, 90, 0), score(2, 1, 1, 20), score(3, 1, 2, 30), score(3, 2, 3, 0)];
        let report = YardstickReport::new(&CONFIG, &scores).expect("there are games");
        assert_eq!((report.network_id, report.generation), (id(4), Generation::new(3)));
        assert_eq!(report.against_first, GateScore { wins: 2, draws: 0, losses: 30 });
        assert_eq!(report.against_later, [(id(2), GateScore { wins: 3, draws: 0, losses: 0 })]);
        assert_eq!(report.pooled, GateScore { wins: 3, draws: 0, losses: 50 });
        let board = AlarmBoard::default();
        let is_on = |report: &YardstickReport| {
            alarms::check_yardstick(&CONFIG, &board, 1, report);
            !board.on().is_empty()
        };
        assert!(is_on(&report));
        let lucky = YardstickReport { pooled: GateScore { wins: 20, draws: 10, losses: 25 }, ..report.clone() };
        assert!(!is_on(&lucky), "within the interval");
        let young = YardstickReport { generation: Generation::new(1), ..report };
        assert!(!is_on(&young), "too few promotions");
    }

    #[test]
    fn the_best_network_meets_the_first_and_an_earlier_one() {
        let network = |(number, generation): (u32, Option<u32>)| NetworkRow {
            network: NewNetwork { network_id: id(number), file: "f".into(), sha256: "s".into(), training_step: 0 },
            generation: generation.map(Generation::new),
            state: NetworkState::FormerBest,
            created_at: String::new(),
        };
        let networks: Vec<NetworkRow> =
            [(1, Some(0)), (2, None), (3, Some(1)), (4, Some(2)), (5, Some(3))].into_iter().map(network).collect();
        assert_eq!(opponents(&networks, Generation::new(3), 2), [id(1), id(3)]);
        assert_eq!(opponents(&networks, Generation::new(2), 2), [id(1)], "that would be network 1 again");
        assert_eq!(opponents(&networks, Generation::new(1), 2), [id(1)]);
    }
}
