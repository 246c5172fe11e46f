//! A load generator for benchmarks: sends leaves as fast as the learner takes them, and counts the answers.

#![allow(dead_code, reason = "each benchmark uses its part")]

pub mod processor_time;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use processor_time::ProcessorTimes;
use prost::Message;
use proto::inference_client::InferenceClient;
use proto::workers_client::WorkersClient;
use proto::{JoinReply, JoinRequest, LeafBatch, WorkerKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use runtime::auth::ClientAuth;
use runtime::limits::MESSAGE_BYTES_MAX;
use runtime::tls::client::{ClientTlsFiles, Target};
use runtime::worker_key::WorkerKey;
use shared::catalog::GameVisitor;
use shared::encoding::Encoding;
use shared::game::Game;
use shared::ids::NetworkRef;
use shared::wire::{LeafBatchBuilder, game_spec_from_proto};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;

/// Longest wait for the answer to a batch.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(120);

/// The load.
#[derive(Debug, Clone, Copy)]
pub struct LoadSettings {
    /// Leaves in each batch.
    pub batch_leaves: usize,
    /// Batches sent before the clock starts.
    pub warm_up_batches: usize,
    /// Batches that are counted.
    pub batches: usize,
    /// Plies of random play before a position is taken: 20 is a midgame of Hive.
    pub plies: u32,
    /// Seed of the random play.
    pub seed: u64,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadReport {
    /// Leaves counted.
    pub leaf_count: u64,
    /// Time from the last answer of the warm-up to the last answer.
    pub time: Duration,
    /// Processor time of the other threads of this process in that time, by their names.
    pub processor_times: Vec<(String, Duration)>,
    /// Legal moves of each leaf of a batch.
    pub move_counts: Vec<u32>,
    /// The priors of the last answer, end to end.
    pub priors: Vec<f32>,
    /// The values of the last answer.
    pub values: Vec<f32>,
    /// Mean legal moves of a leaf.
    pub moves_per_leaf: f64,
    /// Mean bytes of a leaf, both ways, as messages are encoded.
    pub bytes_per_leaf: f64,
}

impl LoadReport {
    /// Returns leaves answered per second.
    #[must_use]
    pub fn leaves_per_second(&self) -> f64 {
        self.leaf_count as f64 / self.time.as_secs_f64().max(1e-9)
    }

    /// Returns the processor time of the other threads for each leaf, in microseconds.
    pub fn processor_us_per_leaf(&self) -> f64 {
        let time: Duration = self.processor_times.iter().map(|(_, time)| *time).sum();
        time.as_secs_f64() * 1e6 / self.leaf_count as f64
    }
}

/// Returns the learner at an address; by TLS if an authority vouches for it.
pub fn target(address: SocketAddr, authority: Option<PathBuf>) -> Target {
    let scheme = if authority.is_some() { "https" } else { "http" };
    let address = format!("{scheme}://{address}").parse().expect("an address");
    Target::new(address, &ClientTlsFiles { authority, ..ClientTlsFiles::default() }).expect("usable files")
}

/// Joins the learner and sends it batches of positions of random games, as many at once as it allows.
///
/// # Panics
/// If the learner refuses, ends the stream, or sends an invalid answer.
pub async fn run(learner: &Target, load: LoadSettings) -> LoadReport {
    let channel = learner.connect().await.expect("the learner listens");
    let worker_id = format!("load-{:016x}", rand::random::<u64>());
    let key = WorkerKey::new(format!("{:032x}", rand::random::<u128>())).expect("a key");
    let channel = InterceptedService::new(channel, ClientAuth::default().of_worker(&worker_id, &key));
    let join = join(channel.clone(), worker_id).await;
    let spec = game_spec_from_proto(join.game.as_ref().expect("a game")).expect("a known game");
    let batch = spec.visit(Positions(load)).expect("a valid game");
    measure(channel, join.batches_in_flight_max as usize, &batch, load).await
}

/// A channel on which each call shows a name and its key.
type NamedChannel = InterceptedService<Channel, ClientAuth>;

async fn join(channel: NamedChannel, worker_id: String) -> JoinReply {
    let request = JoinRequest {
        protocol_version: proto::PROTOCOL_VERSION,
        domain_version: shared::DOMAIN_VERSION,
        worker_id,
        kind: WorkerKind::Actor.into(),
        program_version: env!("CARGO_PKG_VERSION").into(),
        thread_count: 1,
    };
    WorkersClient::new(channel).join(request).await.expect("the learner accepts").into_inner()
}

async fn measure(channel: NamedChannel, credits: usize, batch: &LeafBatch, load: LoadSettings) -> LoadReport {
    let credits = credits.clamp(1, 1024);
    let (outgoing, stream) = mpsc::channel(credits);
    let (move_count, leaf_count) = (batch.policy_indices.len() / 2, batch.move_counts.len());
    let total = load.warm_up_batches + load.batches;
    let mut sent = 0;
    for _ in 0..credits.min(total) {
        send(&outgoing, batch, &mut sent).await;
    }
    let mut inference = InferenceClient::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let opened = inference.evaluate_leaves(ReceiverStream::new(stream)).await;
    let mut answers = opened.expect("the learner opens the stream").into_inner();
    let (mut priors, mut values) = (vec![], vec![]);
    let (mut started, mut answer_bytes, mut unanswered) = (Instant::now(), 0, BTreeSet::from_iter(0..total as u64));
    let mut used_before = ProcessorTimes::default();
    for received in 0..total {
        if received == load.warm_up_batches {
            (started, used_before) = (Instant::now(), ProcessorTimes::of_others());
        }
        let answer = tokio::time::timeout(ANSWER_WAIT_MAX, answers.message()).await.expect("an answer in time");
        let answer = answer.expect("the stream goes on").expect("the learner keeps the stream open");
        answer_bytes = answer.encoded_len();
        shared::wire::read_evaluations(&answer, move_count, leaf_count, &mut priors, &mut values)
            .expect("a valid answer");
        assert!(unanswered.remove(&answer.batch_id), "batch {} is answered once", answer.batch_id);
        if sent < total {
            send(&outgoing, batch, &mut sent).await;
        }
    }
    LoadReport {
        leaf_count: (load.batches * leaf_count) as u64,
        time: started.elapsed(),
        processor_times: ProcessorTimes::of_others().since(&used_before),
        move_counts: batch.move_counts.clone(),
        priors,
        values,
        moves_per_leaf: move_count as f64 / leaf_count as f64,
        bytes_per_leaf: (batch.encoded_len() + answer_bytes) as f64 / leaf_count as f64,
    }
}

async fn send(outgoing: &mpsc::Sender<LeafBatch>, batch: &LeafBatch, sent: &mut usize) {
    let message = LeafBatch { batch_id: *sent as u64, ..batch.clone() };
    *sent += 1;
    outgoing.send(message).await.expect("the stream is open");
}

/// Makes one batch of positions of random games.
struct Positions(LoadSettings);

impl GameVisitor for Positions {
    type Output = LeafBatch;

    fn visit<E: Encoding>(self, encoding: E) -> Self::Output {
        let mut random = Pcg64Mcg::seed_from_u64(self.0.seed);
        let mut builder = LeafBatchBuilder::default();
        let (mut packed, mut policy_indices) = (vec![], vec![]);
        for _ in 0..self.0.batch_leaves.max(1) {
            let (position, moves) = random_position(encoding.game(), self.0.plies, &mut random);
            packed.clear();
            policy_indices.clear();
            encoding.pack(&position, &mut packed);
            encoding.policy_indices(&position, &moves, &mut policy_indices);
            builder.push(&packed, &policy_indices).expect("the leaf fits");
        }
        builder.finish(0, NetworkRef::Best)
    }
}

/// Plays at random for at most `plies` plies, and not to the end of the game.
fn random_position<G: Game>(game: &G, plies: u32, random: &mut Pcg64Mcg) -> (G::Position, Vec<G::Move>) {
    let mut position = game.initial_position();
    let mut moves = vec![];
    game.legal_moves(&position, &mut moves);
    for _ in 0..plies {
        let mut next = position.clone();
        game.play(&mut next, moves[random.random_range(0..moves.len())]);
        if game.outcome(&next).is_some() {
            break;
        }
        position = next;
        moves.clear();
        game.legal_moves(&position, &mut moves);
    }
    (position, moves)
}
