//! What a network answers: priors of the legal moves and a value, safe to use even if its output is not finite.

use shared::encoding::NetworkInput;

/// Sums of priors below this are as good as none.
const PRIOR_SUM_MIN: f32 = 1e-6;

/// Answers for the B positions of one [`NetworkInput`], in its order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NetworkOutput {
    /// Prior of each legal move, f32, same layout as `NetworkInput::policy_indices`; sums to 1 a position.
    pub priors: Vec<f32>,
    /// Expected outcome for the side to move, f32 `[B]`, -1..=1, always finite.
    pub values: Vec<f32>,
    /// Positions of this batch whose priors were not usable and were made uniform.
    pub uniform_prior_count: u32,
    /// Positions of this batch whose value was not finite and was made 0. One bad leaf must not fail the leaves of
    /// other games in the same batch, so this is a count and not an error.
    pub zeroed_value_count: u32,
}

impl NetworkOutput {
    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.priors.clear();
        self.values.clear();
        self.uniform_prior_count = 0;
        self.zeroed_value_count = 0;
    }

    /// Turns the logits in `self.priors` into priors, position by position, and checks the values.
    pub(crate) fn finish(&mut self, input: &NetworkInput) {
        for position in 0..input.len() {
            if !softmax(&mut self.priors[input.move_range(position)]) {
                self.uniform_prior_count += 1;
            }
        }
        for value in self.values.iter_mut().filter(|value| !value.is_finite()) {
            *value = 0.0;
            self.zeroed_value_count += 1;
        }
    }
}

/// Replaces the logits of one position by their softmax; by equal shares, and returns false, if that makes no sense.
fn softmax(logits: &mut [f32]) -> bool {
    if logits.is_empty() {
        return true;
    }
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for logit in logits.iter_mut() {
        *logit = (*logit - highest).exp();
        sum += *logit;
    }
    let is_usable = sum.is_finite() && sum >= PRIOR_SUM_MIN;
    let uniform = 1.0 / logits.len() as f32;
    logits.iter_mut().for_each(|share| *share = if is_usable { *share / sum } else { uniform });
    is_usable
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(move_ends: &[u32]) -> NetworkInput {
        NetworkInput { move_ends: move_ends.to_vec(), ..NetworkInput::default() }
    }

    #[test]
    fn softmax_is_over_each_position_alone() {
        let mut output = NetworkOutput {
            priors: vec![0.0, 3.0_f32.ln(), 1000.0, 1000.0],
            values: vec![0.5, -1.0, 0.0],
            ..NetworkOutput::default()
        };
        output.finish(&input(&[2, 4, 4]));
        let expected = [0.25, 0.75, 0.5, 0.5];
        assert!(output.priors.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{:?}", output.priors);
        assert_eq!((output.uniform_prior_count, output.zeroed_value_count), (0, 0));
    }

    #[test]
    fn nonsense_becomes_uniform_and_zero_and_is_counted() {
        let nan = f32::NAN;
        let mut output = NetworkOutput {
            priors: vec![nan, 0.0, 0.0, nan, f32::INFINITY, 1.0, f32::NEG_INFINITY, f32::NEG_INFINITY],
            values: vec![nan, f32::INFINITY, 0.25, 0.5],
            ..NetworkOutput::default()
        };
        output.finish(&input(&[2, 4, 6, 8]));
        assert_eq!(output.priors, [0.5; 8]);
        assert_eq!(output.values, [0.0, 0.0, 0.25, 0.5]);
        assert_eq!((output.uniform_prior_count, output.zeroed_value_count), (4, 2));
    }
}
