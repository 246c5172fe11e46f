//! Which workers hold how many games of one kind, and how many more each may get. Nothing here reads a clock.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::grants::HeldShares;

/// How often workers that are gone are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// A worker waits for its first game for so long after it asked for one; workers ask far more often.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// First pause of a worker after a refused ply; each further one in a row makes it twice as long.
const FIRST_REST: Duration = Duration::from_secs(1);

/// A worker that holds games, or asked for some lately.
#[derive(Debug, Default)]
struct Holder {
    held_count: usize,
    /// Whether it has played a ply.
    has_played: bool,
    /// Refused plies since the last one that was taken.
    refused_count: u32,
    /// Until then it gets no games.
    rests_until: Option<Instant>,
    /// Games that it may hold: twice as many each time it has played as many plies.
    held_max: usize,
    /// Plies since `held_max` was raised.
    ply_count: usize,
    asked_at: Option<Instant>,
    /// Whether it holds nothing and asked in vain.
    is_waiting: bool,
}

impl Holder {
    /// Whether it has not asked for as long as `time`.
    fn is_silent(&self, time: Duration, now: Instant) -> bool {
        self.asked_at.is_none_or(|at| now.saturating_duration_since(at) >= time)
    }
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
    /// A ply of it was refused a short time ago.
    Refused,
}

/// What bounds a grant.
#[derive(Debug, Clone, Copy)]
pub(super) struct GrantBounds {
    /// Games that all workers together may hold.
    pub(super) held_max: usize,
    /// Games that a worker gets before it has played any.
    pub(super) games_first: usize,
    /// A worker that holds nothing and has not asked for so long is gone. No pause after a refused ply is longer.
    pub(super) silence_max: Duration,
}

/// All workers that hold games of one kind.
#[derive(Debug, Default)]
pub(super) struct Holders {
    workers: BTreeMap<String, Holder>,
    held_count: usize,
    /// Workers that have not played a ply. Names cost nothing, so all of these are worth one worker.
    newcomer_count: usize,
    /// Games that they hold.
    newcomer_held_count: usize,
    /// Workers that wait for a game, newcomers among them.
    waiting_count: usize,
    /// Those that are newcomers.
    waiting_newcomer_count: usize,
    swept_at: Option<Instant>,
}

impl Holders {
    /// Returns the number of games that workers hold.
    pub(super) const fn held_count(&self) -> usize {
        self.held_count
    }

    /// Returns the games that workers hold, by whether these have played.
    pub(super) const fn held_shares(&self) -> HeldShares {
        HeldShares { playing: self.held_count - self.newcomer_held_count, newcomers: self.newcomer_held_count }
    }

    /// Returns the workers that hold games, each with their number.
    pub(super) fn held(&self) -> impl Iterator<Item = (&str, usize)> {
        let held = self.workers.iter().map(|(worker_id, holder)| (worker_id.as_str(), holder.held_count));
        held.filter(|(_, held_count)| *held_count > 0)
    }

    /// Notes that a worker holds one game more.
    pub(super) fn hold(&mut self, worker_id: &str) {
        let holder = self.holder(worker_id, 1);
        holder.held_count += 1;
        let has_played = holder.has_played;
        self.held_count += 1;
        self.newcomer_held_count += usize::from(!has_played);
    }

    /// Notes that a worker holds one game less.
    pub(super) fn let_go(&mut self, worker_id: &str) {
        self.held_count = self.held_count.saturating_sub(1);
        let Some(holder) = self.workers.get_mut(worker_id).filter(|holder| holder.held_count > 0) else { return };
        holder.held_count -= 1;
        self.newcomer_held_count -= usize::from(!holder.has_played);
    }

    /// Notes a ply that a worker played.
    pub(super) fn note_ply(&mut self, worker_id: &str) {
        let Some(holder) = self.workers.get_mut(worker_id) else { return };
        holder.ply_count += 1;
        (holder.refused_count, holder.rests_until) = (0, None);
        if !holder.has_played {
            holder.has_played = true;
            self.newcomer_count -= 1;
            self.newcomer_held_count -= holder.held_count;
            self.waiting_newcomer_count -= usize::from(holder.is_waiting);
        }
    }

