//! Drives a search until its limits: simulations, time, memory, or a proof. Independent of networks and protocols.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use shared::game::Game;
use shared::search::{
    EvaluationError, Evaluator, LeafId, LeafSource, ParallelSearch, Request, SearchSettings, SearchThread,
};

use crate::search_pool::SearchPool;

/// Fewest simulations before a move is chosen: the position itself, and one move.
const SIMULATIONS_MIN: u32 = *SearchSettings::SIMULATION_COUNTS.start();
/// Descents for one batch, per leaf wanted: many end where the result is known, and the clock must be looked at.
const DESCENTS_PER_LEAF: u32 = 4;
/// Longest wait of a thread that can do nothing until another has expanded its leaves.
const BLOCKED_WAIT_MAX: Duration = Duration::from_millis(1);

/// Makes an evaluator for each thread of a search. What it draws at random follows from the seed.
pub type MakeEvaluator<'a, G> = dyn Fn(u64) -> Box<dyn Evaluator<G> + Send> + 'a;

/// When a search ends, whichever comes first; a proven result ends it too.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Simulations through the root, those kept from the move before included.
    pub simulation_count: u32,
    /// When the answer must be there.
    pub deadline: Option<Instant>,
    /// Bytes that the tree may take.
    pub byte_count_max: usize,
    /// Leaves evaluated at once, of all threads together.
    pub batch_size: u32,
    /// Threads that search.
    pub thread_count: u32,
}

impl Limits {
    /// Returns whether there is no room for more.
    fn is_full<G: Game>(&self, search: &ParallelSearch<G>) -> bool {
        // An array of the tree grows by doubling.
        search.simulation_count() >= SIMULATIONS_MIN && search.byte_count() > self.byte_count_max / 2
    }

    /// Returns whether there is no time for one more batch, which takes `batch_time`.
    fn is_late<G: Game>(&self, search: &ParallelSearch<G>, batch_time: Duration) -> bool {
        let is_late = self.deadline.is_some_and(|end| end.saturating_duration_since(Instant::now()) <= batch_time);
        is_late && search.simulation_count() >= SIMULATIONS_MIN
    }
}

/// Searches until a limit is reached, or `goes_on`, which is asked after every batch of the calling thread, says no.
/// Returns the search.
///
/// # Errors
/// Those of the evaluator, and [`EvaluationError::ThreadFailed`]; the search is lost then.
pub fn think<G: Game>(
    pool: &mut SearchPool,
    mut search: ParallelSearch<G>,
    make_evaluator: &MakeEvaluator<'_, G>,
    limits: &Limits,
    goes_on: &mut dyn FnMut(&ParallelSearch<G>) -> bool,
) -> Result<ParallelSearch<G>, EvaluationError> {
    search.set_simulation_count(limits.simulation_count);
    let work = Arc::new(Work::new(search, *limits));
    let others = pool.start(limits.thread_count.saturating_sub(1), |number| {
        let (work, mut evaluator) = (Arc::clone(&work), make_evaluator(number.into()));
        Box::new(move || work.run(number, &mut *evaluator, &mut |_| true))
    });
    let result = work.run(0, &mut *make_evaluator(0), goes_on);
    let result = result.and(pool.wait_for(others));
    // Every thread lets the search go before it says that it is done.
    let work = Arc::try_unwrap(work).map_err(|_| EvaluationError::ThreadFailed);
    result.and_then(|()| Ok(work?.search))
}

/// What the threads of a search have in common.
struct Work<G: Game> {
    search: ParallelSearch<G>,
    limits: Limits,
    is_over: AtomicBool,
    progress: Progress,
}

/// Why a thread ends its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// There is no time for another batch of its own.
    Late,
    /// The search is over.
    Over,
}

/// Lets threads wait until one of them has expanded leaves.
#[derive(Default)]
struct Progress {
    batch_count: Mutex<u64>,
    has_grown: Condvar,
}

impl<G: Game> Work<G> {
    fn new(search: ParallelSearch<G>, limits: Limits) -> Self {
        Self { search, limits, is_over: AtomicBool::new(false), progress: Progress::default() }
    }

    /// Does one thread's share. Who ends first ends the search of all, unless it is only that its own batches are too slow
    /// for the time left.
    ///
    /// # Errors
    /// Those of the evaluator.
    fn run(
        &self,
        number: u32,
        evaluator: &mut dyn Evaluator<G>,
        goes_on: &mut dyn FnMut(&ParallelSearch<G>) -> bool,
    ) -> Result<(), EvaluationError> {
        let result = self.share(number, evaluator, goes_on);
        if result != Ok(End::Late) {
            self.is_over.store(true, Relaxed);
            self.progress.tell();
        }
        result.map(drop)
    }

    fn share(
        &self,
        number: u32,
        evaluator: &mut dyn Evaluator<G>,
        goes_on: &mut dyn FnMut(&ParallelSearch<G>) -> bool,
    ) -> Result<End, EvaluationError> {
        let Self { search, limits, is_over, progress } = self;
        let mut thread = search.thread(number);
        let batch_size = limits.batch_size.div_ceil(limits.thread_count.max(1)).min(evaluator.batch_size_max());
        // Where leaves are evaluated one by one, another thread is done before a wait has begun.
        let waits = limits.thread_count > 1 && evaluator.batch_size_max() > 1;
        let mut leaves = Vec::new();
        // The slowest batch so far. The first is not counted: it prepares memory and threads.
        let mut batch_time = Duration::ZERO;
        let mut is_first = true;
        while !is_over.load(Relaxed) && !search.is_done() && !limits.is_full(search) {
            if limits.is_late(search, batch_time) {
                return Ok(End::Late);
            }
            let started = Instant::now();
            let seen = if waits { progress.batch_count() } else { 0 };
            let is_blocked = select_leaves(&mut thread, batch_size, &mut leaves);
            if leaves.is_empty() {
                // Another thread is at work where the simulation led.
                match (is_blocked, waits) {
                    (true, true) => progress.wait(seen),
                    (true, false) => std::thread::yield_now(),
                    (false, _) => {}
                }
                continue;
            }
            evaluator.evaluate(&mut thread, &leaves)?;
            if waits {
                progress.tell();
            }
            if !std::mem::take(&mut is_first) {
                batch_time = batch_time.max(started.elapsed());
            }
            if search.simulation_count() >= SIMULATIONS_MIN && !goes_on(search) {
                break;
            }
        }
        Ok(End::Over)
    }
}

impl Progress {
    fn batch_count(&self) -> u64 {
        *self.batch_count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        *self.batch_count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.has_grown.notify_all();
    }

    /// Waits for a batch after the first `seen`, though not for long: the clock must be looked at.
    fn wait(&self, seen: u64) {
        let batch_count = self.batch_count.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.has_grown.wait_timeout_while(batch_count, BLOCKED_WAIT_MAX, |count| *count == seen);
    }
}

/// Returns whether no more leaves can be had for now.
fn select_leaves<G: Game>(thread: &mut SearchThread<'_, G>, batch_size: u32, leaves: &mut Vec<LeafId>) -> bool {
    leaves.clear();
    for _ in 0..batch_size * DESCENTS_PER_LEAF {
        if leaves.len() >= batch_size as usize {
            break;
        }
        match thread.select_leaf() {
            Request::Evaluate(leaf) => leaves.push(leaf),
            Request::Finished => {}
            Request::Blocked => return true,
        }
    }
    false
}

#[cfg(test)]
#[path = "think_tests.rs"]
pub mod tests;
