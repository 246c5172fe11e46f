//! The stream that carries batches to the learner and evaluations back. A batch stays here until it is answered, so
//! a new stream begins with what the last one left unanswered.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use proto::{EvaluationBatch, LeafBatch};
use shared::wire::{WireError, read_evaluations};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_stream::wrappers::ReceiverStream;
use tracing::{error, warn};

use crate::connect::{Connected, SessionError};
use crate::counters::count;
use crate::messages::{BatchRequest, Evaluations, Shared, ToThread, hand_over};
use crate::settings::WorkerSettings;

/// How often a batch is sent before its games are given up.
const ATTEMPT_COUNT_MAX: u32 = 5;

/// The task that owns the stream.
pub(crate) struct EvaluationStream {
    requests: mpsc::Receiver<BatchRequest>,
    inboxes: Vec<mpsc::Sender<ToThread>>,
    outstanding: BTreeMap<u64, Outstanding>,
    shared: Arc<Shared>,
}

struct Outstanding {
    request: BatchRequest,
    attempt_count: u32,
    /// When it was sent on the current stream.
    sent_at: Option<Instant>,
}

impl EvaluationStream {
    pub(crate) fn new(
        requests: mpsc::Receiver<BatchRequest>,
        inboxes: Vec<mpsc::Sender<ToThread>>,
        shared: Arc<Shared>,
    ) -> Self {
        Self { requests, inboxes, outstanding: BTreeMap::new(), shared }
    }

    /// Carries batches until the stream ends; returns why.
    pub(crate) async fn serve(&mut self, connected: &Connected, settings: &WorkerSettings) -> SessionError {
        match self.carry(connected, settings).await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    async fn carry(
        &mut self,
        connected: &Connected,
        settings: &WorkerSettings,
    ) -> Result<std::convert::Infallible, SessionError> {
        let credits = (connected.join.batches_in_flight_max as usize).clamp(1, 1024);
        let (outgoing, stream) = mpsc::channel(credits);
        let mut again: VecDeque<u64> = self.outstanding.keys().copied().collect();
        self.outstanding.values_mut().for_each(|batch| batch.sent_at = None);
        // A learner may answer the call only once it has a first batch: do not wait for it.
        let mut client = connected.inference.clone();
        let opening = client.evaluate_leaves(ReceiverStream::new(stream));
        tokio::pin!(opening);
        let mut answers = None;
        let mut in_flight = 0;
        loop {
            let deadline = self.deadline(settings);
            tokio::select! {
                opened = &mut opening, if answers.is_none() => {
                    let opened = opened.map_err(call_error)?;
                    answers = Some(opened.into_inner());
                }
                answer = next(&mut answers) => {
                    self.deliver(&answer?)?;
                    in_flight -= 1;
                }
                id = self.next_batch(&mut again), if in_flight < credits => {
                    let message = self.mark_sent(id);
                    outgoing.send(message).await.map_err(|_| SessionError::StreamClosed)?;
                    in_flight += 1;
                }
                () = sleep_until(deadline) => {
                    let seconds = settings.evaluation_timeout.as_secs();
                    return Err(SessionError::Deadline { call: "evaluate leaves", seconds });
                }
            }
        }
    }

    /// Returns when the oldest batch must have been answered.
    fn deadline(&self, settings: &WorkerSettings) -> Instant {
        let oldest = self.outstanding.values().filter_map(|batch| batch.sent_at).min();
        oldest.unwrap_or_else(Instant::now) + settings.evaluation_timeout
    }

    /// Returns the id of the batch to send next: one of the last stream, or a new one.
    async fn next_batch(&mut self, again: &mut VecDeque<u64>) -> u64 {
        if let Some(id) = again.pop_front() {
            return id;
        }
        match self.requests.recv().await {
            Some(request) => {
                let id = request.batch.batch_id;
                self.outstanding.insert(id, Outstanding { request, attempt_count: 0, sent_at: None });
                id
            }
            // The threads are gone: the process is stopping and nothing more will come.
            None => std::future::pending().await,
        }
    }

    fn mark_sent(&mut self, id: u64) -> LeafBatch {
        let batch = self.outstanding.get_mut(&id).expect("next_batch() names batches that are outstanding");
        batch.sent_at = Some(Instant::now());
        batch.request.batch.clone()
    }

    /// Hands an answer to the thread that waits for it; an answer that is none ends the stream.
    fn deliver(&mut self, answer: &EvaluationBatch) -> Result<(), SessionError> {
        let id = answer.batch_id;
        let Some(batch) = self.outstanding.get_mut(&id).filter(|batch| batch.sent_at.is_some()) else {
            return Err(self.unusable(format!("batch {id} was not asked for")));
        };
        match read(answer, &batch.request.batch) {
            Ok(evaluations) => {
                let thread = batch.request.thread;
                self.outstanding.remove(&id);
                count(&self.shared.counters.uniform_prior_count, u64::from(answer.uniform_prior_count));
                self.shared.counters.generation.store(answer.generation.into(), std::sync::atomic::Ordering::Relaxed);
                self.hand_over(thread, id, Ok(evaluations));
                Ok(())
            }
            Err(error) => {
                batch.attempt_count += 1;
                if batch.attempt_count >= ATTEMPT_COUNT_MAX {
                    let thread = batch.request.thread;
                    self.outstanding.remove(&id);
                    error!(batch_id = id, %error, "batch given up after {ATTEMPT_COUNT_MAX} attempts");
                    self.hand_over(thread, id, Err(error.to_string()));
                }
                Err(self.unusable(error.to_string()))
            }
        }
    }

    fn hand_over(&self, thread: usize, batch_id: u64, result: Result<Evaluations, String>) {
        hand_over(&self.inboxes[thread], ToThread::Answer { batch_id, result });
    }

    fn unusable(&self, reason: String) -> SessionError {
        warn!(reason, "unusable evaluations; the stream is opened again");
        count(&self.shared.counters.unusable_evaluation_count, 1);
        SessionError::Unusable(reason)
    }
}

fn read(answer: &EvaluationBatch, batch: &LeafBatch) -> Result<Evaluations, WireError> {
    let (mut priors, mut values) = (vec![], vec![]);
    let (move_count, leaf_count) = (batch.policy_indices.len() / 2, batch.move_counts.len());
    let header = read_evaluations(answer, move_count, leaf_count, &mut priors, &mut values)?;
    Ok(Evaluations { network_id: header.network_id, priors, values })
}

/// Returns the next answer of a stream that may not be open yet.
async fn next(answers: &mut Option<tonic::Streaming<EvaluationBatch>>) -> Result<EvaluationBatch, SessionError> {
    match answers {
        None => std::future::pending().await,
        Some(answers) => answers.message().await.map_err(call_error)?.ok_or(SessionError::StreamClosed),
    }
}

fn call_error(status: tonic::Status) -> SessionError {
    SessionError::Call { call: "evaluate leaves", status: Box::new(status) }
}
