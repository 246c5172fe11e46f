//! Learning rates.

/// Returns the learning rate of step `step` (from 0) of `total_steps`: half a cosine from `from` down to `to`, once
/// over the whole run, without restarts (Loshchilov and Hutter 2017). Later steps stay at `to`.
#[must_use]
pub fn cosine_learning_rate(step: u64, total_steps: u64, from: f64, to: f64) -> f64 {
    let done = if total_steps == 0 { 1.0 } else { step.min(total_steps) as f64 / total_steps as f64 };
    cosine_learning_rate_at(done, from, to)
}

/// Returns the learning rate at a share of the way, 0..=1 (more counts as 1): half a cosine from `from` down to `to`.
#[must_use]
pub fn cosine_learning_rate_at(done: f64, from: f64, to: f64) -> f64 {
    let done = done.min(1.0);
    to + (from - to) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_cosine() {
        let rate = |step| cosine_learning_rate(step, 1000, 0.01, 0.0001);
        assert!((rate(0) - 0.01).abs() < 1e-12);
        assert!((rate(500) - 0.00505).abs() < 1e-12);
        assert!((rate(1000) - 0.0001).abs() < 1e-12);
        assert!((rate(5000) - 0.0001).abs() < 1e-12);
        assert!((1..1000).all(|step| rate(step) < rate(step - 1)));
        assert_eq!(cosine_learning_rate_at(0.25, 0.01, 0.0001).to_bits(), rate(250).to_bits());
        assert!((cosine_learning_rate_at(7.0, 0.01, 0.0001) - 0.0001).abs() < 1e-12);
        assert!((cosine_learning_rate(0, 0, 0.01, 0.0001) - 0.0001).abs() < 1e-12);
    }
}
