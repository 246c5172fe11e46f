//! What the pipeline waits for: games that finish, the end of a training, the stop.
//!
//! Each wait also ends at the next tick, so that the progress report stays fresh while nothing happens.

#[cfg(test)]
use std::sync::Arc;
use std::time::{Duration, Instant};

use registry::GameProgress;
#[cfg(test)]
use store::simulated::OtherThreads;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

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
    sleeper: Sleeper,
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
        Self { sleeper: Sleeper::Tokio(tokio), games, stop, tick }
    }

    /// Makes the events of a pipeline that lets a simulation go on while it waits.
    #[cfg(test)]
    pub(crate) const fn simulated(
        others: Arc<dyn OtherThreads>,
        games: watch::Receiver<GameProgress>,
        stop: CancellationToken,
        tick: Duration,
    ) -> Self {
        Self { sleeper: Sleeper::Simulated(others), games, stop, tick }
    }

    /// Returns the time.
    pub(super) fn now(&self) -> Instant {
        match &self.sleeper {
            Sleeper::Tokio(_) => Instant::now(),
            #[cfg(test)]
            Sleeper::Simulated(others) => others.now(),
        }
    }

    /// Waits until the finished games are as many as `is_due` wants.
    pub(super) fn games(&mut self, is_due: impl FnMut(&GameProgress) -> bool) -> Wake<()> {
        let Self { sleeper, games, stop, tick } = self;
        let due = async {
            if games.wait_for(is_due).await.is_err() {
                // The registry is gone, and the stop is all that can come.
                std::future::pending().await
            }
        };
        sleeper.wait(stop, *tick, due)
    }

    /// Waits for the end of the training, or for the next finished game.
    pub(super) fn training(&mut self, trainer: &mut TrainerHandle) -> Wake<TrainingEvent> {
        let Self { sleeper, games, stop, tick } = self;
        let event = async {
            tokio::select! {
                biased;
                outcome = trainer.outcome() => TrainingEvent::Ended(outcome),
                Ok(()) = games.changed() => TrainingEvent::GameFinished,
            }
        };
        sleeper.wait(stop, *tick, event)
    }

    /// Waits for the next tick. Returns whether the learner stops.
    pub(super) fn is_stopped_at_tick(&self) -> bool {
        let never = std::future::pending::<()>();
        matches!(self.sleeper.wait(&self.stop, self.tick, never), Wake::Stop)
    }
}

/// How the pipeline's thread sleeps.
enum Sleeper {
    /// In the runtime of the services, whose thread it is not.
    Tokio(Handle),
    /// In a simulation, which goes on meanwhile.
    #[cfg(test)]
    Simulated(Arc<dyn OtherThreads>),
}

impl Sleeper {
    fn wait<T>(&self, stop: &CancellationToken, tick: Duration, event: impl Future<Output = T>) -> Wake<T> {
        match self {
            Self::Tokio(tokio) => wait(tokio, stop, tick, event),
            #[cfg(test)]
            Self::Simulated(others) => wait_simulated(others.as_ref(), stop, tick, event),
        }
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

#[cfg(test)]
fn wait_simulated<T>(
    others: &dyn OtherThreads,
    stop: &CancellationToken,
    tick: Duration,
    event: impl Future<Output = T>,
) -> Wake<T> {
    use std::task::{Context, Poll, Waker};
    let (mut event, deadline) = (std::pin::pin!(event), others.now() + tick);
    loop {
        if stop.is_cancelled() {
            return Wake::Stop;
        }
        if let Poll::Ready(event) = event.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Wake::Event(event);
        }
        if others.now() >= deadline {
            return Wake::Tick;
        }
        others.go_on(deadline);
    }
}
