//! Inference servers: the stream on which one is lent leaves and answers them, and the files of networks that it fetches.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use inference::best::BestNetwork;
use inference::{InferenceHandle, RemoteServer};
use registry::check_worker_id;
use runtime::auth::Role;
use runtime::exit::one_line;
use runtime::summed_log::SummedLog;
use shared::ids::NetworkId;
use shared::wire::network_ref_from_wire;
use store::files::{RunFiles, sha256_hex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, sleep_until};
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use tracing::{info, warn};

use super::inference::until_stop;
use super::join_checks::check_versions;

/// How long an inference server may owe an answer: then its leaves are evaluated here. The games that wait for them stand
/// still as long.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(4);
/// How long a server that cannot be used keeps its place: coming back at once, it would do the same again.
const PAUSE_AFTER_FAULT: Duration = Duration::from_secs(10);
/// Messages with leaves that may be on their way to one server; each is answered before many more are sent.
const MESSAGES_AHEAD: usize = 64;
/// Networks that are being sent at once, at most.
const FETCHES_MAX: usize = 8;
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
    fetches: Arc<Semaphore>,
    /// The file that was sent last: servers that start together ask for the same one.
    sent: Arc<Mutex<Option<SentFile>>>,
    log: Arc<SummedLog<(&'static str, String)>>,
    stop: CancellationToken,
}

/// The file of a network in memory.
#[derive(Debug, Clone)]
struct SentFile {
    network_id: NetworkId,
    bytes: Bytes,
    sha256: String,
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
        Self {
            inference,
            best,
            files,
            places: Arc::new(Semaphore::new(server_count_max)),
            server_count_max,
            fetches: Arc::new(Semaphore::new(FETCHES_MAX)),
            sent: Arc::default(),
            log: Arc::default(),
            stop,
        }
    }

    /// Reads the file of a network, unless it is the one that was sent last. One at a time, and not on a thread of tokio.
    async fn file(&self, network_id: NetworkId) -> Result<SentFile, Status> {
        let (sent, path) = (Arc::clone(&self.sent), self.files.network(network_id));
        let reading = tokio::task::spawn_blocking(move || {
            // Nothing that can panic changes it.
            let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(file) = sent.as_ref().filter(|file| file.network_id == network_id) {
                return Ok(file.clone());
            }
            let read = std::fs::read(&path);
            let bytes = read.map_err(|error| Status::unavailable(format!("read {}: {error}", path.display())))?;
            let file = SentFile { network_id, sha256: sha256_hex(&bytes), bytes: bytes.into() };
            *sent = Some(file.clone());
            Ok(file)
        });
        reading.await.map_err(|_| Status::internal("reading the network's file failed"))?
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
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| match self.server_count_max {
            0 => Status::failed_precondition("this learner takes no inference servers: inference.servers_max = 0"),
            count => Status::resource_exhausted(format!(
                "{count} inference servers are connected, or were cut off a moment ago: inference.servers_max"
            )),
        })?;
        let (leaves, receiver) = mpsc::channel(MESSAGES_AHEAD);
        let (server, offers, log) = (self.inference.open_remote(), request.into_inner(), Arc::clone(&self.log));
        tokio::spawn(Serving { server, offers, leaves, place, log, stop: self.stop.clone() }.run());
        let leaves = until_stop(receiver, self.stop.clone()).map(|leaves| leaves.flatten());
        Ok(Response::new(Box::pin(leaves)))
    }

    type FetchNetworkStream = Pin<Box<dyn Stream<Item = Result<proto::NetworkPiece, Status>> + Send>>;

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
        let place = Arc::clone(&self.fetches).try_acquire_owned();
        let place = place.map_err(|_| {
            Status::resource_exhausted(format!("{FETCHES_MAX} inference servers are being sent networks"))
        })?;
        let (network_id, _) = self.best.resolve(network);
        let file = self.file(network_id).await?;
        if let Some(count) = self.log.note(&("sent", request.server.clone()), 1, std::time::Instant::now()) {
            let network_id = network_id.get();
            info!(count, server = request.server, network_id, "network sent to an inference server");
        }
        // The place is free again when the stream is gone.
        let pieces = tokio_stream::iter(pieces(file)).map(move |piece| {
            let _sending = &place;
            Ok(piece)
        });
        Ok(Response::new(Box::pin(pieces)))
    }
}

