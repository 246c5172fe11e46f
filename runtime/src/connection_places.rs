//! The places of a server's connections: how many there are in all and for each origin, and who makes room for whom.
//!
//! A connection is silent until a call on it is let in. A silent one makes room when places run out: whoever only holds
//! connections keeps nobody else out.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::connection_limits::ConnectionLimits;
use crate::origin::Origin;

/// Who has a place.
#[derive(Debug)]
pub(crate) struct Places {
    limits: ConnectionLimits,
    state: Mutex<State>,
    /// A place is free again.
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    next_id: u64,
    /// Connections by age.
    open: BTreeMap<u64, Holder>,
    /// Connections that were told to make room and have not gone yet.
    leaving_count: usize,
    origins: HashMap<Origin, Counts>,
}

#[derive(Debug)]
struct Holder {
    origin: Origin,
    is_silent: bool,
    /// Tells the connection to make room.
    leave: CancellationToken,
}

/// Connections of an origin.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    open: usize,
    silent: usize,
}

/// What came of asking for a place.
#[derive(Debug)]
pub(crate) enum Request {
    /// There was one, perhaps after a silent connection of the same origin was told to leave.
    Taken(Place),
    /// There will be one once a silent connection has left, or another was closed.
    Wait { someone_leaves: bool },
    /// The origin has as many as it may, and has called on each.
    Refused,
}

impl Places {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, state: Mutex::default(), freed: Notify::new() })
    }

    /// Asks for a place.
    pub(crate) fn request(self: &Arc<Self>, origin: Origin) -> Request {
        let mut state = self.lock();
        let of_origin = state.origins.get(&origin).copied().unwrap_or_default();
        let is_origin_full = !origin.is_this_machine() && of_origin.open >= self.limits.count_per_address_max;
        if is_origin_full && of_origin.silent == 0 {
            return Request::Refused;
        }
        if state.open.len() + state.leaving_count >= self.limits.count_max {
            // One at a time: a place counts as free only when its connection has gone, and its file descriptor with it.
            let someone_leaves = state.leaving_count > 0 || state.tell_one_to_leave(None);
            return Request::Wait { someone_leaves };
        }
        if is_origin_full {
            state.tell_one_to_leave(Some(origin));
        }
        let id = state.next_id;
        state.next_id += 1;
        let leave = CancellationToken::new();
        state.open.insert(id, Holder { origin, is_silent: true, leave: leave.clone() });
        let counts = state.origins.entry(origin).or_default();
        (counts.open, counts.silent) = (counts.open + 1, counts.silent + 1);
        drop(state);
        Request::Taken(Place { id, leave, places: Arc::clone(self) })
    }

    /// Waits until a place may be free.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    /// Notes a call that was let in: the connection keeps its place.
    pub(crate) fn note_call(&self, id: u64) {
        let mut state = self.lock();
        let Some(holder) = state.open.get_mut(&id).filter(|holder| holder.is_silent) else { return };
        holder.is_silent = false;
        let origin = holder.origin;
        if let Some(counts) = state.origins.get_mut(&origin) {
            counts.silent -= 1;
        }
    }

    fn give_back(&self, id: u64) {
        let mut state = self.lock();
        if !state.remove(id) {
            state.leaving_count -= 1;
        }
        drop(state);
        self.freed.notify_one();
    }

    /// Counts agree after each method: a panic elsewhere leaves nothing half done in them.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Tells the oldest silent connection of `origin` to leave, by default of the one that has most. Returns whether
    /// there is one.
    fn tell_one_to_leave(&mut self, origin: Option<Origin>) -> bool {
        let most = self.origins.values().map(|counts| counts.silent).max().unwrap_or(0);
        let is_meant = |of: Origin| match origin {
            Some(origin) => of == origin,
            None => self.origins.get(&of).is_some_and(|counts| counts.silent == most),
        };
        let found = self.open.iter().find(|(_, holder)| holder.is_silent && is_meant(holder.origin));
        let Some(id) = found.map(|(id, holder)| {
            holder.leave.cancel();
            *id
        }) else {
            return false;
        };
        self.remove(id);
        self.leaving_count += 1;
        true
    }

    /// Forgets a connection. Returns whether it was known.
    fn remove(&mut self, id: u64) -> bool {
        let Some(holder) = self.open.remove(&id) else { return false };
        if let Some(counts) = self.origins.get_mut(&holder.origin) {
            (counts.open, counts.silent) = (counts.open - 1, counts.silent - usize::from(holder.is_silent));
            if counts.open == 0 {
                self.origins.remove(&holder.origin);
            }
        }
        true
    }
}

