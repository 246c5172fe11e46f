//! Drives a search until its limits: simulations, time, memory, or a proof. Knows no network and no protocol.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use shared::game::{Appraise, Game};
use shared::search::{LeafId, Member, Preset, Request, TeamSearch, Valuer};

/// Fewest simulations before a move is chosen: the position itself, and one move.
const SIMULATIONS_MIN: u32 = 2;
/// Descents for one batch, per leaf wanted: many end where the result is known, and the clock must be looked at.
const DESCENTS_PER_LEAF: u32 = 4;

/// Who answers the leaves of a search, whichever of its threads finds them.
pub trait Evaluator<G: Game>: Send + Sync {
    /// Returns what one thread asks. What it draws at random follows from `seed`.
    fn answerer(&self, seed: u64) -> Box<dyn Answerer<G> + '_>;

    /// Returns how many leaves at once are of use, if `wanted` are wanted.
    fn batch_size(&self, wanted: u32) -> u32 {
        wanted
    }

    /// Sets how many threads compute the answers to one batch.
    fn set_threads(&self, _count: u32) {}
}

/// Answers the leaves of one thread.
pub trait Answerer<G: Game> {
    /// Evaluates all `leaves` of `member`, which plays `game`, and expands them.
    ///
    /// # Errors
    /// Why there is no answer; no leaf is expanded then.
    fn answer(&mut self, game: &G, member: &mut Member<'_, G>, leaves: &[LeafId]) -> anyhow::Result<()>;
}

/// Answers as a preset does that has no network.
#[derive(Debug, Clone, Copy)]
pub struct Alone(pub Preset);

impl<G: Appraise> Evaluator<G> for Alone {
    fn answerer(&self, seed: u64) -> Box<dyn Answerer<G> + '_> {
        Box::new(OnTheSpot(self.0.valuer(seed)))
    }

    fn batch_size(&self, _wanted: u32) -> u32 {
        // Nothing is gained by choosing leaves before the answers are in.
        1
    }
}

struct OnTheSpot<G: Game>(Box<dyn Valuer<G> + Send>);

impl<G: Game> Answerer<G> for OnTheSpot<G> {
    fn answer(&mut self, _: &G, member: &mut Member<'_, G>, leaves: &[LeafId]) -> anyhow::Result<()> {
        leaves.iter().for_each(|leaf| member.answer(*leaf, &mut *self.0));
        Ok(())
    }
}

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
    fn is_reached<G: Game>(&self, search: &TeamSearch<G>, batch_time: Duration) -> bool {
        let is_late = || self.deadline.is_some_and(|deadline| Instant::now() + batch_time >= deadline);
        // An array of the tree grows by doubling.
        let is_full = || search.byte_count() > self.byte_count_max / 2;
        search.simulation_count() >= SIMULATIONS_MIN && (is_late() || is_full())
    }
}

/// Searches until a limit is reached, or `goes_on`, which is asked after every batch of the calling thread, says no.
///
/// # Errors
/// What the evaluator says; the search is as if the last leaves had never been handed out.
pub fn think<G: Game>(
    game: &G,
    search: &mut TeamSearch<G>,
    evaluator: &dyn Evaluator<G>,
    limits: &Limits,
    goes_on: &mut dyn FnMut(&TeamSearch<G>) -> bool,
) -> anyhow::Result<()> {
    search.set_simulation_count(limits.simulation_count);
    let work = Work { game, search, evaluator, limits, is_over: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> =
            (1..limits.thread_count).map(|number| scope.spawn(move || work.run(number, &mut |_| true))).collect();
        let result = work.run(0, goes_on);
        let panicked = |_| Err(anyhow::anyhow!("a search thread panicked"));
        others.into_iter().map(|other| other.join().unwrap_or_else(panicked)).fold(result, Result::and)
    })
}

/// What the threads of a search have in common.
struct Work<'a, G: Game> {
    game: &'a G,
    search: &'a TeamSearch<G>,
    evaluator: &'a dyn Evaluator<G>,
    limits: &'a Limits,
    is_over: AtomicBool,
}

impl<G: Game> Work<'_, G> {
    /// Does one thread's share. Who ends first ends the search of all.
    fn run(&self, number: u32, goes_on: &mut dyn FnMut(&TeamSearch<G>) -> bool) -> anyhow::Result<()> {
        let result = self.share(number, goes_on);
        self.is_over.store(true, Relaxed);
        result
    }

    fn share(&self, number: u32, goes_on: &mut dyn FnMut(&TeamSearch<G>) -> bool) -> anyhow::Result<()> {
        let Self { game, search, evaluator, limits, is_over } = self;
        let mut member = search.member(number);
        let mut answerer = evaluator.answerer(number.into());
        let mut leaves = Vec::new();
        // The slowest batch so far. The first is not counted: it prepares memory and threads.
        let mut batch_time = Duration::ZERO;
        let mut is_first = true;
        while !is_over.load(Relaxed) && !search.is_done() && !limits.is_reached(search, batch_time) {
            let started = Instant::now();
            let is_barred = select_leaves(&mut member, limits.batch_size, &mut leaves);
            if leaves.is_empty() {
                if is_barred {
                    // Another thread is at work where the way leads.
                    std::thread::yield_now();
                }
                continue;
            }
            answerer.answer(game, &mut member, &leaves)?;
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
fn select_leaves<G: Game>(member: &mut Member<'_, G>, batch_size: u32, leaves: &mut Vec<LeafId>) -> bool {
    leaves.clear();
    for _ in 0..batch_size * DESCENTS_PER_LEAF {
        if leaves.len() >= batch_size as usize {
            break;
        }
        match member.select_leaf() {
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
