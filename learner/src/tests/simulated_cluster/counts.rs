//! What there was in a simulation, counted.

use super::ledger::Ledger;

/// What there was.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) events: u64,
    pub(super) calls: u64,
    pub(super) kills: u64,
    /// Kills before, within or after a write.
    pub(super) kills_at_write: u64,
    /// Kills with which a disk lost what it had said to have.
    pub(super) lies: u64,
    pub(super) stops: u64,
    pub(super) partitions: u64,
    pub(super) full_disks: u64,
    /// Writes that failed, for a full disk or another reason.
    pub(super) failed_writes: u64,
    /// Tries to write a file without room for it.
    pub(super) full_files: u64,
    pub(super) worker_deaths: u64,
    /// Calls with a token for something else.
    pub(super) denied_calls: u64,
    pub(super) gate_checks: u64,
    /// Names that a check refuted.
    pub(super) refuted_names: u64,
    /// Gate games that do not count since their worker was refuted.
    pub(super) discounted_games: u64,
    pub(super) plies: u64,
    pub(super) games: u64,
    /// Games whose plies were removed.
    pub(super) thinned_games: u64,
    pub(super) iterations: u64,
    pub(super) promotions: u64,
    pub(super) training_steps: u64,
}

impl Counts {
    /// Adds what is in the store at the end.
    pub(super) fn finish(&mut self, ledger: &Ledger) {
        self.plies = ledger.plies.len() as u64;
        self.games = ledger.games.values().filter(|game| game.state == "finished").count() as u64;
        self.thinned_games = ledger.thinned.len() as u64;
        self.iterations = ledger.iterations.values().filter(|it| it.state.is_finished()).count() as u64;
        self.promotions =
            ledger.networks.values().filter(|(_, generation)| generation.is_some_and(|g| g > 0)).count() as u64;
        self.training_steps = ledger.last_step();
    }

    /// Adds those of another simulation.
    pub(super) fn add(&mut self, other: &Self) {
        let sums: [(&mut u64, u64); 21] = [
            (&mut self.events, other.events),
            (&mut self.calls, other.calls),
            (&mut self.kills, other.kills),
            (&mut self.kills_at_write, other.kills_at_write),
            (&mut self.lies, other.lies),
            (&mut self.stops, other.stops),
            (&mut self.partitions, other.partitions),
            (&mut self.full_disks, other.full_disks),
            (&mut self.failed_writes, other.failed_writes),
            (&mut self.full_files, other.full_files),
            (&mut self.worker_deaths, other.worker_deaths),
            (&mut self.denied_calls, other.denied_calls),
            (&mut self.gate_checks, other.gate_checks),
            (&mut self.refuted_names, other.refuted_names),
            (&mut self.discounted_games, other.discounted_games),
            (&mut self.plies, other.plies),
            (&mut self.games, other.games),
            (&mut self.thinned_games, other.thinned_games),
            (&mut self.iterations, other.iterations),
            (&mut self.promotions, other.promotions),
            (&mut self.training_steps, other.training_steps),
        ];
        for (sum, value) in sums {
            *sum += value;
        }
    }
}
