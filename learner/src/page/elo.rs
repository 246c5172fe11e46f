//! How strength grew: the chain of gates that promoted a network, and the yardstick where there are games of it.

use std::collections::HashMap;
use std::f64::consts::LN_10;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use shared::gate::GateScore;
use shared::ids::NetworkId;
use store::{Reader, YardstickScore};

use super::answer::PageError;
use super::iterations::rounded;
use super::series::thinned;

/// Two-sided 95 % quantile of the normal distribution.
const QUANTILE: f64 = 1.96;

/// For how long the yardstick games are not summed up again: that looks at every game of a gate.
const YARDSTICK_AGE_MAX: Duration = Duration::from_secs(120);

/// Scores that are remembered: of gates that are decided, and of the yardstick for a while.
#[derive(Debug, Default)]
pub(super) struct GateScores {
    decided: Mutex<HashMap<NetworkId, GateScore>>,
    yardstick: Mutex<Option<(Instant, Vec<YardstickScore>)>>,
}

impl GateScores {
    /// Returns the score of a gate that is decided: read once, then remembered.
    pub(super) fn decided(&self, reader: &Reader, candidate_id: NetworkId) -> Result<GateScore, PageError> {
        let known = || self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        let score = known().get(&candidate_id).copied();
        if let Some(score) = score {
            return Ok(score);
        }
        let score = reader.gate_score(candidate_id)?;
        known().insert(candidate_id, score);
        Ok(score)
    }

    /// Returns the scores of the yardstick as of a short while ago.
    fn yardstick(&self, reader: &Reader) -> Result<Vec<YardstickScore>, PageError> {
        let known = || self.yardstick.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scores)) = known().as_ref().filter(|(at, _)| at.elapsed() < YARDSTICK_AGE_MAX) {
            return Ok(scores.clone());
        }
        let scores = reader.yardstick_scores()?;
        *known() = Some((Instant::now(), scores.clone()));
        Ok(scores)
    }
}

/// Elo over generations.
#[derive(Debug, Serialize)]
pub(super) struct EloAnswer {
    /// Sum of the differences that the gates measured, generation 0 at 0.
    pub(super) chain: Vec<ChainPoint>,
    /// Games of best networks against network 1.
    pub(super) yardstick: Vec<YardstickPoint>,
    /// Generations that there are: `chain` may leave some out.
    pub(super) generation_count: usize,
}

/// A generation of the chain.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ChainPoint {
    pub(super) generation: u32,
    pub(super) network_id: u32,
    pub(super) elo: f64,
    /// Ends of the 95 % interval of the sum.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Wins, draws and losses of its own gate.
    pub(super) gate: [u32; 3],
}

/// A measurement against network 1.
#[derive(Debug, Clone, Serialize)]
pub(super) struct YardstickPoint {
    pub(super) generation: u32,
    pub(super) network_id: u32,
    pub(super) score: f64,
    #[serde(flatten)]
    pub(super) line: EloInterval,
    pub(super) games: [u32; 3],
}

/// A difference in Elo with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct EloInterval {
    pub(super) elo: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A difference in Elo and its standard error.
///
/// One drawn game is added to those played: without it, a match that was won throughout would be infinite. The error is
/// that of the score, `sqrt(s (1 - s) / n)`, times the slope of Elo's curve, `400 / (ln 10 s (1 - s))`.
fn difference(score: &GateScore) -> [f64; 2] {
    let with_draw = GateScore { draws: score.draws.saturating_add(1), ..*score };
    let (share, games) = (with_draw.score(), f64::from(with_draw.game_count()));
    [with_draw.elo_difference(), 400.0 / LN_10 / (games * share * (1.0 - share)).sqrt()]
}

impl EloInterval {
    fn new(elo: f64, error: f64) -> Self {
        let [elo, low, high] =
            [elo, elo - QUANTILE * error, elo + QUANTILE * error].map(|elo| (elo * 10.0).round() / 10.0);
        Self { elo, low, high }
    }
}

/// Adds up the gates of the generations after the first.
fn chain_of(gates: &[(u32, NetworkId, GateScore)], first: Option<NetworkId>) -> Vec<ChainPoint> {
    let start = first.map(|network_id| ChainPoint {
        generation: 0,
        network_id: network_id.get(),
        elo: 0.0,
        low: 0.0,
        high: 0.0,
        gate: [0; 3],
    });
    let (mut sum, mut variance) = (0.0, 0.0);
    let points = gates.iter().map(|(generation, network_id, score)| {
        let [elo, error] = difference(score);
        sum += elo;
        variance += error * error;
        let EloInterval { elo, low, high } = EloInterval::new(sum, variance.sqrt());
        let gate = [score.wins, score.draws, score.losses];
        ChainPoint { generation: *generation, network_id: network_id.get(), elo, low, high, gate }
    });
    start.into_iter().chain(points).collect()
}

/// Reads how strength grew, at most `point_count_max` points of each kind.
pub(super) fn read_elo(
    reader: &Reader,
    gate_scores: &GateScores,
    point_count_max: usize,
) -> Result<EloAnswer, PageError> {
    let generations = reader.generations()?;
    let first = generations.first().map(|(_, network_id)| *network_id);
    let gates = generations
        .iter()
        .skip(1)
        .map(|(generation, network_id)| Ok((generation.get(), *network_id, gate_scores.decided(reader, *network_id)?)));
    let gates = gates.collect::<Result<Vec<_>, PageError>>()?;
    let against_first: Vec<_> =
        gate_scores.yardstick(reader)?.iter().filter(|it| Some(it.opponent_id) == first).map(yardstick_point).collect();
    Ok(EloAnswer {
        chain: thinned(chain_of(&gates, first), point_count_max),
        yardstick: thinned(against_first, point_count_max),
        generation_count: generations.len(),
    })
}

fn yardstick_point(measured: &YardstickScore) -> YardstickPoint {
    let YardstickScore { network_id, generation, score, .. } = measured;
    let [elo, error] = difference(score);
    YardstickPoint {
        generation: generation.get(),
        network_id: network_id.get(),
        score: rounded(score.score()),
        line: EloInterval::new(elo, error),
        games: [score.wins, score.draws, score.losses],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u32) -> NetworkId {
        NetworkId::new(number).expect("not 0")
    }

    #[test]
    fn a_chain_adds_differences_and_variances() {
        let score = GateScore { wins: 60, draws: 0, losses: 39 };
        let gates = [(1, network(2), score), (2, network(5), score)];
        let chain = chain_of(&gates, Some(network(1)));
        assert_eq!(chain.iter().map(|point| point.network_id).collect::<Vec<_>>(), [1, 2, 5]);
        assert_eq!((chain[0].elo, chain[0].low), (0.0, 0.0));
        // 60.5 of 100 points: 400 log10(60.5 / 39.5).
        assert_eq!((chain[1].elo, chain[2].elo), (74.1, 148.1));
        let [one, two] = [&chain[1], &chain[2]].map(|point| point.high - point.elo);
        assert!((two / one - 2_f64.sqrt()).abs() < 0.01, "{one} {two}");
    }

    #[test]
    fn a_gate_won_throughout_is_finite() {
        let [elo, error] = difference(&GateScore { wins: 20, draws: 0, losses: 0 });
        assert!(elo > 300.0 && elo.is_finite() && error.is_finite(), "{elo} {error}");
    }
}
