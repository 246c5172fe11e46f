//! Which of the promoted networks play.

use super::run::{CurveAxis, RunNetwork};

/// Networks that play unless the user wants every k-th.
const USUAL_COUNT: usize = 8;

/// Returns the networks that play: every `every`-th, or about eight spread evenly along the axis; the first and the last
/// always.
#[must_use]
pub fn choose(networks: &[RunNetwork], axis: CurveAxis, every: Option<usize>) -> Vec<RunNetwork> {
    let Some(last) = networks.len().checked_sub(1) else { return vec![] };
    let mut chosen: Vec<usize> = match every {
        Some(every) => (0..=last).step_by(every.max(1)).collect(),
        None if networks.len() <= USUAL_COUNT => (0..=last).collect(),
        None => spread(&networks.iter().map(|network| axis.place(network)).collect::<Vec<_>>()),
    };
    chosen.extend([0, last]);
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|index| networks[index].clone()).collect()
}

/// Returns the indices of the places that are nearest to equal distances.
fn spread(places: &[f64]) -> Vec<usize> {
    let end = places.iter().copied().fold(0.0, f64::max);
    let nearest = |wanted: f64| {
        let distance = |index: &usize| (places[*index] - wanted).abs();
        (0..places.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    };
    (0..USUAL_COUNT).filter_map(|part| nearest(end * part as f64 / (USUAL_COUNT - 1) as f64)).collect()
}

#[cfg(test)]
mod tests {
    use shared::ids::{Generation, NetworkId};

    use super::*;

    fn networks(costs: &[f64]) -> Vec<RunNetwork> {
        let network = |(generation, cost): (u32, &f64)| RunNetwork {
            network_id: NetworkId::new(generation + 1).unwrap(),
            generation: Generation::new(generation),
            file: "network".into(),
            training_step: 0,
            game_count: 0,
            pflop: Some(*cost),
        };
        (0..).zip(costs).map(network).collect()
    }

    fn chosen(costs: &[f64], every: Option<usize>) -> Vec<u32> {
        choose(&networks(costs), CurveAxis::Cost, every).iter().map(|network| network.generation.get()).collect()
    }

    #[test]
    fn eight_spread_over_the_cost_and_both_ends() {
        let even: Vec<f64> = (0..15).map(f64::from).collect();
        assert_eq!(chosen(&even, None), [0, 2, 4, 6, 8, 10, 12, 14]);
        // Most promotions came early: they are not what the curve is about.
        let early: Vec<f64> = (0..20).map(|index| f64::from(index) / 100.0).chain([3.5, 7.0]).collect();
        assert_eq!(chosen(&early, None), [0, 19, 20, 21]);
        assert_eq!(chosen(&[0.0, 1.0, 5.0], None), [0, 1, 2]);
        assert!(chosen(&[], None).is_empty());
    }

    #[test]
    fn every_third_and_both_ends() {
        let even: Vec<f64> = (0..9).map(f64::from).collect();
        assert_eq!(chosen(&even, Some(3)), [0, 3, 6, 8]);
        assert_eq!(chosen(&even, Some(100)), [0, 8]);
        assert_eq!(chosen(&even, Some(1)).len(), 9);
    }
}
