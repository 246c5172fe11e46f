//! Counts of what has been answered and refused, for all that shows how a run is doing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use runtime::summed_log::SummedLog;
use tracing::warn;

use super::answer_meter::AnswerMeter;
use super::batch::Job;
use super::batch_times::BatchTimes;
use super::device_time::DeviceTime;

/// What has been answered so far.
#[derive(Debug, Default)]
pub struct InferenceCounters {
    /// Leaves answered.
    pub evaluation_count: AtomicU64,
    /// Active cells of these leaves.
    pub active_cell_count: AtomicU64,
    /// Evaluations of batches.
    pub batch_count: AtomicU64,
    /// Leaves whose priors became uniform.
    pub uniform_prior_count: AtomicU64,
    /// Leaves whose value was not finite and became 0.
    pub zeroed_value_count: AtomicU64,
    /// Batches refused: too large, unreadable, or for a network that is not there.
    pub refused_batch_count: AtomicU64,
    /// Time from question to answer in microseconds, summed over the leaves of self-play.
    pub self_play_wait_us: AtomicU64,
    /// Leaves of the next batch at most.
    pub batch_leaf_limit: AtomicU64,
    /// Leaves answered by inference servers elsewhere, of all that were.
    pub remote_evaluation_count: AtomicU64,
    /// Leaves that inference servers take at once, all together.
    pub remote_leaf_count_max: AtomicU64,
    /// Inference servers that are connected.
    pub remote_server_count: AtomicU64,
    /// How long evaluations of batches took on the device.
    pub batch_times: BatchTimes,
    /// Leaves computed: those answered, and what batches were padded with.
    pub computed_leaf_count: AtomicU64,
    /// Whether the answers say something.
    pub answers: AnswerMeter,
    pub(super) device_time: DeviceTime,
    refused: SummedLog<()>,
}

/// The values of [`InferenceCounters`] at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InferenceCounts {
    /// Leaves answered.
    pub evaluation_count: u64,
    /// Active cells of these leaves.
    pub active_cell_count: u64,
    /// Evaluations of batches.
    pub batch_count: u64,
    /// Leaves whose priors became uniform.
    pub uniform_prior_count: u64,
    /// Leaves whose value was not finite and became 0.
    pub zeroed_value_count: u64,
    /// Batches refused.
    pub refused_batch_count: u64,
    /// Time from question to answer in microseconds, summed over the leaves of self-play.
    pub self_play_wait_us: u64,
    /// Leaves of the next batch at most; 0 before the first.
    pub batch_leaf_limit: u64,
    /// Leaves answered by inference servers elsewhere, of all that were.
    pub remote_evaluation_count: u64,
    /// Leaves that inference servers take at once, all together.
    pub remote_leaf_count_max: u64,
    /// Inference servers that are connected.
    pub remote_server_count: u64,
    /// Leaves computed, padding included.
    pub computed_leaf_count: u64,
    /// Time in microseconds in which the device computed at least one batch.
    pub device_busy_us: u64,
}

impl InferenceCounters {
    /// Returns the counts as of now.
    #[must_use]
    pub fn counts(&self) -> InferenceCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        InferenceCounts {
            evaluation_count: read(&self.evaluation_count),
            active_cell_count: read(&self.active_cell_count),
            batch_count: read(&self.batch_count),
            uniform_prior_count: read(&self.uniform_prior_count),
            zeroed_value_count: read(&self.zeroed_value_count),
            refused_batch_count: read(&self.refused_batch_count),
            self_play_wait_us: read(&self.self_play_wait_us),
            batch_leaf_limit: read(&self.batch_leaf_limit),
            remote_evaluation_count: read(&self.remote_evaluation_count),
            remote_leaf_count_max: read(&self.remote_leaf_count_max),
            remote_server_count: read(&self.remote_server_count),
            computed_leaf_count: read(&self.computed_leaf_count),
            device_busy_us: self.device_time.total(Instant::now()).as_micros() as u64,
        }
    }

    pub(super) fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Answers a batch with the reason why it is not evaluated, and counts it.
    pub(super) fn refuse(&self, job: Job, error: &dyn std::fmt::Display) {
        Self::add(&self.refused_batch_count, 1);
        let (batch_id, network_id, error) = (job.batch.batch_id, job.batch.network_id, error.to_string());
        if let Some(count) = self.refused.note(&(), 1, Instant::now()) {
            warn!(count, batch_id, network_id, error, "batches refused");
        }
        job.answer.send(proto::EvaluationBatch { batch_id, error, ..Default::default() });
    }
}
