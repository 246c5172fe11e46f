//! The stream that carries batches to the learner and evaluations back. A batch stays here until it is answered; a new
//! stream starts with the unanswered batches of the last one.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use proto::{EvaluationBatch, LeafBatch};
use shared::search::EvaluationError;
use shared::wire::{EvaluationHeader, WireError, read_evaluations};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_stream::wrappers::ReceiverStream;
use tracing::error;

use crate::channels::{BatchRequest, Evaluations, ThreadMessage, WorkerState, deliver};
use crate::counters::count;
use crate::learner_connection::{LearnerConnection, LearnerSessionError};
use crate::worker_settings::WorkerSettings;

/// How often a batch may be answered unusably before its games are given up.
const ATTEMPT_COUNT_MAX: u32 = 5;

/// How long a learner that is stopping may take to say so on this stream, after it has stopped taking batches or calls.
pub(crate) const STOP_NOTICE_WAIT: Duration = Duration::from_millis(250);

/// The task that owns the stream.
pub(crate) struct EvaluationStream {
    requests: mpsc::Receiver<BatchRequest>,
    inboxes: Vec<mpsc::Sender<ThreadMessage>>,
    outstanding: BTreeMap<u64, Outstanding>,
    state: Arc<WorkerState>,
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
        inboxes: Vec<mpsc::Sender<ThreadMessage>>,
        state: Arc<WorkerState>,
    ) -> Self {
        Self { requests, inboxes, outstanding: BTreeMap::new(), state }
    }

    /// Carries batches until the stream ends; returns why.
    pub(crate) async fn serve(
        &mut self,
        connection: &LearnerConnection,
        settings: &WorkerSettings,
    ) -> LearnerSessionError {
        match self.carry(connection, settings).await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    async fn carry(
        &mut self,
        connection: &LearnerConnection,
        settings: &WorkerSettings,
    ) -> Result<std::convert::Infallible, LearnerSessionError> {
        let credits = connection.terms.batches_in_flight_max;
        let (outgoing, stream) = mpsc::channel(credits);
        let mut again: VecDeque<u64> = self.outstanding.keys().copied().collect();
        self.outstanding.values_mut().for_each(|batch| batch.sent_at = None);
        // A learner may answer the call only after the first batch: do not wait for it here.
        let mut client = connection.inference.clone();
        let opening = client.evaluate_leaves(ReceiverStream::new(stream));
        tokio::pin!(opening);
        let mut answers = None;
        let mut in_flight = 0;
        // Set once the learner takes no more batches: its answers then end with the reason, a moment later.
        let mut reason_deadline = None;
        loop {
            let deadline = reason_deadline.unwrap_or_else(|| self.deadline(settings));
            tokio::select! {
                opened = &mut opening, if answers.is_none() => {
                    let opened = opened.map_err(call_error)?;
                    answers = Some(opened.into_inner());
                }
                answer = next(&mut answers) => {
                    self.take_answer(&answer?)?;
                    in_flight -= 1;
                }
                id = self.next_batch(&mut again), if in_flight < credits && reason_deadline.is_none() => {
                    let message = self.mark_sent(id);
                    match outgoing.send(message).await {
                        Ok(()) => in_flight += 1,
                        Err(_) => reason_deadline = Some(Instant::now() + STOP_NOTICE_WAIT),
                    }
                }
                () = sleep_until(deadline) => {
                    if reason_deadline.is_some() {
                        return Err(LearnerSessionError::StreamClosed);
                    }
                    let seconds = settings.evaluation_timeout.as_secs();
                    return Err(LearnerSessionError::Deadline { call: "evaluate leaves", seconds });
                }
            }
        }
    }

    /// Returns when the oldest batch must be answered.
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
            // The threads have ended: the process is stopping and nothing more will come.
            None => std::future::pending().await,
        }
    }

    fn mark_sent(&mut self, id: u64) -> LeafBatch {
        let batch = self.outstanding.get_mut(&id).expect("next_batch() names batches that are outstanding");
        batch.sent_at = Some(Instant::now());
        batch.request.batch.clone()
    }

    /// Passes an answer to the thread that waits for it; an unusable answer ends the stream.
    fn take_answer(&mut self, answer: &EvaluationBatch) -> Result<(), LearnerSessionError> {
        let id = answer.batch_id;
        let Some(batch) = self.outstanding.get_mut(&id).filter(|batch| batch.sent_at.is_some()) else {
            return Err(self.unusable(LearnerSessionError::UnknownBatch(id)));
        };
        match read(answer, &batch.request.batch) {
            Ok((header, evaluations)) => {
                let thread = batch.request.thread;
                self.outstanding.remove(&id);
                count(&self.state.counters.uniform_prior_count, u64::from(header.uniform_prior_count));
                self.state.counters.set_generation(header.generation);
                self.deliver_to(thread, id, Ok(evaluations));
                Ok(())
            }
            Err(error) => {
                batch.attempt_count += 1;
                if batch.attempt_count >= ATTEMPT_COUNT_MAX {
                    let thread = batch.request.thread;
                    self.outstanding.remove(&id);
                    error!(batch_id = id, %error, "batch given up after {ATTEMPT_COUNT_MAX} attempts");
                    self.deliver_to(thread, id, Err(error.clone().into()));
                }
                Err(self.unusable(LearnerSessionError::UnusableEvaluations(error)))
            }
        }
    }

    fn deliver_to(&self, thread: usize, batch_id: u64, result: Result<Evaluations, EvaluationError>) {
        deliver(&self.inboxes[thread], ThreadMessage::Answer { batch_id, result });
    }

    /// Counts an unusable answer, which ends the session.
    fn unusable(&self, error: LearnerSessionError) -> LearnerSessionError {
        count(&self.state.counters.unusable_evaluation_count, 1);
        error
    }
}

fn read(answer: &EvaluationBatch, batch: &LeafBatch) -> Result<(EvaluationHeader, Evaluations), WireError> {
    let (mut priors, mut values) = (vec![], vec![]);
    let (move_count, leaf_count) = (batch.policy_indices.len() / 2, batch.move_counts.len());
    let header = read_evaluations(answer, move_count, leaf_count, &mut priors, &mut values)?;
    Ok((header, Evaluations { network_id: header.network_id, priors, values }))
}

/// Returns the next answer of a stream that may not be open yet.
async fn next(answers: &mut Option<tonic::Streaming<EvaluationBatch>>) -> Result<EvaluationBatch, LearnerSessionError> {
    match answers {
        None => std::future::pending().await,
        Some(answers) => answers.message().await.map_err(call_error)?.ok_or(LearnerSessionError::StreamClosed),
    }
}

fn call_error(status: tonic::Status) -> LearnerSessionError {
    LearnerSessionError::of_status("evaluate leaves", status)
}
