//! What the learner has promised to workers: plies that count, and games that are theirs for some time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::ledger::Ledger;

/// A game in the hands of a worker.
#[derive(Debug, Clone)]
struct Tenure {
    worker_id: String,
    /// Until then nobody else may get the game; renewed no further than `idle_until`.
    until: Instant,
    idle_until: Instant,
}

/// How long leases last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub(super) lease: Duration,
    pub(super) idle: Duration,
}

/// What was promised.
#[derive(Debug, Default)]
pub(super) struct Promises {
    /// Moves that were acknowledged, by game and ply.
    plies: BTreeMap<(u64, u32), String>,
    tenures: BTreeMap<u64, Tenure>,
}

impl Promises {
    /// Notes that a ply was acknowledged.
    pub(super) fn acknowledge(&mut self, key: (u64, u32), move_text: &str) -> Result<(), String> {
        let known = self.plies.entry(key).or_insert_with(|| move_text.to_owned());
        if known == move_text { Ok(()) } else { Err(format!("{key:?}: {known} and {move_text} were acknowledged")) }
    }

    /// Checks that all that was acknowledged is in the store, or was removed with its game.
    pub(super) fn check(&self, ledger: &Ledger) -> Result<(), String> {
        let is_lost = |key: &(u64, u32), text| ledger.plies.get(key) != Some(text) && !ledger.thinned.contains(&key.0);
        let lost = self.plies.iter().find(|(key, text)| is_lost(key, text));
        match lost {
            None => Ok(()),
            Some((key, text)) => {
                Err(format!("lost: {key:?} {text} was acknowledged, stored is {:?}", ledger.plies.get(key)))
            }
        }
    }

    /// Forgets what a disk has lost that lied.
    pub(super) fn retain(&mut self, ledger: &Ledger) {
        self.plies.retain(|key, text| ledger.plies.get(key) == Some(text) || ledger.thinned.contains(&key.0));
    }

    /// The learner has started: the worker that had a game last may go on, until another one gets it.
    pub(super) fn restart(&mut self, ledger: &Ledger, now: Instant) {
        self.check(ledger).unwrap_or_else(|lost| panic!("after a restart: {lost}"));
        let held = ledger.games.iter().filter(|(_, game)| game.state == "open");
        let tenure = |worker_id: &str| Tenure { worker_id: worker_id.to_owned(), until: now, idle_until: now };
        self.tenures = held.filter_map(|(id, game)| Some((*id, tenure(game.holder()?)))).collect();
    }

    /// A worker gets a game, which must not be another's.
    pub(super) fn grant(&mut self, game_id: u64, worker_id: &str, now: Instant, terms: Terms) -> Result<(), String> {
        if let Some(tenure) = self.tenures.get(&game_id).filter(|it| it.worker_id != worker_id && it.until > now) {
            return Err(format!("two owners: game {game_id} is given to {worker_id} while it is {tenure:?}"));
        }
        let tenure = Tenure { worker_id: worker_id.to_owned(), until: now + terms.lease, idle_until: now + terms.idle };
        self.tenures.insert(game_id, tenure);
        Ok(())
    }

    /// Returns the worker that may play a game.
    pub(super) fn owner(&self, game_id: u64) -> Option<&str> {
        self.tenures.get(&game_id).map(|tenure| tenure.worker_id.as_str())
    }

    /// Nobody has a game any more.
    pub(super) fn free(&mut self, game_id: u64) {
        self.tenures.remove(&game_id);
    }

    /// Returns whether a worker is the one that may play a game.
    pub(super) fn is_owner(&self, game_id: u64, worker_id: &str) -> bool {
        self.owner(game_id) == Some(worker_id)
    }

    /// A worker that has a game gave a sign of life, or played a ply.
    pub(super) fn extend(&mut self, game_id: u64, has_played: bool, now: Instant, terms: Terms) {
        if let Some(tenure) = self.tenures.get_mut(&game_id) {
            if has_played {
                tenure.idle_until = now + terms.idle;
            }
            tenure.until = tenure.until.max(tenure.idle_until.min(now + terms.lease));
        }
    }
}
