//! Drives a search until its limits: simulations, time, memory, or a proof. Knows no network and no protocol.

use std::time::{Duration, Instant};

use shared::game::{Game, Value};
use shared::search::{LeafId, Request, Search};

/// Fewest simulations before a move is chosen: the position itself, and one move.
const SIMULATIONS_MIN: u32 = 2;
/// Descents for one batch, per leaf wanted: many end where the result is known, and the clock must be looked at.
const DESCENTS_PER_LEAF: u32 = 4;

/// Answers leaves.
pub trait Evaluator<G: Game> {
    /// Evaluates all `leaves` of `search`, which plays `game`, and expands them.
    ///
    /// # Errors
    /// Why there is no answer; no leaf is expanded then.
    fn answer(&mut self, game: &G, search: &mut Search<G>, leaves: &[LeafId]) -> anyhow::Result<()>;

    /// Returns how many leaves at once are of use, if `wanted` are wanted.
    fn batch_size(&self, wanted: u32) -> u32 {
        wanted
    }

    /// Sets how many threads compute the answers.
    fn set_threads(&mut self, _count: u32) {}
}

/// Holds every move for equally good and every position for even.
#[derive(Debug, Default)]
pub struct Uniform {
    priors: Vec<f32>,
}

impl<G: Game> Evaluator<G> for Uniform {
    fn answer(&mut self, _game: &G, search: &mut Search<G>, leaves: &[LeafId]) -> anyhow::Result<()> {
        for leaf in leaves {
            let move_count = search.leaf_moves(*leaf).len();
            self.priors.clear();
            self.priors.resize(move_count, 1.0 / move_count as f32);
            search.expand(*leaf, &self.priors, Value::DRAW);
        }
        Ok(())
    }

    fn batch_size(&self, _wanted: u32) -> u32 {
        // Nothing is gained by choosing leaves before the answers are in.
        1
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
}

impl Limits {
    /// Returns whether there is no room or time for one more batch, which takes `batch_time`.
    fn is_reached<G: Game>(&self, search: &Search<G>, batch_time: Duration) -> bool {
        let count = search.simulation_count();
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() + batch_time >= deadline);
        // An array of the tree grows by doubling.
        let is_full = search.byte_count() > self.byte_count_max / 2;
        count >= self.simulation_count || (count >= SIMULATIONS_MIN && (is_late || is_full))
    }
}

/// Searches until a limit is reached, or `goes_on`, which is asked after every batch, says no.
///
/// # Errors
/// What the evaluator says; the search is as if the last leaves had never been handed out.
pub fn think<G: Game>(
    game: &G,
    search: &mut Search<G>,
    evaluator: &mut dyn Evaluator<G>,
    limits: &Limits,
    goes_on: &mut dyn FnMut(&Search<G>) -> bool,
) -> anyhow::Result<()> {
    let mut leaves = Vec::new();
    // The slowest batch so far. The first is not counted: it prepares memory and threads.
    let mut batch_time = Duration::ZERO;
    let mut is_first = true;
    while !search.is_done() && !limits.is_reached(search, batch_time) {
        let started = Instant::now();
        select_leaves(search, limits, &mut leaves);
        if leaves.is_empty() {
            continue;
        }
        if let Err(error) = evaluator.answer(game, search, &leaves) {
            leaves.iter().for_each(|leaf| search.cancel(*leaf));
            return Err(error);
        }
        if !std::mem::take(&mut is_first) {
            batch_time = batch_time.max(started.elapsed());
        }
        if search.simulation_count() >= SIMULATIONS_MIN && !goes_on(search) {
            break;
        }
    }
    Ok(())
}

fn select_leaves<G: Game>(search: &mut Search<G>, limits: &Limits, leaves: &mut Vec<LeafId>) {
    leaves.clear();
    for _ in 0..limits.batch_size * DESCENTS_PER_LEAF {
        let is_enough = search.simulation_count() + search.awaited_count() >= limits.simulation_count;
        if is_enough || leaves.len() >= limits.batch_size as usize {
            return;
        }
        match search.select_leaf() {
            Request::Evaluate(leaf) => leaves.push(leaf),
            Request::Finished => {}
            Request::Blocked => return,
        }
    }
}

#[cfg(test)]
#[path = "think_tests.rs"]
pub mod tests;
