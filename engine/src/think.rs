//! Drives a search until its limits: simulations, time, memory, or a proof. Independent of networks and protocols.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use shared::game::Game;
use shared::search::{EvaluationError, Evaluator, LeafId, LeafSource, ParallelSearch, Request, SearchThread};

/// Fewest simulations before a move is chosen: the position itself, and one move.
const SIMULATIONS_MIN: u32 = 2;
/// Descents for one batch, per leaf wanted: many end where the result is known, and the clock must be looked at.
const DESCENTS_PER_LEAF: u32 = 4;

/// Makes an evaluator for each thread of a search. What it draws at random follows from the seed.
pub type MakeEvaluator<'a, G> = dyn Fn(u64) -> Box<dyn Evaluator<G> + Send> + Sync + 'a;

/// When a search ends, whichever comes first; a proven result ends it too.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Simulations through the root, those kept from the move before included.
    pub simulation_count: u32,
    /// When the answer must be there.
    pub deadline: Option<Instant>,
    /// Bytes that the tree may take.
    pub byte_count_max: usize,
    /// Leaves evaluated at once.
    pub batch_size: u32,
    /// Threads that search.
    pub thread_count: u32,
}

impl Limits {
    /// Returns whether there is no room or time for one more batch, which takes `batch_time`.
    fn is_reached<G: Game>(&self, search: &ParallelSearch<G>, batch_time: Duration) -> bool {
        let is_late = || self.deadline.is_some_and(|deadline| Instant::now() + batch_time >= deadline);
        // An array of the tree grows by doubling.
        let is_full = || search.byte_count() > self.byte_count_max / 2;
        search.simulation_count() >= SIMULATIONS_MIN && (is_late() || is_full())
    }
}

/// Searches until a limit is reached, or `goes_on`, which is asked after every batch of the calling thread, says no.
///
/// # Errors
/// Those of the evaluator, and [`EvaluationError::ThreadFailed`]; the search is as if the last leaves had never been
/// handed out.
pub fn think<G: Game>(
    search: &mut ParallelSearch<G>,
    make_evaluator: &MakeEvaluator<'_, G>,
    limits: &Limits,
    goes_on: &mut dyn FnMut(&ParallelSearch<G>) -> bool,
) -> Result<(), EvaluationError> {
    search.set_simulation_count(limits.simulation_count);
    let work = Work { search, make_evaluator, limits, is_over: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> =
            (1..limits.thread_count).map(|number| scope.spawn(move || work.run(number, &mut |_| true))).collect();
        let result = work.run(0, goes_on);
        let panicked = |_| Err(EvaluationError::ThreadFailed);
        others.into_iter().map(|other| other.join().unwrap_or_else(panicked)).fold(result, Result::and)
    })
}

/// What the threads of a search have in common.
struct Work<'a, G: Game> {
    search: &'a ParallelSearch<G>,
    make_evaluator: &'a MakeEvaluator<'a, G>,
    limits: &'a Limits,
    is_over: AtomicBool,
}

impl<G: Game> Work<'_, G> {
    /// Does one thread's share. Who ends first ends the search of all.
    fn run(&self, number: u32, goes_on: &mut dyn FnMut(&ParallelSearch<G>) -> bool) -> Result<(), EvaluationError> {
        let result = self.share(number, goes_on);
        self.is_over.store(true, Relaxed);
        result
    }

    fn share(&self, number: u32, goes_on: &mut dyn FnMut(&ParallelSearch<G>) -> bool) -> Result<(), EvaluationError> {
        let Self { search, make_evaluator, limits, is_over } = self;
        let mut thread = search.thread(number);
        let mut evaluator = make_evaluator(number.into());
        let batch_size = limits.batch_size.min(evaluator.batch_size_max());
        let mut leaves = Vec::new();
        // The slowest batch so far. The first is not counted: it prepares memory and threads.
        let mut batch_time = Duration::ZERO;
        let mut is_first = true;
        while !is_over.load(Relaxed) && !search.is_done() && !limits.is_reached(search, batch_time) {
            let started = Instant::now();
            let is_blocked = select_leaves(&mut thread, batch_size, &mut leaves);
            if leaves.is_empty() {
                if is_blocked {
                    // Another thread is at work where the simulation led.
                    std::thread::yield_now();
                }
                continue;
            }
            evaluator.evaluate(&mut thread, &leaves)?;
            if !std::mem::take(&mut is_first) {
                batch_time = batch_time.max(started.elapsed());
            }
            if search.simulation_count() >= SIMULATIONS_MIN && !goes_on(search) {
                break;
            }
        }
        Ok(())
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
