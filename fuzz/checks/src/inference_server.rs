//! What an inference server says, in the order in which it says it, to a learner that has lent it batches.

use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use inference::best::{BestNetwork, CurrentBest};
use inference::{BatchSettings, InferenceBackend, InferenceHandle, Job, LeafStream, NetworkOutput, RemoteServer};
use prost::Message;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::encoding::{Encoding, NetworkInput};
use shared::game::Game;
use shared::game::tictactoe::TicTacToe;
use shared::ids::{Generation, NetworkId};
use shared::search::EvaluationError;
use shared::wire::read_evaluations;
use tokio::sync::mpsc;

/// Leaves of the batches that wait when the server connects.
const BATCHES: [usize; 3] = [1, 2, 1];
/// Legal moves that each leaf names.
const MOVE_COUNT: usize = 2;
/// The number that a worker gave its batch.
const BATCH_ID: u64 = 7;

/// Offers of an inference server, each behind its length.
pub fn inference_offers(bytes: &[u8]) {
    LEARNER.with(|learner| learner.connect(bytes));
}

thread_local! {
    static LEARNER: Learner = Learner::start();
}

/// A learner whose own device is busy for ever, so that all batches wait for the server.
struct Learner {
    inference: InferenceHandle,
    runtime: tokio::runtime::Runtime,
    _busy: (LeafStream, mpsc::Receiver<proto::EvaluationBatch>),
}

/// A device that is never done with its first evaluation, and says when it has begun.
struct BusyDevice(Arc<Barrier>);

impl InferenceBackend for BusyDevice {
    fn evaluate(&mut self, _: NetworkId, _: &NetworkInput, _: &mut NetworkOutput) -> Result<(), EvaluationError> {
        self.0.wait();
        loop {
            std::thread::park();
        }
    }
}

impl Learner {
    fn start() -> Self {
        let settings = BatchSettings {
            batch_count: 1,
            encode_thread_count: 0,
            leaf_count_max: 8,
            batch_leaf_count_max: 8,
            time_max: Duration::from_secs(1),
            padded_sizes: Vec::new(),
            queue_leaf_count_max: 64,
        };
        let best = CurrentBest { network_id: NetworkId::FIRST, generation: Generation::default() };
        let (best, begun) = (Arc::new(BestNetwork::new(best)), Arc::new(Barrier::new(2)));
        let is_begun = Arc::clone(&begun);
        let make_backend = move |_| Ok(BusyDevice(Arc::clone(&begun)));
        let started = InferenceHandle::start(&TicTacToeEncoding::new(TicTacToe), &settings, &best, make_backend);
        let (inference, _) = started.expect("a thread");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let stream = inference.open_stream();
        let answers = hand_in(&runtime, &stream, 1);
        is_begun.wait();
        Self { inference, runtime, _busy: (stream, answers) }
    }

    fn connect(&self, mut bytes: &[u8]) {
        let busy_with = self.inference.queue().waiting_leaves();
        let stream = self.inference.open_stream();
        let mut answers = BATCHES.map(|leaf_count| (leaf_count, hand_in(&self.runtime, &stream, leaf_count)));
        let mut server = self.inference.open_remote();
        let mut lent_leaf_count = 0;
        while let Ok(offer) = proto::InferenceOffer::decode_length_delimited(&mut bytes) {
            if server.note(&offer).is_err() {
                break;
            }
            lent_leaf_count += lend(&mut server);
            let answered_leaf_count = server.answered_count() + server.returned_count();
            assert!(answered_leaf_count <= lent_leaf_count, "{answered_leaf_count} of {lent_leaf_count} answered");
        }
        let answered_leaf_count: usize =
            answers.iter_mut().map(|(leaf_count, answers)| check(*leaf_count, answers)).sum();
        assert_eq!(server.answered_count(), answered_leaf_count as u64, "leaves whose workers have an answer");
        drop((server, stream));
        assert_eq!(self.inference.queue().waiting_leaves(), busy_with, "nothing of the server is left");
        assert_eq!(self.inference.counters().counts().remote_leaf_count_max, 0, "a server that is gone takes nothing");
    }
}

fn hand_in(
    runtime: &tokio::runtime::Runtime,
    stream: &LeafStream,
    leaf_count: usize,
) -> mpsc::Receiver<proto::EvaluationBatch> {
    let (encoding, mut packed) = (TicTacToeEncoding::new(TicTacToe), Vec::new());
    let position = encoding.game().initial_position();
    (0..leaf_count).for_each(|_| encoding.pack(&position, &mut packed));
    let batch = proto::LeafBatch {
        batch_id: BATCH_ID,
        network_id: 0,
        position_lengths: vec![(packed.len() / leaf_count) as u32; leaf_count],
        positions: packed.into(),
        policy_indices: vec![0; 2 * MOVE_COUNT * leaf_count].into(),
        move_counts: vec![MOVE_COUNT as u32; leaf_count],
    };
    let (answer, answers) = mpsc::channel(1);
    let answer = answer.try_reserve_owned().expect("the channel is empty");
    assert!(runtime.block_on(stream.sender().submit(Job { batch, answer })), "the queue is open");
    answers
}

fn lend(server: &mut RemoteServer) -> u64 {
    let lent = server.lend(Instant::now()).map_or_else(Vec::new, |lent| lent.batches);
    lent.iter().map(|batch| batch.move_counts.len() as u64).sum()
}

/// Checks what a worker got, and returns how many of its leaves were answered.
fn check(leaf_count: usize, answers: &mut mpsc::Receiver<proto::EvaluationBatch>) -> usize {
    let Ok(answer) = answers.try_recv() else { return 0 };
    assert_eq!((answer.batch_id, answer.error.as_str()), (BATCH_ID, ""), "its own batch, answered");
    let (mut priors, mut values) = (Vec::new(), Vec::new());
    read_evaluations(&answer, MOVE_COUNT * leaf_count, leaf_count, &mut priors, &mut values).expect("a usable answer");
    leaf_count
}