/// The place of one connection, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    id: u64,
    leave: CancellationToken,
    places: Arc<Places>,
}

impl Place {
    /// Returns what is cancelled when the connection has to make room.
    pub(crate) fn leave(&self) -> &CancellationToken {
        &self.leave
    }

    /// Returns what notes a call, for as long as anyone knows of the connection.
    pub(crate) fn caller(&self) -> (Arc<Places>, u64) {
        (Arc::clone(&self.places), self.id)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.give_back(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(count_max: usize, count_per_address_max: usize) -> Arc<Places> {
        Places::new(ConnectionLimits { count_max, count_per_address_max, ..ConnectionLimits::default() })
    }

    fn origin(number: u8) -> Origin {
        Origin::of(Some([203, 0, 113, number].into()))
    }

    fn take(places: &Arc<Places>, origin: Origin) -> Place {
        match places.request(origin) {
            Request::Taken(place) => place,
            other => panic!("{other:?}"),
        }
    }

    fn call(place: &Place) {
        let (places, id) = place.caller();
        places.note_call(id);
    }

    #[test]
    fn one_address_has_so_many_and_its_own_silent_ones_make_room() {
        let places = places(10, 2);
        let (first, second) = (take(&places, origin(1)), take(&places, origin(1)));
        call(&first);
        let third = take(&places, origin(1));
        assert_eq!((first.leave().is_cancelled(), second.leave().is_cancelled()), (false, true));
        call(&third);
        assert!(matches!(places.request(origin(1)), Request::Refused), "each has called");
        let other = take(&places, origin(2));
        drop((second, third));
        let _again = take(&places, origin(1));
        assert!(!other.leave().is_cancelled());
    }

    #[test]
    fn this_machine_may_have_all() {
        let places = places(10, 2);
        let here = Origin::of(Some([127, 0, 0, 1].into()));
        let held: Vec<Place> = (0..10).map(|_| take(&places, here)).collect();
        assert!(held.iter().all(|place| !place.leave().is_cancelled()));
    }

    #[test]
    fn when_all_are_taken_who_holds_most_in_silence_makes_room() {
        let places = places(4, 3);
        let (lonely, held) = (take(&places, origin(1)), [(); 3].map(|()| take(&places, origin(2))));
        call(&held[0]);
        assert!(matches!(places.request(origin(3)), Request::Wait { someone_leaves: true }));
        assert!(matches!(places.request(origin(3)), Request::Wait { someone_leaves: true }));
        let told = held.iter().map(|place| place.leave().is_cancelled()).collect::<Vec<_>>();
        assert_eq!(
            (told, lonely.leave().is_cancelled()),
            (vec![false, true, false], false),
            "the oldest, one at a time"
        );
        drop(held);
        let _new = take(&places, origin(3));
    }

    #[test]
    fn those_that_have_called_keep_their_places() {
        let places = places(2, 2);
        let held = [take(&places, origin(1)), take(&places, origin(1))];
        held.iter().for_each(call);
        assert!(matches!(places.request(origin(2)), Request::Wait { someone_leaves: false }));
        assert!(held.iter().all(|place| !place.leave().is_cancelled()));
        drop(held);
        assert!(places.lock().origins.is_empty(), "nothing is kept of who has gone");
    }
}
