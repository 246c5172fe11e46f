//! A learner whose network answers at once: uniform priors, value 0. It takes every ply and looks at none.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proto::inference_server::{Inference, InferenceServer};
use proto::ply_status::Code;
use proto::workers_server::{Workers, WorkersServer};
use proto::{
    EvaluationBatch, GameKind, JoinReply, JoinRequest, LeafBatch, Lease, LeaseGamesReply, LeaseGamesRequest, Ply,
    PlyStatus, RenewLeasesReply, RenewLeasesRequest, ReportPliesReply, ReportPliesRequest,
};
use runtime::connections::{ConnectionLimits, incoming};
use runtime::limits::{self, MESSAGE_BYTES_MAX};
use runtime::tls::server::{ServerTls, ServerTlsFiles};
use shared::catalog::GameSpec;
use shared::game::hive::HiveRules;
use shared::ids::{Generation, NetworkId};
use shared::search::SearchSettings;
use shared::wire::{
    EvaluationHeader, game_spec_to_proto, read_leaf_batch, search_settings_to_proto, write_evaluations,
};
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use worker::WorkerConfig;

/// Simulations of each ply.
pub const SIMULATION_COUNT: u32 = 100;

/// It asks for no token, and so notices no first call.
const CONNECTIONS: ConnectionLimits =
    ConnectionLimits { count_max: 1000, count_per_address_max: 1000, first_call_within: Duration::MAX };

/// Serves on a port of this machine until it is dropped.
pub struct InstantLearner {
    /// Runs the learner; the bench's own tasks may use it too.
    pub runtime: tokio::runtime::Runtime,
    /// Cancelled once as many plies were reported as wanted.
    pub enough: CancellationToken,
    pub address: std::net::SocketAddr,
    certificate: Option<Certificate>,
}

/// A certificate for this machine that vouches for itself.
struct Certificate(tempfile::TempDir);

impl Certificate {
    fn make() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        let certificate = Self(tempfile::tempdir().expect("a folder"));
        std::fs::write(certificate.path(), made.cert.pem()).expect("written");
        std::fs::write(certificate.key_path(), made.signing_key.serialize_pem()).expect("written");
        certificate
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("server.pem")
    }

    fn key_path(&self) -> PathBuf {
        self.0.path().join("server.key")
    }

    fn tls(&self) -> ServerTls {
        let files = ServerTlsFiles { certificate: self.path(), key: self.key_path(), client_authority: None };
        ServerTls::read(&files).expect("a usable certificate")
    }
}

/// How the connections are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Clear,
    Tls,
}

impl InstantLearner {
    pub fn start(wanted_ply_count: u64, transport: Transport) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("start tokio");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("bind a port");
        let address = listener.local_addr().expect("the port");
        let enough = CancellationToken::new();
        let games =
            Arc::new(Games { next: AtomicU64::new(1), wanted: wanted_ply_count.into(), enough: enough.clone() });
        let services = Services(games);
        let inference = InferenceServer::new(services.clone()).max_decoding_message_size(MESSAGE_BYTES_MAX);
        let certificate = (transport == Transport::Tls).then(Certificate::make);
        let mut server = match &certificate {
            Some(certificate) => certificate.tls().of_grpc(limits::server()).expect("a usable certificate"),
            None => limits::server(),
        };
        let serving = server
            .add_service(WorkersServer::new(services))
            .add_service(inference)
            .serve_with_incoming(incoming(listener, CONNECTIONS));
        runtime.spawn(serving);
        Self { runtime, enough, address, certificate }
    }

    /// The certificate that vouches for the learner, if it speaks TLS.
    pub fn authority(&self) -> Option<PathBuf> {
        self.certificate.as_ref().map(Certificate::path)
    }

    pub fn config(&self) -> WorkerConfig {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        let authority = self.authority().unwrap_or_default();
        WorkerConfig { learner: format!("{scheme}://{}", self.address), authority, ..WorkerConfig::default() }
    }
}

struct Games {
    next: AtomicU64,
    wanted: AtomicU64,
    enough: CancellationToken,
}

impl Games {
    fn lease(&self) -> Lease {
        let game_id = self.next.fetch_add(1, Ordering::Relaxed);
        let settings = SearchSettings { simulation_count: SIMULATION_COUNT, ..SearchSettings::default() };
        Lease {
            game_id,
            kind: GameKind::SelfPlay.into(),
            seed: game_id,
            search: Some(search_settings_to_proto(&settings)),
            ..Lease::default()
        }
    }

    fn take(&self, ply: &Ply) -> PlyStatus {
        if self.wanted.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.enough.cancel();
        }
        PlyStatus { game_id: ply.game_id, ply: ply.ply, code: Code::Accepted.into(), ..PlyStatus::default() }
    }
}

#[derive(Clone)]
struct Services(Arc<Games>);

#[tonic::async_trait]
impl Workers for Services {
    async fn join(&self, _: Request<JoinRequest>) -> Result<Response<JoinReply>, Status> {
        let spec = GameSpec::Hive { rules: HiveRules::default(), frame: 16 };
        Ok(Response::new(JoinReply {
            game: Some(game_spec_to_proto(&spec)),
            lease_ms: 60_000,
            batches_in_flight_max: 4,
            batch_leaves_max: 1024,
            best_network_id: 1,
            generation: 1,
        }))
    }

    async fn lease_games(&self, request: Request<LeaseGamesRequest>) -> Result<Response<LeaseGamesReply>, Status> {
        let leases = (0..request.into_inner().game_count).map(|_| self.0.lease()).collect();
        Ok(Response::new(LeaseGamesReply { leases, ..LeaseGamesReply::default() }))
    }

    async fn report_plies(&self, request: Request<ReportPliesRequest>) -> Result<Response<ReportPliesReply>, Status> {
        let statuses = request.into_inner().plies.iter().map(|ply| self.0.take(ply)).collect();
        Ok(Response::new(ReportPliesReply { statuses }))
    }

    async fn renew_leases(&self, _: Request<RenewLeasesRequest>) -> Result<Response<RenewLeasesReply>, Status> {
        Ok(Response::new(RenewLeasesReply::default()))
    }
}

#[tonic::async_trait]
impl Inference for Services {
    type EvaluateLeavesStream = Pin<Box<dyn Stream<Item = Result<EvaluationBatch, Status>> + Send>>;

    async fn evaluate_leaves(
        &self,
        request: Request<Streaming<LeafBatch>>,
    ) -> Result<Response<Self::EvaluateLeavesStream>, Status> {
        Ok(Response::new(Box::pin(request.into_inner().map(|batch| answer(&batch?)))))
    }
}

fn answer(batch: &LeafBatch) -> Result<EvaluationBatch, Status> {
    let view = read_leaf_batch(batch).map_err(|error| Status::invalid_argument(error.to_string()))?;
    let (mut priors, mut values) = (Vec::with_capacity(view.move_count()), Vec::with_capacity(view.len()));
    for leaf in view.leaves() {
        let move_count = leaf.policy_indices().len();
        priors.extend(std::iter::repeat_n(1.0 / move_count as f32, move_count));
        values.push(0.0);
    }
    let header = EvaluationHeader {
        batch_id: batch.batch_id,
        network_id: NetworkId::FIRST,
        generation: Generation::new(1),
        uniform_prior_count: 0,
    };
    Ok(write_evaluations(header, &priors, &values))
}
