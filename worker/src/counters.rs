//! What a worker counts, and the summary of it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use shared::ids::Generation;

/// Counters state by threads and tasks.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) ply_count: AtomicU64,
    pub(crate) acknowledged_ply_count: AtomicU64,
    pub(crate) evaluation_count: AtomicU64,
    pub(crate) batch_count: AtomicU64,
    pub(crate) cache_lookup_count: AtomicU64,
    pub(crate) cache_hit_count: AtomicU64,
    pub(crate) started_game_count: AtomicU64,
    pub(crate) finished_game_count: AtomicU64,
    pub(crate) dropped_game_count: AtomicU64,
    pub(crate) refused_ply_count: AtomicU64,
    pub(crate) unusable_lease_count: AtomicU64,
    pub(crate) unusable_evaluation_count: AtomicU64,
    pub(crate) uniform_prior_count: AtomicU64,
    pub(crate) session_count: AtomicU64,
    generation: AtomicU32,
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}

/// What a worker did, from its start to now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Plies played.
    pub ply_count: u64,
    /// Plies that the learner has on disk.
    pub acknowledged_ply_count: u64,
    /// Leaves evaluated by the learner.
    pub evaluation_count: u64,
    /// Batches those leaves came in.
    pub batch_count: u64,
    /// Leaves looked up in the cache.
    pub cache_lookup_count: u64,
    /// Leaves found there.
    pub cache_hit_count: u64,
    /// Games that threads play at the moment.
    pub game_count: u64,
    /// Games played to their end.
    pub finished_game_count: u64,
    /// Games given up: lease lost, ply refused, or a batch that could not be evaluated.
    pub dropped_game_count: u64,
    /// Plies that the learner refused.
    pub refused_ply_count: u64,
    /// Leases that could not be played.
    pub unusable_lease_count: u64,
    /// Answers of the evaluation stream that could not be used.
    pub unusable_evaluation_count: u64,
    /// Leaves whose priors the learner or the search replaced by uniform ones.
    pub uniform_prior_count: u64,
    /// Times the learner was joined.
    pub session_count: u64,
    /// Generation of the best network, as of the last answer.
    pub generation: Generation,
}

impl Counters {
    /// Notes the generation of the best network.
    pub(crate) fn set_generation(&self, generation: Generation) {
        self.generation.store(generation.get(), Ordering::Relaxed);
    }

    /// Returns the counts of this moment.
    pub(crate) fn summary(&self) -> Summary {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let ended = read(&self.finished_game_count) + read(&self.dropped_game_count);
        Summary {
            ply_count: read(&self.ply_count),
            acknowledged_ply_count: read(&self.acknowledged_ply_count),
            evaluation_count: read(&self.evaluation_count),
            batch_count: read(&self.batch_count),
            cache_lookup_count: read(&self.cache_lookup_count),
            cache_hit_count: read(&self.cache_hit_count),
            game_count: read(&self.started_game_count).saturating_sub(ended),
            finished_game_count: read(&self.finished_game_count),
            dropped_game_count: read(&self.dropped_game_count),
            refused_ply_count: read(&self.refused_ply_count),
            unusable_lease_count: read(&self.unusable_lease_count),
            unusable_evaluation_count: read(&self.unusable_evaluation_count),
            uniform_prior_count: read(&self.uniform_prior_count),
            session_count: read(&self.session_count),
            generation: Generation::new(self.generation.load(Ordering::Relaxed)),
        }
    }
}
