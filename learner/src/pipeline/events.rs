//! What the pipeline waits for: games that finish, the end of a training, the stop.
//!
//! Each wait also ends at the next tick, so that the progress report stays fresh while nothing happens.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::games::GameProgress;
use crate::trainer::{TrainerHandle, TrainingOutcome};

/// Why a wait ended.
#[derive(Debug)]
pub(super) enum Wake<T> {
    /// What was awaited has come.
    Event(T),
    /// The tick is over.
    Tick,
    /// The learner stops.
    Stop,
}

/// What can come while a network trains.
#[derive(Debug)]
pub(super) enum TrainingEvent {
    /// The training has ended; `None` if its thread ended without an outcome.
    Ended(Option<TrainingOutcome>),
    /// A game has finished.
    GameFinished,
}

/// Everything that wakes the pipeline.
pub struct PipelineEvents {
    tokio: Handle,
    games: watch::Receiver<GameProgress>,
    stop: CancellationToken,
    tick: Duration,
}

impl PipelineEvents {
    /// Makes the events of a pipeline on a thread of its own, not one of `tokio`.
    #[must_use]
    pub const fn new(
        tokio: Handle,
        games: watch::Receiver<GameProgress>,
        stop: CancellationToken,
        tick: Duration,
    ) -> Self {
        Self { tokio, games, stop, tick }
    }

    /// Waits until the finished games are as many as `is_due` wants.
    pub(super) fn games(&mut self, is_due: impl FnMut(&GameProgress) -> bool) -> Wake<()> {
        let Self { tokio, games, stop, tick } = self;
        let due = async {
            if games.wait_for(is_due).await.is_err() {
                // The registry is gone, and the stop is all that can come.
                std::future::pending().await
            }
        };
        wait(tokio, stop, *tick, due)
    }

    /// Waits for the end of the training, or for the next finished game.
    pub(super) fn training(&mut self, trainer: &mut TrainerHandle) -> Wake<TrainingEvent> {
        let Self { tokio, games, stop, tick } = self;
        let event = async {
            tokio::select! {
                outcome = trainer.outcome() => TrainingEvent::Ended(outcome),
                Ok(()) = games.changed() => TrainingEvent::GameFinished,
            }
        };
        wait(tokio, stop, *tick, event)
    }

    /// Waits for the next tick. Returns whether the learner stops.
    pub(super) fn is_stopped_at_tick(&self) -> bool {
        let never = std::future::pending::<()>();
        matches!(wait(&self.tokio, &self.stop, self.tick, never), Wake::Stop)
    }
}

fn wait<T>(tokio: &Handle, stop: &CancellationToken, tick: Duration, event: impl Future<Output = T>) -> Wake<T> {
    tokio.block_on(async {
        tokio::select! {
            biased;
            () = stop.cancelled() => Wake::Stop,
            event = event => Wake::Event(event),
            () = tokio::time::sleep(tick) => Wake::Tick,
        }
    })
}
