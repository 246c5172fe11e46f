//! The evaluation stream: batches of leaves in, evaluations out.

use shared::wire::LEARNER_STOPPING;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use tracing::debug;

use crate::inference::{InferenceHandle, Job, LeafSender};

/// Serves `alveare.v1.Inference`.
pub struct InferenceService {
    inference: InferenceHandle,
    /// Batches that one stream may have unanswered; more are not read before answers have left.
    batches_in_flight_max: usize,
    /// Ends the streams with a status that says so: workers come back when the learner does.
    stop: CancellationToken,
}

impl InferenceService {
    /// Makes the service.
    #[must_use]
    pub const fn new(inference: InferenceHandle, batches_in_flight_max: usize, stop: CancellationToken) -> Self {
        Self { inference, batches_in_flight_max, stop }
    }
}

#[tonic::async_trait]
impl proto::inference_server::Inference for InferenceService {
    type EvaluateLeavesStream = std::pin::Pin<Box<dyn Stream<Item = Result<proto::EvaluationBatch, Status>> + Send>>;

    async fn evaluate_leaves(
        &self,
        request: Request<Streaming<proto::LeafBatch>>,
    ) -> Result<Response<Self::EvaluateLeavesStream>, Status> {
        let (answers, receiver) = mpsc::channel(self.batches_in_flight_max);
        let stream = self.inference.open_stream();
        let reading = read_batches(request.into_inner(), stream.sender(), answers);
        tokio::spawn(self.stop.clone().run_until_cancelled_owned(reading));
        // The answers own the stream: once nobody reads them any more, what waits is dropped.
        let answers = answers_until_stop(receiver, self.stop.clone()).map(move |answer| {
            let _open = &stream;
            answer
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

/// Returns the answers as they come; at a stop, an end that tells the worker of it.
fn answers_until_stop(
    answers: mpsc::Receiver<proto::EvaluationBatch>,
    stop: CancellationToken,
) -> impl Stream<Item = Result<proto::EvaluationBatch, Status>> {
    let stopping = || Some(Err(Status::unavailable(LEARNER_STOPPING)));
    let at_stop = tokio_stream::once(stop.clone()).then(CancellationToken::cancelled_owned).map(move |()| stopping());
    // The reading task ends at a stop too, and with it the answers: whichever is seen first.
    let at_end = tokio_stream::once(stop).map(move |stop| if stop.is_cancelled() { stopping() } else { None });
    let answers = ReceiverStream::new(answers).map(|answer| Some(Ok(answer))).chain(at_end);
    answers.merge(at_stop).map_while(|answer| answer)
}

/// Hands batches in until the worker or the inference thread is gone. Reads one only once there is room for its answer.
async fn read_batches(
    mut batches: Streaming<proto::LeafBatch>,
    leaves: LeafSender,
    answers: mpsc::Sender<proto::EvaluationBatch>,
) {
    while let Ok(answer) = answers.clone().reserve_owned().await {
        match batches.message().await {
            Ok(Some(batch)) => {
                if !leaves.submit(Job { batch, answer }).await {
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
