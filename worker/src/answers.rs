//! Evaluations for threads that play games of their own: no leases, no reports, nothing remembered.
//!
//! Each thread has an [`Asker`]. What several ask at once meets in one batch on the other side.

use std::sync::{Arc, OnceLock};

use proto::WorkerKind;
use shared::game::catalog::GameSpec;
use shared::wire::{LeafBatchBuilder, WireError, game_spec_from_proto};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::channels::{BatchRequest, ThreadMessage, WorkerState, inbox};
use crate::counters::Counters;
use crate::evaluation_stream::EvaluationStream;
use crate::held_leases::HeldLeases;
use crate::learner_connection::{LearnerConnection, WorkerIdentity, causes, join_once};
use crate::worker_settings::WorkerSettings;

pub use crate::channels::Evaluations;

/// Asks for evaluations and waits for them. Owned by one thread.
#[derive(Debug)]
pub struct Asker {
    thread: usize,
    asked_count: u64,
    spec: GameSpec,
    batches: mpsc::Sender<BatchRequest>,
    inbox: mpsc::Receiver<ThreadMessage>,
    /// Why the stream ended.
    end: Arc<OnceLock<String>>,
    /// Ends the stream with the last asker.
    _stream: Arc<DropGuard>,
}

/// Why there is no evaluation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswersError {
    /// Nobody to ask.
    #[error("{0}")]
    Connect(String),
    /// What is played there cannot be read.
    #[error("the network's game: {0}")]
    Game(String),
    /// The stream broke.
    #[error("evaluation stream: {0}")]
    Stream(String),
    /// The leaves could not be evaluated.
    #[error("evaluation: {0}")]
    Refused(String),
}

/// Joins whoever listens at the address in `settings` and returns `count` askers. Must be called within tokio, which
/// must go on running.
///
/// # Errors
/// [`AnswersError`] if it cannot be joined, or plays nothing that is known.
pub async fn connect(settings: &WorkerSettings, count: usize) -> Result<Vec<Asker>, AnswersError> {
    let joined = join_once(settings, &WorkerIdentity::new(WorkerKind::Evaluator)).await;
    let connection = joined.map_err(|error| AnswersError::Connect(causes(&error)))?;
    let spec = spec_of(&connection)?;
    let (batches, requests) = mpsc::channel(count.max(1));
    let (inboxes, ends): (Vec<_>, Vec<_>) = (0..count).map(|_| inbox(1)).unzip();
    let stop = CancellationToken::new();
    let state = WorkerState { counters: Counters::default(), held_leases: HeldLeases::default(), stop: stop.clone() };
    let mut stream = EvaluationStream::new(requests, inboxes, Arc::new(state));
    let (end, settings) = (Arc::new(OnceLock::new()), settings.clone());
    let ended = end.clone();
    tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
        let error = stream.serve(&connection, &settings).await;
        // Set before the inboxes close: whoever finds one closed finds the reason too.
        let _ = ended.set(causes(&error));
        drop(stream);
    }));
    let guard = Arc::new(stop.drop_guard());
    let asker = |(thread, inbox)| Asker {
        thread,
        asked_count: 0,
        spec: spec.clone(),
        batches: batches.clone(),
        inbox,
        end: end.clone(),
        _stream: guard.clone(),
    };
    Ok(ends.into_iter().enumerate().map(asker).collect())
}

fn spec_of(connection: &LearnerConnection) -> Result<GameSpec, AnswersError> {
    let spec = connection.join.game.as_ref().ok_or(WireError::Missing("game")).and_then(game_spec_from_proto);
    spec.map_err(|error| AnswersError::Game(error.to_string()))
}

impl Asker {
    /// Returns the game, as the network sees it.
    #[must_use]
    pub const fn spec(&self) -> &GameSpec {
        &self.spec
    }

    /// Has all leaves in `batch` evaluated and empties it. Blocks; must not be called on a tokio thread.
    ///
    /// # Errors
    /// [`AnswersError`] if there is no answer.
    pub fn ask(&mut self, batch: &mut LeafBatchBuilder) -> Result<Evaluations, AnswersError> {
        // Unique among all askers: the thread in the high bits.
        let batch_id = (self.thread as u64) << 40 | self.asked_count;
        self.asked_count += 1;
        let request = BatchRequest { thread: self.thread, batch: batch.finish(batch_id, 0) };
        self.batches.blocking_send(request).map_err(|_| self.ended())?;
        loop {
            match self.inbox.blocking_recv() {
                Some(ThreadMessage::Answer { batch_id: answered, result }) if answered == batch_id => {
                    return result.map_err(AnswersError::Refused);
                }
                Some(_) => {}
                None => return Err(self.ended()),
            }
        }
    }

    fn ended(&self) -> AnswersError {
        AnswersError::Stream(self.end.get().cloned().unwrap_or_else(|| "it was closed".to_owned()))
    }
}
