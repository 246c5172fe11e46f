//! Whether a network still says something: a sample of its answers, on many different leaves. A network whose numbers have
//! died (all activations cut off, a policy without a gradient) answers every leaf alike, and nothing else fails.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use shared::ids::NetworkId;
use xxhash_rust::xxh3::xxh3_64;

/// One batch in so many is looked at.
const BATCH_INTERVAL: u64 = 8;
/// Leaves of that batch that are looked at.
pub(super) const SAMPLE_LEAVES_MAX: usize = 16;
/// Different leaves that make a judgement.
const WINDOW_LEAVES: usize = 512;
/// A policy is uniform if its entropy is the greatest possible but for this part.
const ENTROPY_SLACK: f64 = 1e-4;
/// Share of the leaves with a choice on which the policy is uniform if the network says nothing.
const UNIFORM_SHARE_MIN: f64 = 0.98;
/// Fewest leaves with a choice that say something about the policy.
const CHOICES_MIN: u32 = 128;
/// A value is constant if all leaves of a judgement have it but for this.
const VALUE_SPREAD_MAX: f32 = 1e-3;
/// Networks that are remembered at most; the oldest is forgotten first.
const NETWORKS_MAX: usize = 8;

/// What is wrong with the answers of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerFault {
    /// The network.
    pub network_id: NetworkId,
    /// Whether the policy is uniform on nearly all leaves.
    pub has_uniform_policy: bool,
    /// Whether the value is the same on all leaves.
    pub has_constant_value: bool,
}

/// Samples the answers of networks.
#[derive(Debug, Default)]
pub struct AnswerMeter {
    batch_count: AtomicU64,
    networks: Mutex<BTreeMap<NetworkId, Answers>>,
}

/// What is known of one network.
#[derive(Debug, Default)]
struct Answers {
    open: Window,
    /// The last judgement; none if nothing was wrong.
    fault: Option<AnswerFault>,
}

/// Answers since the last judgement.
#[derive(Debug)]
struct Window {
    seen: HashSet<u64>,
    choice_count: u32,
    uniform_count: u32,
    value_min: f32,
    value_max: f32,
}

impl Default for Window {
    fn default() -> Self {
        Self { seen: HashSet::new(), choice_count: 0, uniform_count: 0, value_min: 1.0, value_max: -1.0 }
    }
}

impl AnswerMeter {
    /// Returns whether the next batch is one to look at.
    pub(super) fn is_due(&self) -> bool {
        self.batch_count.fetch_add(1, Ordering::Relaxed).is_multiple_of(BATCH_INTERVAL)
    }

    /// Notes answers of a network, each with its packed position: the priors of the legal moves, and the value.
    pub(super) fn note<'a>(
        &self,
        network_id: NetworkId,
        answers: impl IntoIterator<Item = (&'a [u8], &'a [f32], f32)>,
    ) {
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        let known = networks.entry(network_id).or_default();
        for (packed, priors, value) in answers {
            known.open.add(packed, priors, value);
            if known.open.seen.len() >= WINDOW_LEAVES {
                known.fault = std::mem::take(&mut known.open).judge(network_id);
            }
        }
        while networks.len() > NETWORKS_MAX {
            networks.pop_first();
        }
    }

    /// Returns the networks whose last answers said nothing.
    #[must_use]
    pub fn faults(&self) -> Vec<AnswerFault> {
        let networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        networks.values().filter_map(|known| known.fault).collect()
    }
}

impl Window {
    /// Adds a leaf, unless it was there already: many games begin alike.
    fn add(&mut self, packed: &[u8], priors: &[f32], value: f32) {
        if !self.seen.insert(xxh3_64(packed)) {
            return;
        }
        self.value_min = self.value_min.min(value);
        self.value_max = self.value_max.max(value);
        if priors.len() > 1 {
            self.choice_count += 1;
            self.uniform_count += u32::from(is_uniform(priors));
        }
    }

    fn judge(self, network_id: NetworkId) -> Option<AnswerFault> {
        let uniform_share = f64::from(self.uniform_count) / f64::from(self.choice_count.max(1));
        let has_uniform_policy = self.choice_count >= CHOICES_MIN && uniform_share >= UNIFORM_SHARE_MIN;
        let has_constant_value = self.value_max - self.value_min <= VALUE_SPREAD_MAX;
        let is_fault = has_uniform_policy || has_constant_value;
        is_fault.then_some(AnswerFault { network_id, has_uniform_policy, has_constant_value })
    }
}

/// Returns whether the entropy of a policy is as great as it can be.
fn is_uniform(priors: &[f32]) -> bool {
    let entropy: f64 =
        priors.iter().map(|prior| f64::from(*prior)).filter(|prior| *prior > 0.0).map(|p| -p * p.ln()).sum();
    entropy >= (priors.len() as f64).ln() * (1.0 - ENTROPY_SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes so many different leaves with the answer that `answer` gives to each.
    fn note(meter: &AnswerMeter, network_id: u32, count: u32, answer: impl Fn(u32) -> ([f32; 4], f32)) {
        for leaf in 0..count {
            let (priors, value) = answer(leaf);
            let network_id = NetworkId::new(network_id).expect("from 1");
            meter.note(network_id, [(&leaf.to_le_bytes()[..], &priors[..], value)]);
        }
    }

    fn faults(meter: &AnswerMeter) -> Vec<(u32, bool, bool)> {
        let faults = meter.faults().into_iter();
        faults.map(|it| (it.network_id.get(), it.has_uniform_policy, it.has_constant_value)).collect()
    }

    const UNIFORM: [f32; 4] = [0.25, 0.2501, 0.25, 0.2499];
    const PEAKED: [f32; 4] = [0.3, 0.3, 0.2, 0.2];

    fn varied(leaf: u32) -> f32 {
        (leaf % 100) as f32 / 100.0
    }

    #[test]
    fn answers_that_say_nothing_are_a_fault_and_others_are_not() {
        let meter = AnswerMeter::default();
        note(&meter, 1, 600, |leaf| (PEAKED, varied(leaf)));
        assert_eq!(faults(&meter), []);
        note(&meter, 2, 600, |leaf| (UNIFORM, varied(leaf)));
        note(&meter, 3, 600, |leaf| (PEAKED, 0.5 + varied(leaf) / 2000.0));
        note(&meter, 4, 600, |leaf| (if leaf % 20 == 0 { PEAKED } else { UNIFORM }, varied(leaf)));
        assert_eq!(faults(&meter), [(2, true, false), (3, false, true)], "one leaf in twenty is something");
        note(&meter, 2, 600, |leaf| (PEAKED, varied(leaf)));
        assert_eq!(faults(&meter), [(3, false, true)], "a later judgement counts");
    }

    #[test]
    fn the_same_leaf_again_and_again_says_nothing() {
        let meter = AnswerMeter::default();
        for _ in 0..5000 {
            note(&meter, 1, 1, |_| (UNIFORM, 0.0));
        }
        note(&meter, 1, 511, |_| (UNIFORM, 0.0));
        assert_eq!(faults(&meter), [], "511 different leaves");
        note(&meter, 1, 512, |_| (UNIFORM, 0.0));
        assert_eq!(faults(&meter), [(1, true, true)]);
    }

    #[test]
    fn only_a_few_networks_are_remembered() {
        let meter = AnswerMeter::default();
        (1..=20).for_each(|network_id| note(&meter, network_id, 512, |_| (UNIFORM, 0.0)));
        assert_eq!(faults(&meter).len(), NETWORKS_MAX);
    }
}
