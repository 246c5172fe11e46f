//! Elo of all networks and opponents of a curve together.

use std::collections::BTreeMap;

use shared::gate::GateScore;

use super::play::PlayedNetwork;
use super::run::{CurveAxis, CurveRun, RunNetwork};
use crate::ladder::{Meeting, Rating, rate};

/// The player from whom Elo counts, if it is among the opponents; else the first of these.
const ANCHOR: &str = "random";

/// How one run grew stronger.
#[derive(Debug, Clone)]
pub struct Curve {
    /// What the run is called.
    pub name: String,
    /// Its networks, by rising generation.
    pub points: Vec<CurvePoint>,
}

/// One network of a run.
#[derive(Debug, Clone)]
pub struct CurvePoint {
    /// The network.
    pub network: RunNetwork,
    /// Where it stands on the axis.
    pub place: f64,
    /// Elo above the anchor.
    pub elo: f64,
    /// Half the width of the 95 % interval of that.
    pub margin: f64,
    /// Its score against each opponent.
    pub scores: Vec<GateScore>,
}

/// Rates all networks on one scale, by Bradley and Terry's model as the ladder does. Returns the curves, and the name of
/// the opponent from whom Elo counts.
#[must_use]
pub fn curves(
    runs: &[CurveRun],
    played: Vec<Vec<PlayedNetwork>>,
    opponents: &[String],
    axis: CurveAxis,
) -> (Vec<Curve>, String) {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let networks = played.iter().flatten().map(|network| network.player.as_str());
    for player in opponents.iter().map(String::as_str).chain(networks) {
        let next = numbers.len();
        numbers.entry(player).or_insert(next);
    }
    let mut meetings: BTreeMap<[usize; 2], [f64; 2]> = BTreeMap::new();
    for network in played.iter().flatten() {
        for (opponent, score) in opponents.iter().zip(&network.scores) {
            // The same network in two runs has the same games.
            meetings.insert([numbers[network.player.as_str()], numbers[opponent.as_str()]], points_of(score));
        }
    }
    let meetings: Vec<Meeting> = meetings.into_iter().map(|(players, points)| Meeting { players, points }).collect();
    let anchor = opponents.iter().find(|opponent| *opponent == ANCHOR).or(opponents.first());
    let ratings = rate(numbers.len(), &meetings, anchor.map(|anchor| numbers[anchor.as_str()]));
    let places: Vec<Vec<usize>> =
        played.iter().map(|run| run.iter().map(|network| numbers[network.player.as_str()]).collect()).collect();
    let point = |(network, number): (PlayedNetwork, usize)| {
        let Rating { elo, margin, .. } = ratings[number];
        CurvePoint {
            place: axis.place(&network.network),
            network: network.network,
            elo,
            margin,
            scores: network.scores,
        }
    };
    let curve = |(run, (networks, places)): (&CurveRun, (Vec<PlayedNetwork>, Vec<usize>))| Curve {
        name: run.name.clone(),
        points: networks.into_iter().zip(places).map(point).collect(),
    };
    let anchor = anchor.cloned().unwrap_or_default();
    (runs.iter().zip(played.clone().into_iter().zip(places)).map(curve).collect(), anchor)
}

fn points_of(score: &GateScore) -> [f64; 2] {
    let half = f64::from(score.draws) / 2.0;
    [f64::from(score.wins) + half, f64::from(score.losses) + half]
}

#[cfg(test)]
mod tests {
    use shared::catalog::GameSpec;
    use shared::ids::{Generation, NetworkId};

    use super::*;

    fn played(generation: u32, wins: [u32; 2]) -> PlayedNetwork {
        let network = RunNetwork {
            network_id: NetworkId::new(generation + 1).unwrap(),
            generation: Generation::new(generation),
            file: "network".into(),
            training_step: 0,
            game_count: 10 * u64::from(generation),
            pflop: Some(f64::from(generation)),
        };
        let score = |wins| GateScore { wins, draws: 0, losses: 20 - wins };
        PlayedNetwork { network, player: format!("network-{generation}"), scores: wins.map(score).to_vec() }
    }

    #[test]
    fn elo_counts_from_random_play_and_rises_with_the_score() {
        let run = CurveRun { dir: "a".into(), name: "a".into(), game: GameSpec::TicTacToe {}, networks: vec![] };
        let opponents = ["mcts:400".to_owned(), "random".to_owned()];
        let networks = vec![played(0, [1, 10]), played(1, [10, 19])];
        let (curves, anchor) = curves(&[run], vec![networks], &opponents, CurveAxis::Games);
        assert_eq!((anchor.as_str(), curves.len(), curves[0].points.len()), ("random", 1, 2));
        let [first, second] = &curves[0].points[..] else { unreachable!("two points") };
        assert!(first.elo.abs() < 30.0 && second.elo > 300.0, "{} and {}", first.elo, second.elo);
        assert!(first.margin > 50.0 && second.margin < 400.0, "{first:?}");
        assert_eq!((first.place, second.place), (0.0, 10.0));
    }
}
