//! Inference servers: the stream on which one is lent leaves and answers them, and the files of networks that it fetches.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use inference::best::BestNetwork;
use inference::{InferenceHandle, RemoteServer};
use registry::check_worker_id;
use runtime::auth::Role;
use runtime::exit::one_line;
use shared::wire::network_ref_from_wire;
use store::files::{RunFiles, sha256_hex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, sleep_until};
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use tracing::{info, warn};

use super::inference::until_stop;
use super::join_checks::check_versions;

/// How long an inference server may owe an answer: then its leaves are evaluated here. Long enough for the largest
/// evaluation on a slow processor and a slow link, short enough for the games that wait.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
/// Messages with leaves that may be on their way to one server; each is answered before many more are sent.
const MESSAGES_AHEAD: usize = 64;
/// Bytes of a network's file in one message.
const PIECE_BYTES: usize = 256 << 10;

/// Serves `alveare.v1.RemoteInference`.
#[derive(Debug)]
pub struct RemoteInferenceService {
    inference: InferenceHandle,
    best: Arc<BestNetwork>,
    files: RunFiles,
    places: Arc<Semaphore>,
    server_count_max: usize,
    stop: CancellationToken,
}

impl RemoteInferenceService {
    /// Lets at most `server_count_max` servers in at once.
    #[must_use]
    pub fn new(
        inference: InferenceHandle,
        best: Arc<BestNetwork>,
        files: RunFiles,
        server_count_max: u32,
        stop: CancellationToken,
    ) -> Self {
        let server_count_max = server_count_max as usize;
        Self { inference, best, files, places: Arc::new(Semaphore::new(server_count_max)), server_count_max, stop }
    }
}

#[tonic::async_trait]
impl proto::remote_inference_server::RemoteInference for RemoteInferenceService {
    type OfferInferenceStream = Pin<Box<dyn Stream<Item = Result<proto::LeafBatches, Status>> + Send>>;

    async fn offer_inference(
        &self,
        request: Request<Streaming<proto::InferenceOffer>>,
    ) -> Result<Response<Self::OfferInferenceStream>, Status> {
        check_role(Role::of(request.extensions()))?;
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let count = self.server_count_max;
            Status::resource_exhausted(format!("{count} inference servers are connected: inference.servers_max"))
        })?;
        let (leaves, receiver) = mpsc::channel(MESSAGES_AHEAD);
        let (server, offers) = (self.inference.open_remote(), request.into_inner());
        tokio::spawn(Serving { server, offers, leaves, place, stop: self.stop.clone() }.run());
        Ok(Response::new(Box::pin(until_stop(receiver, self.stop.clone()))))
    }

    type FetchNetworkStream = tokio_stream::Iter<std::vec::IntoIter<Result<proto::NetworkPiece, Status>>>;

    async fn fetch_network(
        &self,
        request: Request<proto::FetchNetworkRequest>,
    ) -> Result<Response<Self::FetchNetworkStream>, Status> {
        check_role(Role::of(request.extensions()))?;
        let request = request.get_ref();
        check_worker_id(&request.server).map_err(|error| Status::invalid_argument(error.to_string()))?;
        check_versions(request.protocol_version, request.domain_version)?;
        let network = network_ref_from_wire(request.network_id);
        if !self.best.is_in_play(network) {
            return Err(Status::not_found("the network is neither the best one nor one of a gate"));
        }
        let (network_id, _) = self.best.resolve(network);
        let path = self.files.network(network_id);
        let read = tokio::fs::read(&path).await;
        let bytes = read.map_err(|error| Status::unavailable(format!("read {}: {error}", path.display())))?;
        info!(server = request.server, network_id = network_id.get(), "network sent to an inference server");
        let pieces: Vec<_> = pieces(network_id.get(), bytes).into_iter().map(Ok).collect();
        Ok(Response::new(tokio_stream::iter(pieces)))
    }
}

/// Cuts the file of a network into messages.
fn pieces(network_id: u32, bytes: Vec<u8>) -> Vec<proto::NetworkPiece> {
    let sha256 = sha256_hex(&bytes);
    let bytes = bytes::Bytes::from(bytes);
    let cut = |start: usize| bytes.slice(start..(start + PIECE_BYTES).min(bytes.len()));
    let mut pieces: Vec<_> = (0..bytes.len().max(1))
        .step_by(PIECE_BYTES)
        .map(|start| proto::NetworkPiece { data: cut(start), ..Default::default() })
        .collect();
    if let Some(first) = pieces.first_mut() {
        (first.network_id, first.sha256) = (network_id, sha256);
    }
    pieces
}

