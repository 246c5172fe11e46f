//! A load generator: sends leaves as fast as the learner takes them, and counts.

use std::time::{Duration, Instant};

use prost::Message;
use proto::{LeafBatch, WorkerKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::encoding::Encoding;
use shared::game::Game;
use shared::game::catalog::GameVisitor;
use shared::wire::{LeafBatchBuilder, WireError, game_spec_from_proto};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::backoff::Backoff;
use crate::learner_connection::{LearnerConnection, LearnerSessionError, WorkerError, WorkerIdentity, causes, join};
use crate::worker_settings::WorkerSettings;

/// What is sent.
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

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadReport {
    /// Leaves counted.
    pub leaf_count: u64,
    /// Time from the first counted answer's predecessor to the last answer.
    pub time: Duration,
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
}

/// Why a load cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The learner cannot be joined.
    #[error(transparent)]
    Join(#[from] WorkerError),
    /// The stream broke.
    #[error("evaluation stream: {0}")]
    Stream(String),
    /// The leaves cannot be sent, or the answers are none.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// Joins the learner and sends it batches of positions of random games, as many at once as it allows.
///
/// # Errors
/// [`LoadError`] if the learner refuses, leaves the stream, or gives answers that are none.
pub async fn run(settings: &WorkerSettings, load: LoadSettings) -> Result<LoadReport, LoadError> {
    let mut backoff = Backoff::new(settings.reconnect_wait_max);
    let connection = join(settings, &WorkerIdentity::new(WorkerKind::Actor), &mut backoff).await?;
    let spec = game_spec_from_proto(connection.join.game.as_ref().ok_or(WireError::Missing("game"))?)?;
    let batch = spec.visit(Positions(load)).map_err(WireError::from)??;
    measure(&connection, &batch, load, settings.evaluation_timeout).await
}

async fn measure(
    connection: &LearnerConnection,
    batch: &LeafBatch,
    load: LoadSettings,
    deadline: Duration,
) -> Result<LoadReport, LoadError> {
    let credits = (connection.join.batches_in_flight_max as usize).clamp(1, 1024);
    let (outgoing, stream) = mpsc::channel(credits);
    let (move_count, leaf_count) = (batch.policy_indices.len() / 2, batch.move_counts.len());
    let total = load.warm_up_batches + load.batches;
    let mut sent = 0;
    for _ in 0..credits.min(total) {
        send(&outgoing, batch, &mut sent).await?;
    }
    let opened = connection.inference.clone().evaluate_leaves(ReceiverStream::new(stream)).await;
    let mut answers = opened.map_err(|status| LoadError::Stream(status.message().into()))?.into_inner();
    let (mut priors, mut values) = (vec![], vec![]);
    let (mut started, mut answer_bytes) = (Instant::now(), 0);
    for received in 0..total {
        if received == load.warm_up_batches {
            started = Instant::now();
        }
        let answer = tokio::time::timeout(deadline, answers.message()).await;
        let answer = answer.map_err(|_| LoadError::Stream("no answer in time".into()))?;
        let answer = answer.map_err(|status| LoadError::Stream(status.message().into()))?;
        let answer = answer.ok_or_else(|| LoadError::Stream(causes(&LearnerSessionError::StreamClosed)))?;
        answer_bytes = answer.encoded_len();
        shared::wire::read_evaluations(&answer, move_count, leaf_count, &mut priors, &mut values)?;
        if sent < total {
            send(&outgoing, batch, &mut sent).await?;
        }
    }
    Ok(LoadReport {
        leaf_count: (load.batches * leaf_count) as u64,
        time: started.elapsed(),
        moves_per_leaf: move_count as f64 / leaf_count as f64,
        bytes_per_leaf: (batch.encoded_len() + answer_bytes) as f64 / leaf_count as f64,
    })
}

async fn send(outgoing: &mpsc::Sender<LeafBatch>, batch: &LeafBatch, sent: &mut usize) -> Result<(), LoadError> {
    let message = LeafBatch { batch_id: *sent as u64, ..batch.clone() };
    *sent += 1;
    outgoing.send(message).await.map_err(|_| LoadError::Stream("closed".into()))
}

/// Makes one batch of positions of random games.
struct Positions(LoadSettings);

impl GameVisitor for Positions {
    type Output = Result<LeafBatch, WireError>;

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
            builder.push(&packed, &policy_indices)?;
        }
        Ok(builder.finish(0, 0))
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
