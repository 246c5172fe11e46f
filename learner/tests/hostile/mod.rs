//! A learner under attack: what it is measured by before, meanwhile and afterwards, and how peers talk to it.
#![allow(dead_code)]

pub mod attackers;
pub mod honest;
pub mod raw_call;

use std::time::{Duration, Instant};

use proto::inference_client::InferenceClient;
use proto::workers_client::WorkersClient;
use runtime::auth::ClientAuth;
use runtime::worker_key::WorkerKey;
use shared::encoding::Encoding;
use shared::game::Game;
use tokio::sync::{Mutex, MutexGuard};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};

use crate::common::system::{Process, System};
use attackers::attack;
use fixtures::encoding;

/// How long a stop may take: a setting of the learner.
pub const DRAIN_DEADLINE: Duration = Duration::from_secs(3);
/// What the stop of a process takes beside that, on a machine that is busy with other tests.
const STOP_SLACK: Duration = Duration::from_secs(20);
/// By how much the learner's memory may grow.
const MEMORY_GROWTH_MIB_MAX: u64 = 256;
/// How much it may log about an attack.
const LOG_GROWTH_BYTES_MAX: u64 = 100_000;

/// What a peer sends with each call.
pub type Auth = InterceptedService<Channel, ClientAuth>;

/// A learner that is attacked.
pub struct Victim {
    pub system: System,
    pub learner: Process,
    memory_mib: u64,
    log_bytes: u64,
    /// Rates mean something only where one attack has the machine for itself.
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::const_new(());

impl Victim {
    /// Starts a run of tic-tac-toe in which leases are short, once no other victim is there.
    pub async fn start() -> Self {
        Self::start_by(|system| system.start_learner(&[])).await
    }

    /// Starts it by `start`.
    pub async fn start_by(start: impl FnOnce(&mut System) -> Process) -> Self {
        let turn = TURN.lock().await;
        let drain_deadline = format!("server.drain_deadline={}s", DRAIN_DEADLINE.as_secs());
        let mut system = System::new(&["server.lease=1s", "server.idle_leases_max=3", &drain_deadline]);
        let learner = start(&mut system);
        let mut victim = Self { system, learner, memory_mib: 0, log_bytes: 0, _turn: turn };
        victim.measure();
        victim
    }

    /// Remembers memory and log as they are now: what comes after is the attack's.
    pub fn measure(&mut self) {
        (self.memory_mib, self.log_bytes) = (self.learner.memory_mib(), self.learner.log_bytes());
    }

    /// Connects as a worker of this name.
    pub async fn connect(&self, name: &str) -> Peer {
        connect(self.system.url(), name.to_owned()).await
    }

    /// Connects as an attacker that calls itself a worker of this name.
    pub async fn connect_attacker(&self, name: &str) -> Peer {
        attack(connect(self.system.url(), name.to_owned())).await
    }

    /// Kills the learner and starts it again.
    pub fn restart(&mut self) {
        self.learner.kill_hard();
        self.learner = self.system.start_learner(&[]);
        self.measure();
    }

    /// Checks that the attack cost no more than it may, and that the learner stops as it should.
    pub fn assert_unharmed(self, attack: &str) {
        let (memory_mib, log_bytes) = (self.learner.memory_mib(), self.learner.log_bytes());
        let memory_growth = memory_mib.saturating_sub(self.memory_mib);
        let log_growth = log_bytes.saturating_sub(self.log_bytes);
        println!("{attack}: memory {} -> {memory_mib} MiB, log +{log_growth} bytes", self.memory_mib);
        assert!(memory_growth <= MEMORY_GROWTH_MIB_MAX, "{attack}: {memory_growth} MiB more memory");
        assert!(log_growth <= LOG_GROWTH_BYTES_MAX, "{attack}: {log_growth} bytes more log");
        let stopped_at = Instant::now();
        self.learner.terminate();
        let (status, log) = self.learner.wait_for_end();
        let stopping = stopped_at.elapsed();
        println!("{attack}: stopped within {stopping:.1?}");
        assert!(status.success(), "{attack}: {status}, {:?}", log.last());
        assert!(stopping <= DRAIN_DEADLINE + STOP_SLACK, "{attack}: the stop took {stopping:?}");
    }
}

async fn connect(url: String, name: String) -> Peer {
    let endpoint = Endpoint::from_shared(url).expect("an address");
    Peer::new(endpoint.connect().await.expect("the learner listens"), &name)
}

/// Whoever talks to the learner, under a name and with a key of its own.
#[derive(Clone)]
pub struct Peer {
    pub name: String,
    pub channel: Channel,
    auth: ClientAuth,
}

impl Peer {
    /// Makes a peer on a connection that is there.
    pub fn new(channel: Channel, name: &str) -> Self {
        // Keys are 32 characters at least.
        let key = WorkerKey::new(format!("{name:-<32}")).expect("a key");
        Self { name: name.to_owned(), channel, auth: ClientAuth::default().of_worker(name, &key) }
    }

