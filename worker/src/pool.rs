//! One search thread: many games in two halves. While the leaves of one half are evaluated, the other half searches.

use std::sync::Arc;

use shared::encoding::Encoding;
use tokio::sync::mpsc;
use tracing::warn;

use crate::counters::count;
use crate::desk::{Closed, Desk, SentBatch};
use crate::game::{GameInHand, Step};
use crate::messages::{Evaluations, ToThread, Want};
use crate::tickets::Ticket;

/// A thread's games.
pub(crate) struct Pool<E: Encoding> {
    desk: Desk<E>,
    inbox: mpsc::Receiver<ToThread>,
    halves: [Half<E>; 2],
}

/// Games whose leaves travel together.
struct Half<E: Encoding> {
    games: Vec<GameInHand<E>>,
    /// While there are any, no game of this half moves: the batches name games by their place.
    awaited: Vec<SentBatch>,
}

impl<E: Encoding> Half<E> {
    fn can_search(&self) -> bool {
        self.awaited.is_empty() && !self.games.is_empty()
    }
}

impl<E: Encoding> Pool<E> {
    pub(crate) fn new(desk: Desk<E>, inbox: mpsc::Receiver<ToThread>) -> Self {
        let half = || Half { games: vec![], awaited: vec![] };
        Self { desk, inbox, halves: [half(), half()] }
    }

    /// Plays until the process stops. Games in hand are then left to whoever leases them next.
    pub(crate) fn run(mut self, games_per_thread: usize) {
        for _ in 0..games_per_thread {
            if self.want(false).is_err() {
                return;
            }
        }
        while !self.desk.shared.stop.is_cancelled() {
            if self.listen().is_err() || self.search().is_err() {
                return;
            }
        }
    }

    /// Takes what came in; waits for something if there is nothing to search.
    fn listen(&mut self) -> Result<(), Closed> {
        if !self.halves.iter().any(Half::can_search) {
            let message = self.inbox.blocking_recv().ok_or(Closed)?;
            self.take(message)?;
        }
        while let Ok(message) = self.inbox.try_recv() {
            self.take(message)?;
        }
        Ok(())
    }

    fn take(&mut self, message: ToThread) -> Result<(), Closed> {
        match message {
            ToThread::Lease(ticket, lease) => self.begin(ticket, &lease),
            ToThread::Answer { batch_id, result } => {
                self.answer(batch_id, result);
                Ok(())
            }
        }
    }

    fn begin(&mut self, ticket: Arc<Ticket>, lease: &proto::Lease) -> Result<(), Closed> {
        match GameInHand::new(&self.desk.encoding, ticket, lease) {
            Ok(game) => {
                let shorter = usize::from(self.halves[1].games.len() < self.halves[0].games.len());
                self.halves[shorter].games.push(game);
                count(&self.desk.shared.counters.begun_game_count, 1);
                Ok(())
            }
            Err(error) => {
                warn!(game_id = lease.game_id, %error, "lease cannot be played");
                count(&self.desk.shared.counters.unusable_lease_count, 1);
                self.want(true)
            }
        }
    }

    fn answer(&mut self, batch_id: u64, result: Result<Evaluations, String>) {
        for half in &mut self.halves {
            let Some(place) = half.awaited.iter().position(|batch| batch.batch_id == batch_id) else { continue };
            let batch = half.awaited.swap_remove(place);
            match result {
                Ok(evaluations) => {
                    self.desk.remember(&batch, &evaluations);
                    hand_out(&mut half.games, &batch, &evaluations);
                }
                Err(reason) => {
                    for entry in &batch.entries {
                        half.games[entry.spot.game].fail(reason.clone());
                    }
                }
            }
            return;
        }
    }

    /// Gives each half that waits for nothing its turn.
    fn search(&mut self) -> Result<(), Closed> {
        for half in 0..self.halves.len() {
            if self.halves[half].can_search() {
                self.turn(half)?;
            }
        }
        Ok(())
    }

    fn turn(&mut self, half: usize) -> Result<(), Closed> {
        let games = &mut self.halves[half].games;
        let (mut over_count, mut broken_count) = (0, 0);
        let mut index = 0;
        while let Some(game) = games.get_mut(index) {
            let step = if game.ticket.is_lost() { Step::Lost } else { game.advance(&mut self.desk, index)? };
            let counters = &self.desk.shared.counters;
            match step {
                Step::Waiting | Step::Ready => {
                    index += 1;
                    continue;
                }
                Step::Over => {
                    count(&counters.finished_game_count, 1);
                    over_count += 1;
                }
                // Told where it was learned.
                Step::Lost => {
                    broken_count += 1;
                    count(&counters.dropped_game_count, 1);
                }
                Step::Broken(reason) => {
                    broken_count += 1;
                    warn!(game_id = game.ticket.game_id, reason, "game dropped");
                    count(&counters.dropped_game_count, 1);
                }
            }
            // Nothing of this game is in a batch, and those after it have not had their turn: places are free to change.
            games.swap_remove(index);
        }
        self.halves[half].awaited = self.desk.finish_turn()?;
        (0..over_count).try_for_each(|_| self.want(false))?;
        (0..broken_count).try_for_each(|_| self.want(true))
    }

    fn want(&self, is_after_failure: bool) -> Result<(), Closed> {
        let want = Want { thread: self.desk.thread, is_after_failure };
        self.desk.outlets.wants.blocking_send(want).map_err(|_| Closed)
    }
}

fn hand_out<E: Encoding>(games: &mut [GameInHand<E>], batch: &SentBatch, evaluations: &Evaluations) {
    let mut priors = evaluations.priors.as_slice();
    for (entry, value) in batch.entries.iter().zip(&evaluations.values) {
        let (own, rest) = priors.split_at(entry.move_count.min(priors.len()));
        priors = rest;
        games[entry.spot.game].answer(entry.spot.leaf, own, *value);
    }
}