    /// Notes that a lease of a worker ran out: it gets fewer games from now on.
    pub(super) fn note_expiry(&mut self, worker_id: &str) {
        if let Some(holder) = self.workers.get_mut(worker_id) {
            holder.held_max /= 2;
        }
    }

    /// Notes that a ply of a worker was refused, with which it lost the game: it gets fewer games from now on, and none
    /// before a pause is over, or each refused ply would cost the store a new lease.
    pub(super) fn note_refusal(&mut self, worker_id: &str, silence_max: Duration, now: Instant) {
        let Some(holder) = self.workers.get_mut(worker_id) else { return };
        holder.held_max /= 2;
        let rest = FIRST_REST.saturating_mul(2_u32.saturating_pow(holder.refused_count)).min(silence_max);
        holder.refused_count = holder.refused_count.saturating_add(1);
        holder.rests_until = Some(now + rest);
    }

    /// Returns how many of the games that a worker asks for it may have.
    pub(super) fn grant(&mut self, worker_id: &str, asked: usize, bounds: &GrantBounds, now: Instant) -> Grant {
        self.sweep(bounds.silence_max, now);
        let holder = self.holder(worker_id, bounds.games_first);
        holder.asked_at = Some(now);
        if holder.rests_until.is_some_and(|until| now < until) {
            // It keeps no place from others meanwhile.
            self.note_wait(worker_id, false);
            return Grant { count: 0, withheld: Some(Withheld::Refused) };
        }
        holder.held_max = holder.held_max.max(bounds.games_first);
        if holder.held_count + asked > holder.held_max && holder.ply_count >= holder.held_max {
            holder.held_max = holder.held_max.saturating_mul(2);
            holder.ply_count = 0;
        }
        let (held_count, has_played, is_waiting) = (holder.held_count, holder.has_played, holder.is_waiting);
        let own_room = holder.held_max.saturating_sub(held_count);
        let share_room = self.share_room(held_count, has_played, is_waiting, bounds.held_max);
        let count = asked.min(own_room).min(share_room);
        self.note_wait(worker_id, asked > 0 && held_count + count == 0);
        let reason = if own_room < share_room { Withheld::PliesFirst } else { Withheld::FairShare };
        Grant { count, withheld: (count < asked).then_some(reason) }
    }

    /// Returns how many games more a worker that holds `held_count` may have for its share: all of them are shared among
    /// those that have played, and one share is that of all newcomers together. Who came first may hold more than its share
    /// until its games end; others come first then, and get nothing on top of that before: each game would be slower.
    fn share_room(&self, held_count: usize, has_played: bool, is_waiting: bool, held_max: usize) -> usize {
        let played_count = self.workers.len() - self.newcomer_count;
        let share = held_max.div_ceil((played_count + usize::from(self.newcomer_count > 0)).max(1));
        let newcomers_share = share.saturating_sub(self.newcomer_held_count);
        if has_played {
            // A place for each worker that waits. Newcomers keep others waiting for no more than half of all games, and what
            // they hold takes nothing away from those that play.
            let of_newcomers = self.waiting_newcomer_count.min(newcomers_share).min(held_max / 2);
            let of_players = if is_waiting { 0 } else { self.waiting_count - self.waiting_newcomer_count };
            let free = held_max.saturating_sub(self.held_shares().playing + of_newcomers + of_players);
            return share.saturating_sub(held_count).min(free);
        }
        let free = held_max.saturating_sub(self.held_count);
        let own = share.div_ceil(self.newcomer_count.max(1)).saturating_sub(held_count);
        own.min(newcomers_share).min(free)
    }

    /// Notes whether a worker waits for a game.
    fn note_wait(&mut self, worker_id: &str, is_waiting: bool) {
        let Some(holder) = self.workers.get_mut(worker_id).filter(|holder| holder.is_waiting != is_waiting) else {
            return;
        };
        holder.is_waiting = is_waiting;
        let counts = [Some(&mut self.waiting_count), (!holder.has_played).then_some(&mut self.waiting_newcomer_count)];
        for count in counts.into_iter().flatten() {
            *count = if is_waiting { *count + 1 } else { *count - 1 };
        }
    }

