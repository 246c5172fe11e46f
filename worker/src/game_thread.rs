//! One search thread with many games, in two halves: while the leaves of one half are evaluated, the other half
//! searches.

use std::sync::Arc;
use std::time::Instant;

use shared::encoding::Encoding;
use shared::search::{EvaluationError, SharedOracle};
use tokio::sync::mpsc;
use tracing::warn;

use crate::channels::{Evaluations, GameRequest, ThreadMessage};
use crate::counters::count;
use crate::game_need::{GameBounds, GameNeed};
use crate::held_leases::HeldLease;
use crate::leaf_batcher::{LeafBatcher, SentBatch, Stopping};
use crate::leased_game::{LeasedGame, Step};

/// A search thread and its games.
pub(crate) struct GameThread<E: Encoding> {
    batcher: LeafBatcher<E>,
    /// What its searches ask: endgame tables, if there are some.
    oracle: Option<SharedOracle<E::Game>>,
    inbox: mpsc::Receiver<ThreadMessage>,
    halves: [Half<E>; 2],
    need: GameNeed,
}

/// Games whose leaves are sent together.
struct Half<E: Encoding> {
    games: Vec<LeasedGame<E>>,
    /// While there are any, no game of this half changes its index: batches name games by index.
    awaited: Vec<SentBatch>,
}

impl<E: Encoding> Half<E> {
    fn can_search(&self) -> bool {
        self.awaited.is_empty() && !self.games.is_empty()
    }
}

impl<E: Encoding> GameThread<E> {
    pub(crate) fn new(
        batcher: LeafBatcher<E>,
        oracle: Option<SharedOracle<E::Game>>,
        inbox: mpsc::Receiver<ThreadMessage>,
        bounds: GameBounds,
    ) -> Self {
        let half = || Half { games: vec![], awaited: vec![] };
        let need = GameNeed::new(bounds, Instant::now());
        Self { batcher, oracle, inbox, halves: [half(), half()], need }
    }

    /// Plays until the process stops. The learner leases unfinished games to other workers then.
    pub(crate) fn run(mut self) {
        // Its only error is that the process stops.
        let _ = self.play();
    }

    fn play(&mut self) -> Result<(), Stopping> {
        self.request_games(self.need.wanted(), false)?;
        while !self.batcher.state.stop.is_cancelled() {
            self.receive()?;
            self.search()?;
        }
        Ok(())
    }

    /// Takes the messages in the inbox; waits for one if there is nothing to search, and asks for more games if that is
    /// often so.
    fn receive(&mut self) -> Result<(), Stopping> {
        if !self.halves.iter().any(Half::can_search) {
            let waits_from = Instant::now();
            let message = self.inbox.blocking_recv().ok_or(Stopping)?;
            let now = Instant::now();
            self.need.note_wait(now - waits_from);
            self.take(message)?;
            let held_count = self.halves.iter().map(|half| half.games.len()).sum();
            let more = self.need.more(held_count, now);
            self.request_games(more, false)?;
        }
        while let Ok(message) = self.inbox.try_recv() {
            self.take(message)?;
        }
        Ok(())
    }

    fn take(&mut self, message: ThreadMessage) -> Result<(), Stopping> {
        match message {
            ThreadMessage::Lease(held, lease) => self.start_game(held, &lease),
            ThreadMessage::Answer { batch_id, result } => {
                self.take_answer(batch_id, result);
                Ok(())
            }
        }
    }

    fn start_game(&mut self, held: Arc<HeldLease>, lease: &proto::Lease) -> Result<(), Stopping> {
        match LeasedGame::new(&self.batcher.encoding, self.oracle.as_ref(), held, lease) {
            Ok(game) => {
                let shorter = usize::from(self.halves[1].games.len() < self.halves[0].games.len());
                self.halves[shorter].games.push(game);
                count(&self.batcher.state.counters.started_game_count, 1);
                Ok(())
            }
            Err(error) => {
                warn!(game_id = lease.game_id, %error, "lease cannot be played");
                count(&self.batcher.state.counters.unusable_lease_count, 1);
                self.request_games(1, true)
            }
        }
    }

    fn take_answer(&mut self, batch_id: u64, result: Result<Evaluations, EvaluationError>) {
        for half in &mut self.halves {
            let Some(index) = half.awaited.iter().position(|batch| batch.batch_id == batch_id) else { continue };
            let batch = half.awaited.swap_remove(index);
            match result {
                Ok(evaluations) => {
                    self.batcher.cache_answer(&batch, &evaluations);
                    distribute(&mut half.games, &batch, &evaluations);
                }
                Err(error) => {
                    for leaf in &batch.leaves {
                        half.games[leaf.origin.game_index].fail(error.clone());
                    }
                }
            }
            return;
        }
    }

    /// Gives each half that waits for no evaluation its turn.
    fn search(&mut self) -> Result<(), Stopping> {
        for half in 0..self.halves.len() {
            if self.halves[half].can_search() {
                self.take_turn(half)?;
            }
        }
        Ok(())
    }

    fn take_turn(&mut self, half: usize) -> Result<(), Stopping> {
        let games = &mut self.halves[half].games;
        let (mut finished_count, mut dropped_count) = (0, 0);
        let mut index = 0;
        while let Some(game) = games.get_mut(index) {
            let step = match (game.lease.is_lost(), game.lease.is_over()) {
                (false, _) => game.advance(&mut self.batcher, index)?,
                (true, false) => Step::LeaseLost,
                (true, true) => Step::Finished,
            };
            let counters = &self.batcher.state.counters;
            match step {
                Step::Waiting | Step::Ready => {
                    index += 1;
                    continue;
                }
                Step::Finished => {
                    count(&counters.finished_game_count, 1);
                    finished_count += 1;
                }
                // Already logged by the task that noticed.
                Step::LeaseLost => {
                    dropped_count += 1;
                    count(&counters.dropped_game_count, 1);
                }
                Step::Failed(failure) => {
                    dropped_count += 1;
                    warn!(game_id = game.lease.game_id.get(), reason = %failure, "game dropped");
                    count(&counters.dropped_game_count, 1);
                }
            }
            // No leaf of this game is in a batch, and the games after it have not had their turn: their index may change.
            games.swap_remove(index);
        }
        // Waits where more batches are under way than may be.
        let sends_from = Instant::now();
        self.halves[half].awaited = self.batcher.send_all()?;
        self.need.note_wait(sends_from.elapsed());
        self.request_games(finished_count, false)?;
        self.request_games(dropped_count, true)
    }

    fn request_games(&self, count: usize, is_after_failure: bool) -> Result<(), Stopping> {
        let request = GameRequest { thread: self.batcher.thread, is_after_failure };
        let requests = &self.batcher.senders.game_requests;
        (0..count).try_for_each(|_| requests.blocking_send(request).map_err(|_| Stopping))
    }
}

/// Gives each game the evaluations of its leaves.
fn distribute<E: Encoding>(games: &mut [LeasedGame<E>], batch: &SentBatch, evaluations: &Evaluations) {
    for (leaf, (priors, value)) in batch.answered(evaluations) {
        games[leaf.origin.game_index].take_evaluation(leaf.origin.leaf_index, priors, value);
    }
}
