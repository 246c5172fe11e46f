//! Losses of several steps.

use net::StepLosses;
use serde::{Deserialize, Serialize};
use store::{Change, MetricRow};

/// Losses of several steps.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossSum {
    /// Number of steps.
    pub step_count: u32,
    sum: [f64; 5],
    /// Checkpoints of before there were outlook heads have none.
    #[serde(default)]
    outlook_loss_sum: f64,
    /// Learning rate of the last step.
    pub learning_rate: f64,
}

impl LossSum {
    /// Adds those of a step.
    pub fn add(&mut self, losses: &StepLosses, learning_rate: f64) {
        let StepLosses { policy_loss, value_loss, outlook_loss, total, gradient_norm, policy_accuracy } = *losses;
        for (sum, value) in self.sum.iter_mut().zip([policy_loss, value_loss, total, gradient_norm, policy_accuracy]) {
            *sum += value;
        }
        self.outlook_loss_sum += outlook_loss;
        self.step_count += 1;
        self.learning_rate = learning_rate;
    }

    /// Returns the means.
    #[must_use]
    pub fn means(&self) -> StepLosses {
        let count = f64::from(self.step_count.max(1));
        let [policy_loss, value_loss, total, gradient_norm, policy_accuracy] = self.sum.map(|sum| sum / count);
        let outlook_loss = self.outlook_loss_sum / count;
        StepLosses { policy_loss, value_loss, outlook_loss, total, gradient_norm, policy_accuracy }
    }

    /// Returns the means as changes of the store; none if there was no step.
    pub(crate) fn metrics(&self, step: u64) -> Vec<Change> {
        if self.step_count == 0 {
            return Vec::new();
        }
        let means = self.means();
        let values = [
            ("policy_loss", means.policy_loss),
            ("value_loss", means.value_loss),
            ("outlook_loss", means.outlook_loss),
            ("policy_accuracy", means.policy_accuracy),
            ("gradient_norm", means.gradient_norm),
            ("learning_rate", self.learning_rate),
            ("loss_step_count", f64::from(self.step_count)),
        ];
        values.map(|(name, value)| Change::AddMetric(MetricRow { name: name.to_owned(), value, step })).into()
    }
}