    /// Returns a worker; a new one may hold `held_max` games.
    fn holder(&mut self, worker_id: &str, held_max: usize) -> &mut Holder {
        if !self.workers.contains_key(worker_id) {
            self.newcomer_count += 1;
        }
        self.workers.entry(worker_id.to_owned()).or_insert_with(|| Holder { held_max, ..Holder::default() })
    }

    /// Forgets workers that are gone, and no longer waits for those that do not ask.
    fn sweep(&mut self, silence_max: Duration, now: Instant) {
        if self.swept_at.is_some_and(|at| now.saturating_duration_since(at) < SWEEP_INTERVAL) {
            return;
        }
        self.swept_at = Some(now);
        (self.newcomer_count, self.waiting_count, self.waiting_newcomer_count) = (0, 0, 0);
        self.workers.retain(|_, holder| {
            holder.is_waiting &= !holder.is_silent(WAIT_MAX, now);
            let is_here = holder.held_count > 0 || !holder.is_silent(silence_max, now);
            let (is_newcomer, is_waiting) = (is_here && !holder.has_played, is_here && holder.is_waiting);
            self.newcomer_count += usize::from(is_newcomer);
            self.waiting_count += usize::from(is_waiting);
            self.waiting_newcomer_count += usize::from(is_newcomer && is_waiting);
            is_here
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
        holders.note_ply("a");
        let rest = Grant { count: 2, withheld: Some(Withheld::FairShare) };
        assert_eq!(ask(&mut holders, "b", 8, 10, now), rest, "its share is 5, but only 2 are left");
        (0..4).for_each(|_| holders.let_go("a"));
        assert_eq!(ask(&mut holders, "a", 4, 10, now).count, 1);
        assert_eq!(ask(&mut holders, "b", 6, 10, now).count, 3);
        assert_eq!(holders.held_count(), 10);
        assert_eq!(holders.held().collect::<Vec<_>>(), [("a", 5), ("b", 5)]);
    }

    #[test]
    fn names_that_have_not_played_have_one_share_together() {
        let (mut holders, now) = (Holders::default(), Instant::now());
        ask(&mut holders, "honest", 8, 16, now);
        (0..8).for_each(|_| holders.note_ply("honest"));
        assert_eq!(ask(&mut holders, "honest", 8, 16, now).count, 8);
        let names: Vec<String> = (0..100).map(|number| format!("sybil-{number}")).collect();
        let counts: Vec<usize> = names.iter().map(|name| ask(&mut holders, name, 8, 16, now).count).collect();
        assert_eq!(counts.iter().sum::<usize>(), 0, "workers hold as many as they may");
        (0..10).for_each(|_| holders.let_go("honest"));
        let counts: Vec<usize> = names.iter().map(|name| ask(&mut holders, name, 8, 16, now).count).collect();
        assert_eq!(
            counts.iter().sum::<usize>(),
            8,
            "half of them are the share of those that play, whoever else comes"
        );
        assert_eq!(ask(&mut holders, "honest", 8, 16, now).count, 2, "the other half");
        holders.let_go("honest");
        assert_eq!(ask(&mut holders, "honest", 8, 16, now).count, 1);
        holders.note_ply("sybil-0");
        let (counted, held) = (holders.newcomer_count, holders.newcomer_held_count);
        assert_eq!((counted, held), (99, 7), "one that plays is a worker");
    }

    #[test]
    fn workers_that_come_one_after_the_other_do_not_pile_up_games() {
        let (mut holders, now) = (Holders::default(), Instant::now());
        for number in 0..90 {
            let name = format!("worker-{number}");
            ask(&mut holders, &name, 128, 64, now);
            holders.note_ply(&name);
            ask(&mut holders, &name, 128, 64, now);
        }
        assert_eq!(holders.held_count(), 64);
    }

    #[test]
    fn with_more_workers_than_games_these_go_round() {
        let (mut holders, now) = (Holders::default(), Instant::now());
        let names: Vec<String> = (0..20).map(|number| format!("worker-{number}")).collect();
        let mut played = [0; 20];
        for _ in 0..200 {
            for (name, played) in names.iter().zip(&mut played) {
                if holders.workers.get(name).is_some_and(|holder| holder.held_count > 0) {
                    holders.note_ply(name);
                    holders.let_go(name);
                    *played += 1;
                }
                // At once when a game has ended.
                ask(&mut holders, name, 1, 8, now);
                assert!(holders.held_count() <= 9, "one of a newcomer, besides the eight");
            }
        }
        assert!(played.iter().all(|count| (60..=80).contains(count)), "{played:?}");
    }

    #[test]
    fn names_that_only_ask_keep_nobody_waiting_for_more_than_their_share() {
        let (mut holders, now) = (Holders::default(), Instant::now());
        for _ in 0..4 {
            ask(&mut holders, "honest", 8, 16, now);
            (0..8).for_each(|_| holders.note_ply("honest"));
        }
        assert_eq!(holders.held_count(), 16);
        for number in 0..100 {
            assert_eq!(ask(&mut holders, &format!("sybil-{number}"), 8, 16, now).count, 0);
        }
        (0..10).for_each(|_| holders.let_go("honest"));
        assert_eq!(ask(&mut holders, "honest", 10, 16, now).count, 2, "half of all games");
    }

    #[test]
    fn who_stops_asking_is_not_waited_for() {
        let (mut holders, now) = (Holders::default(), Instant::now());
        ask(&mut holders, "a", 2, 2, now);
        holders.note_ply("a");
        assert_eq!(ask(&mut holders, "b", 2, 2, now).count, 0);
        holders.let_go("a");
        assert_eq!(ask(&mut holders, "a", 1, 2, now).count, 0, "b comes first");
        assert_eq!(ask(&mut holders, "a", 1, 2, now + WAIT_MAX).count, 0, "its share is the other one");
        holders.let_go("a");
        assert_eq!(ask(&mut holders, "a", 1, 2, now + 2 * WAIT_MAX).count, 1);
    }

    #[test]
    fn a_refused_ply_is_followed_by_a_pause_that_grows_until_one_is_taken() {
        let (mut holders, start) = (Holders::default(), Instant::now());
        assert_eq!(ask(&mut holders, "a", 1, 1000, start).count, 1);
        let mut now = start;
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            holders.let_go("a");
            holders.note_refusal("a", LEASE, now);
            let end = now + Duration::from_secs(seconds);
            let early = ask(&mut holders, "a", 1, 1000, end - Duration::from_millis(1));
            assert_eq!(early, Grant { count: 0, withheld: Some(Withheld::Refused) }, "{seconds} s");
            assert_eq!(ask(&mut holders, "a", 1, 1000, end).count, 1, "{seconds} s");
            now = end;
        }
        holders.note_refusal("a", LEASE, now);
        holders.note_ply("a");
        holders.note_refusal("a", LEASE, now);
        assert_eq!(ask(&mut holders, "a", 1, 1000, now + FIRST_REST).count, 1);
    }

    #[test]
    fn who_rests_after_a_refused_ply_is_not_waited_for() {
        let (mut holders, now) = (Holders::default(), Instant::now());
        for name in ["b", "a", "c"] {
            assert_eq!(ask(&mut holders, name, 1, 2, now).count, 1);
            holders.note_ply(name);
            if name == "b" {
                holders.let_go(name);
            }
        }
        assert_eq!(ask(&mut holders, "b", 1, 2, now).count, 0, "it waits");
        holders.note_refusal("b", LEASE, now);
        assert_eq!(ask(&mut holders, "b", 1, 2, now).withheld, Some(Withheld::Refused));
        holders.let_go("a");
        assert_eq!(ask(&mut holders, "a", 1, 2, now).count, 1);
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
