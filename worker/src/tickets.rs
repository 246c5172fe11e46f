//! Which games are in hand. A ticket lives as long as a thread plays the game or a ply of it is not acknowledged.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A game in hand.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) game_id: u64,
    is_lost: AtomicBool,
}

impl Ticket {
    /// Returns whether the game is someone else's by now: its thread drops it, its plies are not sent any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Gives the game up. Returns whether it was in hand until now.
    pub(crate) fn set_lost(&self) -> bool {
        !self.is_lost.swap(true, Ordering::Relaxed)
    }
}

/// All tickets of the process.
#[derive(Debug, Default)]
pub(crate) struct Tickets(Mutex<HashMap<u64, Weak<Ticket>>>);

impl Tickets {
    /// Takes a game into hand; `None` if it is in hand already.
    pub(crate) fn take(&self, game_id: u64) -> Option<Arc<Ticket>> {
        let mut tickets = self.lock();
        if tickets.get(&game_id).and_then(Weak::upgrade).is_some_and(|ticket| !ticket.is_lost()) {
            return None;
        }
        let ticket = Arc::new(Ticket { game_id, is_lost: AtomicBool::new(false) });
        tickets.insert(game_id, Arc::downgrade(&ticket));
        Some(ticket)
    }

    /// Returns the games in hand, by rising id, and forgets those that are done.
    pub(crate) fn in_hand(&self) -> Vec<u64> {
        let mut tickets = self.lock();
        tickets.retain(|_, ticket| ticket.strong_count() > 0);
        let in_hand = tickets.values().filter_map(Weak::upgrade).filter(|ticket| !ticket.is_lost());
        let mut game_ids: Vec<u64> = in_hand.map(|ticket| ticket.game_id).collect();
        game_ids.sort_unstable();
        game_ids
    }

    /// Gives a game up. Returns whether it was in hand.
    pub(crate) fn lose(&self, game_id: u64) -> bool {
        self.lock().get(&game_id).and_then(Weak::upgrade).is_some_and(|ticket| ticket.set_lost())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Weak<Ticket>>> {
        // A map of ids is whole whatever its last user died of.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_in_hand_once_until_it_is_done_or_lost() {
        let tickets = Tickets::default();
        let first = tickets.take(1).unwrap();
        let second = tickets.take(2).unwrap();
        assert!(tickets.take(1).is_none());
        assert_eq!(tickets.in_hand(), [1, 2]);
        drop(first);
        assert_eq!(tickets.in_hand(), [2]);
        assert!(tickets.lose(2) && second.is_lost());
        assert!(!tickets.lose(2), "already lost");
        assert!(tickets.in_hand().is_empty());
        assert!(tickets.take(2).is_some(), "a lost game may come again");
    }
}
