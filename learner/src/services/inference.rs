//! The evaluation stream: batches of leaves in, evaluations out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inference::best::BestNetwork;
use inference::{InferenceHandle, Job, LeafSender};
use runtime::auth::Role;
use shared::wire::{LEARNER_STOPPING, network_ref_from_wire};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use tracing::debug;

use super::joined::JoinedWorkers;
use super::leaf_access::{Askable, worker_of};

/// Why a batch for another network is refused.
const NOT_IN_PLAY: &str =
    "the network is neither the best one nor one of a gate that this worker may play: leaves for it are not evaluated";
/// Batches that a stream may have refused one after the other: at the end of a gate some are under way for its networks.
const FREE_REFUSAL_COUNT: u32 = 64;
/// How long a stream must send nothing wrong for each further one.
const REFUSAL_INTERVAL: Duration = Duration::from_millis(50);

/// Serves `alveare.v1.Inference`.
pub struct InferenceService {
    inference: InferenceHandle,
    /// Which networks may be asked.
    best: Arc<BestNetwork>,
    /// Who asks.
    joined: Arc<JoinedWorkers>,
    /// Batches that one stream may have unanswered; more are not read before answers have left.
    batches_in_flight_max: usize,
    /// Ends the streams with a status that says so: workers come back when the learner does.
    stop: CancellationToken,
}

impl InferenceService {
    /// Makes the service.
    #[must_use]
    pub const fn new(
        inference: InferenceHandle,
        best: Arc<BestNetwork>,
        joined: Arc<JoinedWorkers>,
        batches_in_flight_max: usize,
        stop: CancellationToken,
    ) -> Self {
        Self { inference, best, joined, batches_in_flight_max, stop }
    }
}

#[tonic::async_trait]
impl proto::inference_server::Inference for InferenceService {
    type EvaluateLeavesStream = std::pin::Pin<Box<dyn Stream<Item = Result<proto::EvaluationBatch, Status>> + Send>>;

    async fn evaluate_leaves(
        &self,
        request: Request<Streaming<proto::LeafBatch>>,
    ) -> Result<Response<Self::EvaluateLeavesStream>, Status> {
        let role = Role::of(request.extensions());
        let worker_id = worker_of(&self.joined, request.metadata(), role, Instant::now())?;
        let stream = self.inference.open_stream_of(&worker_id);
        let stream = stream.map_err(|error| Status::resource_exhausted(error.to_string()))?;
        let askable = Askable::new(Arc::clone(&self.best), Arc::clone(&self.joined), role, worker_id);
        let (answers, receiver) = mpsc::channel(self.batches_in_flight_max);
        let reading = read_batches(request.into_inner(), stream.sender(), askable, answers);
        tokio::spawn(self.stop.clone().run_until_cancelled_owned(reading));
        // The answers own the stream: once nobody reads them any more, what waits is dropped.
        let answers = until_stop(receiver, self.stop.clone()).map(move |answer| {
            let _open = &stream;
            answer
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

/// Returns the messages as they come; at a stop, an end that tells the other side of it.
pub(super) fn until_stop<T: Send + 'static>(
    messages: mpsc::Receiver<T>,
    stop: CancellationToken,
) -> impl Stream<Item = Result<T, Status>> {
    let stopping = || Some(Err(Status::unavailable(LEARNER_STOPPING)));
    let at_stop = tokio_stream::once(stop.clone()).then(CancellationToken::cancelled_owned).map(move |()| stopping());
    // Who sends ends at a stop too, and with it the messages: whichever is seen first.
    let at_end = tokio_stream::once(stop).map(move |stop| if stop.is_cancelled() { stopping() } else { None });
    let messages = ReceiverStream::new(messages).map(|message| Some(Ok(message))).chain(at_end);
    messages.merge(at_stop).map_while(|message| message)
}

/// Slows down a stream that sends one refused batch after the other: each costs the learner time, and nobody waits for its
/// answer.
struct RefusalPace {
    /// When all refusals so far are paid for.
    paid_at: Instant,
}

impl RefusalPace {
    fn new(now: Instant) -> Self {
        Self { paid_at: now }
    }

    /// Notes a refusal. Returns how long the next batch is to be left unread.
    fn wait_after_refusal(&mut self, now: Instant) -> Duration {
        self.paid_at = self.paid_at.max(now) + REFUSAL_INTERVAL;
        self.paid_at.saturating_duration_since(now).saturating_sub(REFUSAL_INTERVAL * FREE_REFUSAL_COUNT)
    }
}

/// Hands batches in until the worker or the inference thread is gone. Reads one only once there is room for its answer.
async fn read_batches(
    mut batches: Streaming<proto::LeafBatch>,
    leaves: LeafSender,
    mut askable: Askable,
    answers: mpsc::Sender<proto::EvaluationBatch>,
) {
    let mut pace = RefusalPace::new(Instant::now());
    while let Ok(answer) = answers.clone().reserve_owned().await {
        match batches.message().await {
            Ok(Some(batch)) => {
                let (network, job) = (network_ref_from_wire(batch.network_id), Job { batch, answer });
                if !askable.ask(network) {
                    leaves.refuse(job, &NOT_IN_PLAY);
                    tokio::time::sleep(pace.wait_after_refusal(Instant::now())).await;
                } else if !leaves.submit(job).await {
                    return;
                }
            }
            Ok(None) => return,
            Err(status) => {
                debug!(%status, "evaluation stream ended");
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_free_at_first_and_cost_time_then() {
        let start = Instant::now();
        let mut pace = RefusalPace::new(start);
        for _ in 0..FREE_REFUSAL_COUNT {
            assert_eq!(pace.wait_after_refusal(start), Duration::ZERO);
        }
        assert_eq!(pace.wait_after_refusal(start), REFUSAL_INTERVAL);
        assert_eq!(pace.wait_after_refusal(start), 2 * REFUSAL_INTERVAL);
        let later = start + 2 * REFUSAL_INTERVAL;
        assert_eq!(pace.wait_after_refusal(later), REFUSAL_INTERVAL, "two are paid for by waiting");
        let much_later = start + 2 * FREE_REFUSAL_COUNT * REFUSAL_INTERVAL;
        assert_eq!(pace.wait_after_refusal(much_later), Duration::ZERO, "forgotten");
    }
}
