//! Which workers hold how many games of one kind, and how many more each may get. Nothing here reads a clock.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often workers that are gone are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// A worker that holds games, or asked for some lately.
#[derive(Debug)]
struct Holder {
    held_count: usize,
    /// Games that it may hold: twice as many each time it has played as many plies.
    held_max: usize,
    /// Plies since `held_max` was raised.
    ply_count: usize,
    asked_at: Option<Instant>,
}

/// What a worker may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) count: usize,
    /// Why it is less than what was asked for.
    pub(super) withheld: Option<Withheld>,
}

/// Why a worker gets fewer games than it asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Withheld {
    /// It has not yet played a ply a game of those that it may hold.
    PliesFirst,
    /// It holds its share of all games.
    FairShare,
}

/// What bounds a grant.
#[derive(Debug, Clone, Copy)]
pub(super) struct GrantBounds {
    /// Games that all workers together may hold.
    pub(super) held_max: usize,
    /// Games that a worker gets before it has played any.
    pub(super) games_first: usize,
    /// A worker that holds nothing and has not asked for so long is gone.
    pub(super) silence_max: Duration,
}

/// All workers that hold games of one kind.
#[derive(Debug, Default)]
pub(super) struct Holders {
    workers: BTreeMap<String, Holder>,
    held_count: usize,
    swept_at: Option<Instant>,
}

impl Holders {
    /// Returns the number of games that workers hold.
    pub(super) const fn held_count(&self) -> usize {
        self.held_count
    }

    /// Returns the workers that hold games, each with their number.
    pub(super) fn held(&self) -> impl Iterator<Item = (&str, usize)> {
        let held = self.workers.iter().map(|(worker_id, holder)| (worker_id.as_str(), holder.held_count));
        held.filter(|(_, held_count)| *held_count > 0)
    }

    /// Notes that a worker holds one game more.
    pub(super) fn hold(&mut self, worker_id: &str) {
        self.held_count += 1;
        match self.workers.get_mut(worker_id) {
            Some(holder) => holder.held_count += 1,
            None => {
                let holder = Holder { held_count: 1, held_max: 1, ply_count: 0, asked_at: None };
                self.workers.insert(worker_id.to_owned(), holder);
            }
        }
    }

    /// Notes that a worker holds one game less.
    pub(super) fn let_go(&mut self, worker_id: &str) {
        self.held_count = self.held_count.saturating_sub(1);
        if let Some(holder) = self.workers.get_mut(worker_id) {
            holder.held_count = holder.held_count.saturating_sub(1);
        }
    }

    /// Notes a ply that a worker played.
    pub(super) fn note_ply(&mut self, worker_id: &str) {
        if let Some(holder) = self.workers.get_mut(worker_id) {
            holder.ply_count += 1;
        }
    }

    /// Notes that a lease of a worker ran out: it gets fewer games from now on.
    pub(super) fn note_expiry(&mut self, worker_id: &str) {
        if let Some(holder) = self.workers.get_mut(worker_id) {
            holder.held_max /= 2;
        }
    }

    /// Returns how many of the games that a worker asks for it may have.
    pub(super) fn grant(&mut self, worker_id: &str, asked: usize, bounds: &GrantBounds, now: Instant) -> Grant {
        self.sweep(bounds.silence_max, now);
        if !self.workers.contains_key(worker_id) {
            let holder = Holder { held_count: 0, held_max: bounds.games_first, ply_count: 0, asked_at: None };
            self.workers.insert(worker_id.to_owned(), holder);
        }
        let share = bounds.held_max.div_ceil(self.workers.len().max(1));
        let Some(holder) = self.workers.get_mut(worker_id) else { return Grant { count: 0, withheld: None } };
        holder.asked_at = Some(now);
        holder.held_max = holder.held_max.max(bounds.games_first);
        if holder.held_count + asked > holder.held_max && holder.ply_count >= holder.held_max {
            holder.held_max = holder.held_max.saturating_mul(2);
            holder.ply_count = 0;
        }
        let own_room = holder.held_max.saturating_sub(holder.held_count);
        let share_room = share.saturating_sub(holder.held_count);
        let count = asked.min(own_room).min(share_room);
        let reason = if own_room < share_room { Withheld::PliesFirst } else { Withheld::FairShare };
        Grant { count, withheld: (count < asked).then_some(reason) }
    }

    /// Forgets workers that are gone.
    fn sweep(&mut self, silence_max: Duration, now: Instant) {
        if self.swept_at.is_some_and(|at| now.saturating_duration_since(at) < SWEEP_INTERVAL) {
            return;
        }
        self.swept_at = Some(now);
        self.workers.retain(|_, holder| {
            let is_silent = holder.asked_at.is_none_or(|at| now.saturating_duration_since(at) >= silence_max);
            holder.held_count > 0 || !is_silent
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);

    fn bounds(held_max: usize) -> GrantBounds {
        GrantBounds { held_max, games_first: 8, silence_max: LEASE }
    }

    /// Asks, and holds what is granted.
    fn ask(holders: &mut Holders, worker_id: &str, asked: usize, held_max: usize, now: Instant) -> Grant {
        let grant = holders.grant(worker_id, asked, &bounds(held_max), now);
        (0..grant.count).for_each(|_| holders.hold(worker_id));
        grant
    }

    #[test]
    fn a_worker_gets_more_games_once_it_has_played_those_it_has() {
        let (mut holders, now) = (Holders::default(), Instant::now());
        assert_eq!(ask(&mut holders, "a", 100, 1000, now), Grant { count: 8, withheld: Some(Withheld::PliesFirst) });
        assert_eq!(ask(&mut holders, "a", 92, 1000, now).count, 0, "it only sits on them");
        (0..8).for_each(|_| holders.note_ply("a"));
        assert_eq!(ask(&mut holders, "a", 92, 1000, now).count, 8);
        (0..16).for_each(|_| holders.note_ply("a"));
        assert_eq!(ask(&mut holders, "a", 16, 1000, now), Grant { count: 16, withheld: None });
        holders.note_expiry("a");
        (0..32).for_each(|_| holders.let_go("a"));
        assert_eq!(ask(&mut holders, "a", 100, 1000, now).count, 16, "a lease of it ran out");
    }

    #[test]
    fn workers_share_what_there_is() {
        let (mut holders, now) = (Holders::default(), Instant::now());
        assert_eq!(ask(&mut holders, "a", 8, 10, now), Grant { count: 8, withheld: None });
        assert_eq!(ask(&mut holders, "b", 8, 10, now), Grant { count: 5, withheld: Some(Withheld::FairShare) });
        (0..4).for_each(|_| holders.let_go("a"));
        assert_eq!(ask(&mut holders, "a", 4, 10, now).count, 1);
        assert_eq!(holders.held_count(), 10);
        assert_eq!(holders.held().collect::<Vec<_>>(), [("a", 5), ("b", 5)]);
    }

    #[test]
    fn a_worker_that_is_gone_has_no_share() {
        let (mut holders, now) = (Holders::default(), Instant::now());
        ask(&mut holders, "a", 2, 8, now);
        ask(&mut holders, "b", 8, 8, now);
        (0..2).for_each(|_| holders.let_go("a"));
        assert_eq!(ask(&mut holders, "b", 4, 8, now + LEASE / 2).count, 0);
        assert_eq!(ask(&mut holders, "b", 4, 8, now + LEASE).count, 4);
    }
}
