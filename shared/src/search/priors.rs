//! What becomes of the priors a network gives: made to sum to 1, and mixed with noise at the root.

use rand::Rng;
use rand_distr::{Distribution, Gamma};

/// Copies `given` into `priors`, to the power of 1 / `temperature` and scaled to the sum 1. Returns false if `given` is no
/// distribution (another length, a number that is not finite or below 0, a sum below 1e-6): then `priors` become uniform.
#[inline]
pub(super) fn take_priors(given: &[f32], temperature: f32, priors: &mut [f32]) -> bool {
    let sum: f32 = given.iter().sum();
    let is_usable =
        given.len() == priors.len() && sum.is_finite() && sum >= 1e-6 && given.iter().all(|prior| *prior >= 0.0);
    if !is_usable {
        priors.fill(1.0 / priors.len() as f32);
        return false;
    }
    let scale = 1.0 / sum;
    priors.iter_mut().zip(given).for_each(|(prior, given)| *prior = given * scale);
    if temperature != 1.0 {
        soften(priors, temperature);
    }
    true
}

/// Takes `priors`, which sum to 1, to the power of 1 / `temperature`. The highest becomes 1 before they are scaled again,
/// so that no temperature leaves nothing.
// Out of the way of the usual temperature of 1.
#[cold]
fn soften(priors: &mut [f32], temperature: f32) {
    let highest = priors.iter().copied().fold(0.0, f32::max);
    let power = 1.0 / temperature;
    priors.iter_mut().for_each(|prior| *prior = (*prior / highest).powf(power));
    let scale = 1.0 / priors.iter().sum::<f32>();
    priors.iter_mut().for_each(|prior| *prior *= scale);
}

/// Mixes `weight` of Dirichlet noise into `priors`, whose sum stays what it is.
pub(super) fn mix_noise(priors: &mut [f32], alpha: f32, weight: f32, random: &mut impl Rng) {
    let Ok(gamma) = Gamma::new(f64::from(alpha), 1.0) else { return };
    // Independent gamma numbers over their sum are a Dirichlet sample.
    let samples: Vec<f64> = priors.iter().map(|_| gamma.sample(random)).collect();
    let sum: f64 = samples.iter().sum();
    if sum < f64::MIN_POSITIVE {
        return;
    }
    for (prior, sample) in priors.iter_mut().zip(samples) {
        *prior = (1.0 - weight) * *prior + weight * (sample / sum) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    fn taken(given: &[f32], count: usize) -> (Vec<f32>, bool) {
        let mut priors = vec![0.0; count];
        let is_usable = take_priors(given, 1.0, &mut priors);
        (priors, is_usable)
    }

    #[test]
    fn priors_are_scaled_to_one() {
        assert_eq!(taken(&[1.0, 3.0], 2), (vec![0.25, 0.75], true));
    }

    #[test]
    fn a_temperature_of_two_takes_the_roots() {
        let mut priors = vec![0.0; 3];
        assert!(take_priors(&[0.81, 0.16, 0.04], 2.0, &mut priors));
        // 0.9, 0.4 and 0.2, over their sum of 1.5.
        for (prior, expected) in priors.iter().zip([0.6, 4.0 / 15.0, 2.0 / 15.0]) {
            assert!((prior - expected).abs() < 1e-3, "{priors:?}");
        }
    }

    #[test]
    fn no_temperature_leaves_nothing() {
        let mut priors = vec![0.0; 200];
        assert!(take_priors(&[0.005; 200], 0.1, &mut priors));
        assert!((priors.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{priors:?}");
    }

    #[test]
    fn what_is_no_distribution_becomes_uniform() {
        let uniform = (vec![0.5, 0.5], false);
        for given in [&[1.0][..], &[0.0, 1e-7], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[-1.0, 3.0], &[]] {
            assert_eq!(taken(given, 2), uniform, "{given:?}");
        }
    }

    #[test]
    fn full_noise_has_the_spread_of_its_alpha() {
        // The variance of one of n numbers of a symmetric Dirichlet is (n - 1) / (n^2 (n alpha + 1)).
        let (count, alpha, draws) = (10, 0.15_f32, 20_000);
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let mut square_sum = 0.0;
        for _ in 0..draws {
            let mut priors = vec![0.0; count];
            mix_noise(&mut priors, alpha, 1.0, &mut random);
            square_sum += f64::from((priors[0] - 0.1).powi(2));
        }
        let expected = 9.0 / (100.0 * (10.0 * f64::from(alpha) + 1.0));
        let measured = square_sum / f64::from(draws);
        assert!((measured / expected - 1.0).abs() < 0.05, "{measured} is not about {expected}");
    }

    proptest! {
        #[test]
        fn noisy_priors_sum_to_one(count in 1_usize..200, alpha in 0.01_f32..10.0, weight in 0.0_f32..=1.0, seed: u64) {
            let mut priors = vec![1.0 / count as f32; count];
            mix_noise(&mut priors, alpha, weight, &mut Pcg64Mcg::seed_from_u64(seed));
            let sum: f32 = priors.iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-4, "sum {sum}");
            prop_assert!(priors.iter().all(|prior| *prior >= 0.0));
        }
    }
}