/// Cuts the file of a network into messages.
fn pieces(file: SentFile) -> Vec<proto::NetworkPiece> {
    let SentFile { network_id, bytes, sha256 } = file;
    let cut = |start: usize| bytes.slice(start..(start + PIECE_BYTES).min(bytes.len()));
    let mut pieces: Vec<_> = (0..bytes.len().max(1))
        .step_by(PIECE_BYTES)
        .map(|start| proto::NetworkPiece { data: cut(start), ..Default::default() })
        .collect();
    if let Some(first) = pieces.first_mut() {
        (first.network_id, first.sha256) = (network_id.get(), sha256);
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
    leaves: mpsc::Sender<Result<proto::LeafBatches, Status>>,
    place: OwnedSemaphorePermit,
    log: Arc<SummedLog<(&'static str, String)>>,
    stop: CancellationToken,
}

/// Why a server's stream ended.
enum End {
    /// It left, or its connection broke.
    Left,
    /// It cannot be used.
    Unusable(Status),
    /// The learner stops.
    Stopping,
}

impl Serving {
    async fn run(mut self) {
        let mut name = None;
        let end = self.serve(&mut name).await;
        let Self { server, leaves, place, log, stop, .. } = self;
        let (answered, returned) = (server.answered_count(), server.returned_count());
        // What it owes comes back first.
        drop(server);
        let name = name.unwrap_or_else(|| "unnamed".to_owned());
        let is_due = |what| log.note(&(what, name.clone()), 1, std::time::Instant::now());
        match end {
            End::Left => {
                if let Some(count) = is_due("left") {
                    info!(count, server = name, answered, returned, "inference server left");
                }
            }
            End::Unusable(status) => {
                let error = status.message().to_owned();
                if let Some(count) = is_due("unusable") {
                    warn!(count, server = name, answered, returned, error, "inference server is not used any more");
                }
                // One that does not read any more is not told.
                let _ = leaves.try_send(Err(status));
                drop(leaves);
                stop.run_until_cancelled(tokio::time::sleep(PAUSE_AFTER_FAULT)).await;
            }
            End::Stopping => {}
        }
        drop(place);
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
                            *name = Some(self.join(&offer));
                        }
                        if let Err(error) = self.server.note(&offer) {
                            return End::Unusable(Status::invalid_argument(one_line(&error)));
                        }
                    }
                    Ok(None) | Err(_) => return End::Left,
                },
                () = self.server.until_leaves(), if has_room => {}
                () = self.leaves.closed() => return End::Left,
                () = sleep_until(deadline), if self.server.owes_since().is_some() => {
                    let seconds = ANSWER_TIME_MAX.as_secs();
                    return End::Unusable(Status::deadline_exceeded(format!("no answer within {seconds} s")));
                }
                () = self.stop.cancelled() => return End::Stopping,
            }
        }
    }

    /// Sends what the server takes. Returns whether anything was sent.
    fn lend(&mut self) -> bool {
        let Ok(place) = self.leaves.try_reserve() else { return false };
        let Some(batches) = self.server.lend(std::time::Instant::now()) else { return false };
        place.send(Ok(batches));
        true
    }

    /// Returns the name of the server as it may be logged.
    fn join(&self, offer: &proto::InferenceOffer) -> String {
        let name = match check_worker_id(&offer.server) {
            Ok(()) => offer.server.clone(),
            Err(_) => "unnamed".to_owned(),
        };
        if let Some(count) = self.log.note(&("joined", name.clone()), 1, std::time::Instant::now()) {
            info!(count, server = name, "inference server joined");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_into_pieces_the_first_of_which_names_it() {
        let bytes: Vec<u8> = (0..PIECE_BYTES + 7).map(|index| index as u8).collect();
        let network_id = NetworkId::new(5).expect("from 1");
        let file = SentFile { network_id, bytes: bytes.clone().into(), sha256: sha256_hex(&bytes) };
        let sent = pieces(file);
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
