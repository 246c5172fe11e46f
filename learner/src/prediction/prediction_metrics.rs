//! How well a network predicts games: the moves that were played, and the outcomes.

use net::NetworkOutput;
use serde::{Deserialize, Serialize};
use shared::encoding::TrainingBatch;

/// Ranks up to which the played move counts as found: first, among three, among five.
const TOP: [usize; 3] = [1, 3, 5];
/// Probabilities below are taken as this one in a loss: half-precision networks answer 0 for what is merely unlikely.
const PRIOR_MIN: f32 = 1e-8;

/// Sums over positions that a network evaluated.
///
/// A position with one legal move tests only the value, and does not count for the policy.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictionMetrics {
    /// Positions.
    pub position_count: u64,
    /// Positions with at least two legal moves.
    pub choice_count: u64,
    /// Sum of the cross-entropies of the policy, in nats, over positions with a choice.
    pub policy_loss_sum: f64,
    /// Positions with a choice whose played move is among the likeliest 1, 3 and 5.
    pub hit_counts: [u64; 3],
    /// Sum of the squared value errors.
    pub value_error_sum: f64,
    /// Positions of decided games.
    pub decided_count: u64,
    /// Positions of decided games where the value has the sign of the outcome.
    pub right_sign_count: u64,
}

impl PredictionMetrics {
    /// Adds the output of a network for a batch.
    pub fn add(&mut self, batch: &TrainingBatch, output: &NetworkOutput) {
        for position in 0..batch.input.len() {
            let moves = batch.input.move_range(position);
            if moves.len() > 1 {
                self.add_policy(&batch.policy_targets[moves.clone()], &output.priors[moves]);
            }
            self.add_value(batch.value_targets[position], output.values[position]);
        }
    }

    fn add_policy(&mut self, shares: &[f32], priors: &[f32]) {
        self.choice_count += 1;
        let losses = shares.iter().zip(priors).filter(|(share, _)| **share > 0.0);
        self.policy_loss_sum -=
            losses.map(|(share, prior)| f64::from(*share) * f64::from(prior.max(PRIOR_MIN)).ln()).sum::<f64>();
        let Some((played, _)) = shares.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)) else { return };
        // Equally likely moves rank ahead: a network that knows nothing finds nothing.
        let ahead_count = priors.iter().filter(|prior| **prior >= priors[played]).count() - 1;
        for (hits, top) in self.hit_counts.iter_mut().zip(TOP) {
            *hits += u64::from(ahead_count < top);
        }
    }

    fn add_value(&mut self, target: f32, value: f32) {
        self.position_count += 1;
        self.value_error_sum += f64::from(value - target).powi(2);
        if target != 0.0 {
            self.decided_count += 1;
            self.right_sign_count += u64::from(value * target > 0.0);
        }
    }

    /// Returns the mean cross-entropy of the policy, in nats.
    #[must_use]
    pub fn policy_loss(&self) -> f64 {
        self.policy_loss_sum / self.choice_count.max(1) as f64
    }

    /// Returns the share of positions whose played move is among the likeliest one, three and five.
    #[must_use]
    pub fn top_shares(&self) -> [f64; 3] {
        self.hit_counts.map(|hits| hits as f64 / self.choice_count.max(1) as f64)
    }

    /// Returns the mean squared error of the value.
    #[must_use]
    pub fn value_error(&self) -> f64 {
        self.value_error_sum / self.position_count.max(1) as f64
    }

    /// Returns the share of positions of decided games where the value has the sign of the outcome.
    #[must_use]
    pub fn sign_share(&self) -> f64 {
        self.right_sign_count as f64 / self.decided_count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::encoding::NetworkInput;

    #[test]
    fn moves_and_outcomes_are_counted() {
        let batch = TrainingBatch {
            input: NetworkInput { move_ends: vec![4, 5, 9], ..NetworkInput::default() },
            policy_targets: vec![0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            value_targets: vec![1.0, -1.0, 0.0],
            ..TrainingBatch::default()
        };
        let output = NetworkOutput {
            priors: vec![0.4, 0.3, 0.2, 0.1, 1.0, 0.25, 0.25, 0.25, 0.25],
            values: vec![0.5, 0.5, 0.5],
            ..NetworkOutput::default()
        };
        let mut metrics = PredictionMetrics::default();
        metrics.add(&batch, &output);
        assert_eq!((metrics.position_count, metrics.choice_count), (3, 2), "one position leaves no choice");
        assert_eq!(metrics.hit_counts, [0, 1, 2], "second of four; four as likely as each other");
        let losses = f64::from(0.3_f32).ln() + f64::from(0.25_f32).ln();
        assert!((metrics.policy_loss() + losses / 2.0).abs() < 1e-12);
        assert!((metrics.value_error() - (0.25 + 2.25 + 0.25) / 3.0).abs() < 1e-12);
        assert_eq!((metrics.decided_count, metrics.right_sign_count), (2, 1));
    }
}
