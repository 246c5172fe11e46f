//! Whose the streams are: a worker has one turn and one share of the room, however many streams it opens.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::waiting::{StreamId, WorkerNumber};

/// Streams of one worker at once, at most. It needs one, and a second for a moment after a connection broke.
const STREAM_COUNT_MAX: usize = 64;

/// A worker has as many streams as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the worker has {STREAM_COUNT_MAX} streams of leaves open already, and needs one")]
pub struct TooManyStreams;

/// Workers that have streams.
#[derive(Debug)]
pub(super) struct WorkerPlaces {
    places: HashMap<String, WorkerPlace>,
    last_worker: WorkerNumber,
    last_stream: u64,
    leaf_count_max: usize,
}

/// What the streams of a worker share.
#[derive(Debug)]
struct WorkerPlace {
    number: WorkerNumber,
    stream_count: usize,
    /// Leaves that may wait.
    room: Arc<Semaphore>,
}

impl WorkerPlaces {
    /// Lets so many leaves of each worker wait.
    pub(super) fn new(leaf_count_max: usize) -> Self {
        Self { places: HashMap::new(), last_worker: 0, last_stream: 0, leaf_count_max }
    }

    /// Opens a stream of a worker. Returns it with the worker's room.
    ///
    /// # Errors
    /// [`TooManyStreams`].
    pub(super) fn open(&mut self, worker_id: &str) -> Result<(StreamId, Arc<Semaphore>), TooManyStreams> {
        if !self.places.contains_key(worker_id) {
            let (number, room) = self.new_worker();
            self.places.insert(worker_id.to_owned(), WorkerPlace { number, stream_count: 0, room });
        }
        let place = self.places.get_mut(worker_id).filter(|place| place.stream_count < STREAM_COUNT_MAX);
        let place = place.ok_or(TooManyStreams)?;
        place.stream_count += 1;
        self.last_stream += 1;
        Ok((StreamId { worker: place.number, number: self.last_stream }, Arc::clone(&place.room)))
    }

    /// Opens a stream of the learner's own: it counts as a worker for itself.
    pub(super) fn open_own(&mut self) -> (StreamId, Arc<Semaphore>) {
        let (worker, room) = self.new_worker();
        self.last_stream += 1;
        (StreamId { worker, number: self.last_stream }, room)
    }

    /// Closes a stream of a worker, and forgets the worker with its last one.
    pub(super) fn close(&mut self, worker_id: &str) {
        let Some(place) = self.places.get_mut(worker_id) else { return };
        place.stream_count -= 1;
        if place.stream_count == 0 {
            self.places.remove(worker_id);
        }
    }

    fn new_worker(&mut self) -> (WorkerNumber, Arc<Semaphore>) {
        self.last_worker += 1;
        (self.last_worker, Arc::new(Semaphore::new(self.leaf_count_max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_streams_of_a_worker_are_bounded_and_share_its_turn() {
        let mut places = WorkerPlaces::new(8);
        let (first, room) = places.open("a").unwrap();
        for _ in 1..STREAM_COUNT_MAX {
            let (stream, same) = places.open("a").unwrap();
            assert!(stream.worker == first.worker && stream.number != first.number && Arc::ptr_eq(&same, &room));
        }
        assert_eq!(places.open("a").unwrap_err(), TooManyStreams);
        let (other, own) = (places.open("b").unwrap().0, places.open_own().0);
        assert!(other.worker != first.worker && own.worker != other.worker);
        places.close("a");
        places.open("a").unwrap();
        (0..STREAM_COUNT_MAX).for_each(|_| places.close("a"));
        places.close("b");
        assert!(places.places.is_empty());
    }
}
