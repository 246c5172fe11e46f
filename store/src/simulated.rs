//! A store without a thread of its own, for a simulation of the learner: it has one thread, so whatever would wait for
//! another one lets the simulation go on instead.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use super::writer::HandWriter;
use super::writer::Writer;
use super::{RunRow, Store, StoreError};

/// What goes on while the only thread of a simulation waits.
pub trait OtherThreads: Send + Sync + Debug {
    /// Returns the time of the simulation.
    fn now(&self) -> Instant;
    /// Lets the next thing happen that is due before `deadline`, or the time pass until then.
    fn go_on(&self, deadline: Instant);
    /// Answers all that waits for the disk.
    fn write(&self);
    /// Ends all calls of workers that wait for the disk, or have been answered by it.
    fn end_calls(&self);
}

impl Store {
    /// Opens the store as [`Store::open`] does; the second part writes what is queued.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_simulated(
        run_dir: &Path,
        run: &RunRow,
        others: Arc<dyn OtherThreads>,
    ) -> Result<(Self, HandWriter), StoreError> {
        let mut hand = None;
        let store = Self::open_with(run_dir, run, |parts| {
            let (writer, by_hand) = Writer::by_hand(parts);
            hand = Some(by_hand);
            Ok(writer)
        })?;
        Ok((Self { others: Some(others), ..store }, hand.expect("the store has made its writer")))
    }

    /// Returns what goes on beside this thread; `None` outside simulations.
    pub fn others(&self) -> Option<&Arc<dyn OtherThreads>> {
        self.others.as_ref()
    }

    /// Is called before a thread waits for the disk.
    pub(super) fn let_others_write(&self) {
        if let Some(others) = &self.others {
            others.write();
        }
    }

    /// Waits until the time is over or `is_over`. Returns whether this is a simulation.
    pub fn pause_simulated(&self, time: Duration, is_over: impl Fn() -> bool) -> bool {
        let Some(others) = &self.others else { return false };
        let deadline = others.now() + time;
        while others.now() < deadline && !is_over() {
            others.go_on(deadline);
        }
        true
    }
}