fn check_role(role: Role) -> Result<(), Status> {
    match role {
        Role::Any | Role::Inference => Ok(()),
        Role::Actor | Role::Evaluator | Role::Reader => {
            Err(Status::permission_denied("the token is not one of inference servers"))
        }
    }
}

/// A server that is connected.
struct Serving {
    server: RemoteServer,
    offers: Streaming<proto::InferenceOffer>,
    leaves: mpsc::Sender<proto::LeafBatches>,
    place: OwnedSemaphorePermit,
    stop: CancellationToken,
}

/// Why a server's stream ended.
enum End {
    /// It left, or its connection broke.
    Left,
    /// It cannot be used.
    Unusable(String),
    /// The learner stops.
    Stopping,
}

impl Serving {
    async fn run(mut self) {
        let mut name = None;
        let end = self.serve(&mut name).await;
        let (server, answered) = (name.as_deref().unwrap_or("unnamed"), self.server.answered_count());
        match end {
            End::Left => info!(server, answered, "inference server left"),
            End::Unusable(error) => warn!(server, answered, error, "inference server is not used any more"),
            End::Stopping => {}
        }
        // Its leaves come back before its place is free.
        drop(self.server);
        drop(self.place);
    }

    async fn serve(&mut self, name: &mut Option<String>) -> End {
        loop {
            if self.server.is_done() || self.stop.is_cancelled() {
                return End::Stopping;
            }
            let is_lent = self.lend();
            let has_room = self.server.has_room() && self.leaves.capacity() > 0;
            if is_lent && has_room {
                continue;
            }
            let deadline = self.server.owes_since().map_or_else(Instant::now, Instant::from_std) + ANSWER_TIME_MAX;
            tokio::select! {
                offer = self.offers.message() => match offer {
                    Ok(Some(offer)) => {
                        if name.is_none() {
                            *name = Some(join(&offer));
                        }
                        if let Err(error) = self.server.note(&offer) {
                            return End::Unusable(one_line(&error));
                        }
                    }
                    Ok(None) | Err(_) => return End::Left,
                },
                () = self.server.until_leaves(), if has_room => {}
                () = self.leaves.closed() => return End::Left,
                () = sleep_until(deadline), if self.server.owes_since().is_some() => {
                    return End::Unusable(format!("no answer within {} s", ANSWER_TIME_MAX.as_secs()));
                }
                () = self.stop.cancelled() => return End::Stopping,
            }
        }
    }

    /// Sends what the server takes. Returns whether anything was sent.
    fn lend(&mut self) -> bool {
        let Ok(place) = self.leaves.try_reserve() else { return false };
        let Some(batches) = self.server.lend(std::time::Instant::now()) else { return false };
        place.send(batches);
        true
    }
}

/// Returns the name of a server as it may be logged.
fn join(offer: &proto::InferenceOffer) -> String {
    let name = match check_worker_id(&offer.server) {
        Ok(()) => offer.server.clone(),
        Err(_) => "unnamed".to_owned(),
    };
    info!(server = name, "inference server joined");
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_into_pieces_the_first_of_which_names_it() {
        let bytes: Vec<u8> = (0..PIECE_BYTES + 7).map(|index| index as u8).collect();
        let sent = pieces(5, bytes.clone());
        assert_eq!(sent.iter().map(|piece| piece.data.len()).collect::<Vec<_>>(), [PIECE_BYTES, 7]);
        assert_eq!((sent[0].network_id, sent[0].sha256.as_str()), (5, sha256_hex(&bytes).as_str()));
        assert!(sent[1].sha256.is_empty());
        assert_eq!(sent.iter().flat_map(|piece| piece.data.to_vec()).collect::<Vec<_>>(), bytes);
    }

    #[test]
    fn only_tokens_for_everything_or_for_inference_let_a_server_in() {
        assert!(check_role(Role::Any).is_ok() && check_role(Role::Inference).is_ok());
        for role in [Role::Actor, Role::Evaluator, Role::Reader] {
            assert_eq!(check_role(role).unwrap_err().code(), tonic::Code::PermissionDenied);
        }
    }
}
