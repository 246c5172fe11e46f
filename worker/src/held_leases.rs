//! The leases that this process holds. A lease is held as long as a thread plays the game or one of its plies is not
//! acknowledged.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use shared::ids::GameId;

/// The game is this process's to play.
const HELD: u8 = 0;
/// It is another's by now, or closed.
const LOST: u8 = 1;
/// The learner ended it before the rules do: a side has resigned.
const OVER: u8 = 2;

/// The lease of a game that this process plays.
#[derive(Debug)]
pub(crate) struct HeldLease {
    pub(crate) game_id: GameId,
    state: AtomicU8,
}

impl HeldLease {
    /// Returns whether the lease is lost: the thread drops the game, and its plies are no longer sent.
    pub(crate) fn is_lost(&self) -> bool {
        self.state.load(Ordering::Relaxed) != HELD
    }

    /// Returns whether it is lost since the game is over, as a side has resigned.
    pub(crate) fn is_over(&self) -> bool {
        self.state.load(Ordering::Relaxed) == OVER
    }

    /// Gives the game up. Returns whether its lease was held until now.
    pub(crate) fn mark_lost(&self) -> bool {
        self.end_as(LOST)
    }

    /// Ends the game, as a side has resigned. Returns whether its lease was held until now.
    pub(crate) fn mark_over(&self) -> bool {
        self.end_as(OVER)
    }

    fn end_as(&self, state: u8) -> bool {
        self.state.compare_exchange(HELD, state, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// All leases that the process holds.
#[derive(Debug, Default)]
pub(crate) struct HeldLeases(Mutex<HashMap<GameId, Weak<HeldLease>>>);

impl HeldLeases {
    /// Takes a lease; `None` if it is held already.
    pub(crate) fn hold(&self, game_id: GameId) -> Option<Arc<HeldLease>> {
        let mut leases = self.lock();
        if leases.get(&game_id).and_then(Weak::upgrade).is_some_and(|lease| !lease.is_lost()) {
            return None;
        }
        let lease = Arc::new(HeldLease { game_id, state: AtomicU8::new(HELD) });
        leases.insert(game_id, Arc::downgrade(&lease));
        Some(lease)
    }

    /// Returns the ids of the held games in ascending order, and forgets those that are done.
    pub(crate) fn game_ids(&self) -> Vec<GameId> {
        let mut leases = self.lock();
        leases.retain(|_, lease| lease.strong_count() > 0);
        let held = leases.values().filter_map(Weak::upgrade).filter(|lease| !lease.is_lost());
        let mut game_ids: Vec<GameId> = held.map(|lease| lease.game_id).collect();
        game_ids.sort_unstable();
        game_ids
    }

    /// Gives a game up. Returns whether its lease was held.
    pub(crate) fn mark_lost(&self, game_id: GameId) -> bool {
        self.lock().get(&game_id).and_then(Weak::upgrade).is_some_and(|lease| lease.mark_lost())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<GameId, Weak<HeldLease>>> {
        // Each change is one call on the map: a panic elsewhere leaves it consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_held_once_until_the_game_is_done_or_lost() {
        let leases = HeldLeases::default();
        let [one, two] = [1, 2].map(GameId::new);
        let first = leases.hold(one).unwrap();
        let second = leases.hold(two).unwrap();
        assert!(leases.hold(one).is_none());
        assert_eq!(leases.game_ids(), [one, two]);
        drop(first);
        assert_eq!(leases.game_ids(), [two]);
        assert!(leases.mark_lost(two) && second.is_lost());
        assert!(!leases.mark_lost(two), "already lost");
        assert!(leases.game_ids().is_empty());
        let second = leases.hold(two).expect("a lost game may come again");
        assert!(second.mark_over() && second.is_lost() && second.is_over(), "a side has resigned it");
        assert!(!second.mark_lost() && second.is_over(), "a later ply says that it is closed");
        assert!(leases.game_ids().is_empty());
    }
}
