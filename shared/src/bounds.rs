//! Ranges of numbers that several programs check: settings, flags and messages.
//!
//! The range of a number that belongs to one type stands with that type
//! ([`SearchSettings::SIMULATION_COUNTS`](crate::search::SearchSettings::SIMULATION_COUNTS)).

use std::ops::RangeInclusive;

/// Most threads of one process, or of one computation.
pub const THREAD_COUNT_MAX: usize = 1024;
/// Threads that a user may ask for; 0: one for each core.
pub const THREADS: RangeInclusive<usize> = 0..=THREAD_COUNT_MAX;
/// Threads that a user may ask for where 0 has no meaning.
pub const THREAD_COUNTS: RangeInclusive<usize> = 1..=THREAD_COUNT_MAX;
/// Games that one thread of a worker plays at once; 0: as many as keep it busy.
pub const GAMES_PER_THREAD: RangeInclusive<usize> = 0..=4096;
/// Random plies that both games of a pair start with. Longer openings end many a game before the players begin.
pub const OPENING_PLIES: RangeInclusive<u32> = 0..=40;
/// Most legal moves of a position: of a leaf that is evaluated, and of a policy target.
pub const LEGAL_MOVE_COUNT_MAX: usize = 4096;
/// Batches of leaves that the evaluation stream of one worker may have unanswered.
pub const BATCHES_IN_FLIGHT: RangeInclusive<u32> = 1..=4096;