    /// Calls itself by another name in what it says, with its own key.
    pub fn under(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Returns the calls of workers.
    pub fn workers(&self) -> WorkersClient<Auth> {
        WorkersClient::new(InterceptedService::new(self.channel.clone(), self.auth.clone()))
    }

    /// Returns the calls about leaves.
    pub fn inference(&self) -> InferenceClient<Auth> {
        InferenceClient::new(InterceptedService::new(self.channel.clone(), self.auth.clone()))
    }

    /// Joins as an actor.
    pub async fn join(&self) -> proto::JoinReply {
        self.join_as(proto::WorkerKind::Actor).await
    }

    /// Joins as a worker of this kind.
    pub async fn join_as(&self, kind: proto::WorkerKind) -> proto::JoinReply {
        let request = proto::JoinRequest {
            protocol_version: proto::PROTOCOL_VERSION,
            domain_version: shared::DOMAIN_VERSION,
            worker_id: self.name.clone(),
            kind: kind.into(),
            program_version: env!("CARGO_PKG_VERSION").into(),
            thread_count: 1,
        };
        self.workers().join(request).await.expect("it may join").into_inner()
    }

    /// Leases games, as many as there are.
    pub async fn lease(&self, game_count: u32) -> proto::LeaseGamesReply {
        let request = proto::LeaseGamesRequest { worker_id: self.name.clone(), game_count };
        self.workers().lease_games(request).await.expect("an answer").into_inner()
    }

    /// Renews leases.
    pub async fn renew(&self, game_ids: Vec<u64>) -> Result<Vec<u64>, tonic::Status> {
        let request = proto::RenewLeasesRequest { worker_id: self.name.clone(), game_ids };
        self.workers().renew_leases(request).await.map(|reply| reply.into_inner().lost_game_ids)
    }

    /// Reports plies.
    pub async fn report(&self, plies: Vec<proto::Ply>) -> Result<Vec<proto::PlyStatus>, tonic::Status> {
        let request = proto::ReportPliesRequest { worker_id: self.name.clone(), plies };
        self.workers().report_plies(request).await.map(|reply| reply.into_inner().statuses)
    }
}

/// Returns a batch of so many empty boards for a network; 0 is the best one.
pub fn empty_boards(batch_id: u64, leaf_count: usize, network_id: u32) -> proto::LeafBatch {
    let (encoding, mut packed, mut moves) = (encoding(), Vec::new(), Vec::new());
    let position = encoding.game().initial_position();
    encoding.pack(&position, &mut packed);
    encoding.game().legal_moves(&position, &mut moves);
    let mut indices = Vec::new();
    encoding.policy_indices(&position, &moves, &mut indices);
    let indices: Vec<u8> = indices.iter().flat_map(|index: &u16| index.to_le_bytes()).collect();
    proto::LeafBatch {
        batch_id,
        network_id,
        position_lengths: vec![packed.len() as u32; leaf_count],
        positions: packed.repeat(leaf_count).into(),
        policy_indices: indices.repeat(leaf_count).into(),
        move_counts: vec![moves.len() as u32; leaf_count],
    }
}
