//! How a candidate and the best network predict games that neither of them learned from.
//!
//! The games of an iteration say nothing about it: a network that knows them by heart predicts them well. On games that
//! are held out it does worse than before.

use net::{NetError, Network};
use samples::buffer::SampleBuffer;
use samples::human_games::HumanGames;
use shared::encoding::Encoding;
use shared::ids::NetworkId;
use store::{Change, MetricRow};
use tokio_util::sync::CancellationToken;

use super::TrainerError;
use crate::prediction::{PredictionMetrics, measure};

/// Two networks on the same positions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PredictionPair {
    /// The network that was just trained.
    pub candidate: PredictionMetrics,
    /// The best network while it was trained.
    pub best: PredictionMetrics,
}

impl PredictionPair {
    /// Returns by how much the candidate's mean squared value error is above that of the best network, -4..=4.
    #[must_use]
    pub fn value_error_rise(&self) -> f64 {
        self.candidate.value_error() - self.best.value_error()
    }
}

/// Two networks on the games that are held out; `None` where there are none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HeldOutComparison {
    /// On the newest self-play games.
    pub self_play: Option<PredictionPair>,
    /// On human games.
    pub human: Option<PredictionPair>,
}

impl HeldOutComparison {
    /// Returns all pairs that there are, each with the name of its games.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, PredictionPair)> + use<> {
        [("self_play", self.self_play), ("human", self.human)]
            .into_iter()
            .filter_map(|(games, pair)| Some((games, pair?)))
    }

    /// Returns all numbers as changes of the store: `held_out_GAMES_METRIC`, and with `_best` those of the best network.
    #[must_use]
    pub fn metrics(&self, step: u64) -> Vec<Change> {
        let of_network = |games, suffix, metrics: &PredictionMetrics| {
            [
                ("policy_loss", metrics.policy_loss()),
                ("value_error", metrics.value_error()),
                ("sign_share", metrics.sign_share()),
                ("position_count", metrics.position_count as f64),
            ]
            .map(|(name, value)| MetricRow {
                name: format!("held_out_{games}_{name}{suffix}"),
                value,
                step,
            })
        };
        let rows = self.pairs().flat_map(|(games, pair)| {
            [of_network(games, "", &pair.candidate), of_network(games, "_best", &pair.best)].into_iter().flatten()
        });
        rows.map(Change::AddMetric).collect()
    }
}

/// The two networks that are compared.
pub(super) struct Compared<'a> {
    pub(super) candidate_id: NetworkId,
    pub(super) candidate: &'a Network,
    pub(super) best_id: NetworkId,
}

/// Compares networks on held-out games.
pub(super) struct HeldOutMeasure<E> {
    encoding: E,
    human_games: Option<HumanGames>,
    /// What is known on human games, which stay the same.
    known_on_human: Vec<(NetworkId, PredictionMetrics)>,
}

impl<E: Encoding> HeldOutMeasure<E> {
    pub(super) const fn new(encoding: E, human_games: Option<HumanGames>) -> Self {
        Self { encoding, human_games, known_on_human: Vec::new() }
    }

    /// Compares the networks on these self-play positions and on the human games. `load` reads the best network.
    /// Returns `None` if the stop came first.
    pub(super) fn compare(
        &mut self,
        compared: &Compared<'_>,
        self_play: &SampleBuffer,
        load: impl FnOnce() -> Result<Network, NetError>,
        stop: &CancellationToken,
    ) -> Result<Option<HeldOutComparison>, TrainerError> {
        let mut comparison = HeldOutComparison::default();
        if self_play.position_count() == 0 && self.human_games.is_none() {
            return Ok(Some(comparison));
        }
        let best = load()?;
        if self_play.position_count() > 0 {
            let measured = |network: &Network| measure(network, &self.encoding, self_play, 1, stop);
            let (candidate, best) = (measured(compared.candidate)?, measured(&best)?);
            let (Some(candidate), Some(best)) = (candidate, best) else { return Ok(None) };
            comparison.self_play = Some(PredictionPair { candidate, best });
        }
        if self.human_games.is_some() {
            let candidate = self.on_human(compared.candidate_id, compared.candidate, stop)?;
            let best = self.on_human(compared.best_id, &best, stop)?;
            let (Some(candidate), Some(best)) = (candidate, best) else { return Ok(None) };
            self.known_on_human.retain(|(id, _)| [compared.candidate_id, compared.best_id].contains(id));
            comparison.human = Some(PredictionPair { candidate, best });
        }
        Ok(Some(comparison))
    }

    /// Measures a network on human games once. An id never stands for other weights but while its training is done
    /// again, from the same checkpoint to the same end.
    fn on_human(
        &mut self,
        network_id: NetworkId,
        network: &Network,
        stop: &CancellationToken,
    ) -> Result<Option<PredictionMetrics>, TrainerError> {
        let Some(human) = &self.human_games else { return Ok(None) };
        if let Some((_, known)) = self.known_on_human.iter().find(|(id, _)| *id == network_id) {
            return Ok(Some(*known));
        }
        let measured = measure(network, human.encoding(), human.samples(), 1, stop)?;
        self.known_on_human.extend(measured.map(|metrics| (network_id, metrics)));
        Ok(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(value_error_sum: f64) -> PredictionMetrics {
        PredictionMetrics { position_count: 10, value_error_sum, ..PredictionMetrics::default() }
    }

    #[test]
    fn a_rise_is_what_the_candidate_errs_more_than_the_best() {
        let pair = PredictionPair { candidate: metrics(7.0), best: metrics(6.0) };
        assert!((pair.value_error_rise() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn each_number_has_a_row_of_its_own() {
        let pair = PredictionPair { candidate: metrics(7.0), best: metrics(6.0) };
        let comparison = HeldOutComparison { self_play: Some(pair), human: None };
        let rows: Vec<MetricRow> = comparison
            .metrics(9)
            .into_iter()
            .filter_map(|change| if let Change::AddMetric(row) = change { Some(row) } else { None })
            .collect();
        let value = |name: &str| rows.iter().find(|row| row.name == name).map(|row| (row.value, row.step));
        assert_eq!(rows.len(), 8);
        assert_eq!(value("held_out_self_play_value_error"), Some((0.7, 9)));
        assert_eq!(value("held_out_self_play_value_error_best"), Some((0.6, 9)));
        assert!(HeldOutComparison::default().metrics(9).is_empty());
    }
}
