//! The inference threads with backends that wait for the test.

use std::sync::Barrier;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use shared::encoding::NetworkInput;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Game;
use shared::game::tictactoe::{Position, TicTacToe};
use shared::ids::{Generation, NetworkId, NetworkRef};
use shared::search::EvaluationError;
use tokio::sync::mpsc;

use super::best::CurrentBest;
use super::*;

pub(super) type Answers = mpsc::Receiver<proto::EvaluationBatch>;

/// Threads that read: none of their own, one, several.
const ENCODE_THREAD_COUNTS: [usize; 3] = [0, 1, 3];

/// Uniform priors and a value that names the first move, once the wait returns.
struct Waits<F>(F);

fn value_of(first_index: u16) -> f32 {
    f32::from(first_index) / 16.0
}

impl<F: FnMut()> InferenceBackend for Waits<F> {
    fn evaluate(
        &mut self,
        _: NetworkId,
        input: &NetworkInput,
        output: &mut NetworkOutput,
    ) -> Result<(), EvaluationError> {
        (self.0)();
        output.clear();
        output.priors.resize(input.policy_indices.len(), 0.5);
        output.values.extend((0..input.len()).map(|leaf| value_of(input.policy_indices[input.move_range(leaf).start])));
        Ok(())
    }
}

pub(super) fn start<F: FnMut()>(
    (batch_count, encode_thread_count): (usize, usize),
    make_wait: impl Fn() -> F + Clone + Send + 'static,
) -> (InferenceHandle, Vec<JoinHandle<()>>) {
    let settings = BatchSettings {
        batch_count,
        encode_thread_count,
        leaf_count_max: 8,
        batch_leaf_count_max: 8,
        time_max: Duration::from_secs(1),
        padded_sizes: Vec::new(),
        queue_leaf_count_max: 64,
    };
    let best = CurrentBest { network_id: NetworkId::FIRST, generation: Generation::default() };
    let make_backend = move |_| Ok(Waits(make_wait()));
    let encoding = TicTacToeEncoding::new(TicTacToe);
    InferenceHandle::start(&encoding, &settings, &Arc::new(BestNetwork::new(best)), make_backend).expect("it starts")
}

/// Hands in one leaf for a network.
async fn ask(stream: &LeafStream, network_id: u32) -> Answers {
    hand_in(stream, proto::LeafBatch { network_id, ..batch(&[0]) }).await
}

/// Hands in one leaf of this position.
async fn ask_about(stream: &LeafStream, network_id: u32, position: &Position) -> Answers {
    let mut packed = Vec::new();
    TicTacToeEncoding::new(TicTacToe).pack(position, &mut packed);
    let position_lengths = vec![packed.len() as u32];
    let batch = proto::LeafBatch { network_id, position_lengths, positions: packed.into(), ..batch(&[0]) };
    hand_in(stream, batch).await
}

/// Makes a batch of a leaf for each of `first_indices`, with two moves.
pub(super) fn batch(first_indices: &[u8]) -> proto::LeafBatch {
    let (encoding, mut packed) = (TicTacToeEncoding::new(TicTacToe), Vec::new());
    for _ in first_indices {
        encoding.pack(&encoding.game().initial_position(), &mut packed);
    }
    proto::LeafBatch {
        batch_id: 7,
        network_id: 0,
        position_lengths: vec![(packed.len() / first_indices.len()) as u32; first_indices.len()],
        positions: packed.into(),
        policy_indices: first_indices.iter().flat_map(|index| [*index, 0, 8, 0]).collect::<Vec<_>>().into(),
        move_counts: vec![2; first_indices.len()],
    }
}

pub(super) async fn hand_in(stream: &LeafStream, batch: proto::LeafBatch) -> Answers {
    let (answer, answers) = mpsc::channel(1);
    let answer = answer.try_reserve_owned().expect("the channel is empty");
    assert!(stream.sender().submit(Job { batch, answer }).await);
    answers
}

pub(super) async fn answered(mut answers: Answers) -> proto::EvaluationBatch {
    let answer = answers.recv().await.expect("an answer");
    assert_eq!((answer.batch_id, answer.error.as_str()), (7, ""));
    answer
}

pub(super) fn end(threads: Vec<JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("it ends when nobody asks any more"));
}

#[tokio::test]
async fn as_many_batches_are_evaluated_at_once_as_wanted() {
    for encode_thread_count in ENCODE_THREAD_COUNTS {
        check_two_at_once(encode_thread_count).await;
    }
}

async fn check_two_at_once(encode_thread_count: usize) {
    let both = Arc::new(Barrier::new(2));
    let make_wait = move || {
        let both = Arc::clone(&both);
        move || {
            both.wait();
        }
    };
    let (handle, threads) = start((2, encode_thread_count), make_wait);
    let stream = handle.open_stream();
    let (best, candidate) = (ask(&stream, 0).await, ask(&stream, 2).await);
    assert_eq!(answered(best).await.network_id, 1);
    assert_eq!(answered(candidate).await.network_id, 2);
    drop((handle, stream));
    end(threads);
}

#[tokio::test]
async fn what_a_closed_stream_left_is_not_evaluated() {
    for encode_thread_count in ENCODE_THREAD_COUNTS {
        check_closed_stream(encode_thread_count).await;
    }
}

async fn check_closed_stream(encode_thread_count: usize) {
    let (begin, begun) = sync_channel::<()>(0);
    let (release, released) = sync_channel::<()>(8);
    let released: Arc<std::sync::Mutex<Receiver<()>>> = Arc::new(std::sync::Mutex::new(released));
    let make_wait = move || {
        let (begin, released) = (begin.clone(), Arc::clone(&released));
        move || {
            let _ = begin.send(());
            let _ = released.lock().expect("nobody panics").recv();
        }
    };
    let (handle, threads) = start((1, encode_thread_count), make_wait);
    let (kept, closed) = (handle.open_stream(), handle.open_stream());
    let first = ask(&kept, 0).await;
    begun.recv().expect("the first is evaluated");
    let mut dropped = ask(&closed, 0).await;
    drop(closed);
    assert_eq!(dropped.recv().await, None);
    let second = ask(&kept, 0).await;
    (0..2).for_each(|_| release.send(()).expect("the thread waits"));
    answered(first).await;
    begun.recv().expect("the second is evaluated");
    answered(second).await;
    assert_eq!(handle.counters().counts().evaluation_count, 2);
    drop((handle, kept));
    end(threads);
}

#[tokio::test]
async fn a_batch_that_cannot_be_read_fails_alone() {
    for encode_thread_count in ENCODE_THREAD_COUNTS {
        let (handle, threads) = start((1, encode_thread_count), || || {});
        let stream = handle.open_stream();
        let mut bad = batch(&[0, 1]);
        bad.policy_indices = vec![0, 0, 8, 0, 200, 0, 8, 0].into();
        let (first, refused, last) =
            (hand_in(&stream, batch(&[1, 2])).await, hand_in(&stream, bad).await, hand_in(&stream, batch(&[3])).await);
        assert_eq!(values(&answered(first).await), [value_of(1), value_of(2)]);
        let refused = { refused }.recv().await.expect("an answer");
        assert!(refused.error.contains("policy index 200"), "{refused:?}");
        assert!(refused.priors.is_empty() && refused.values.is_empty());
        assert_eq!(values(&answered(last).await), [value_of(3)]);
        let counts = handle.counters().counts();
        assert_eq!((counts.evaluation_count, counts.refused_batch_count), (3, 1));
        let queue = handle.queue();
        drop((handle, stream));
        end(threads);
        assert_eq!(queue.waiting_leaves(), WaitingLeaves::default(), "what was refused gave its room back");
    }
}

#[tokio::test]
async fn every_leaf_of_many_streams_gets_its_own_answer() {
    for encode_thread_count in ENCODE_THREAD_COUNTS {
        let (handle, threads) = start((2, encode_thread_count), || || {});
        let streams: Vec<LeafStream> = (0..5).map(|_| handle.open_stream()).collect();
        let mut waiting = Vec::new();
        for round in 0..40_usize {
            for (number, stream) in streams.iter().enumerate() {
                let leaves: Vec<u8> =
                    (0..1 + (round + number) % 4).map(|leaf| ((round * 3 + number + leaf) % 8) as u8).collect();
                waiting.push((hand_in(stream, batch(&leaves)).await, leaves));
            }
        }
        for (answers, leaves) in waiting {
            let expected: Vec<f32> = leaves.iter().map(|index| value_of(u16::from(*index))).collect();
            assert_eq!(values(&answered(answers).await), expected);
        }
        drop((handle, streams));
        end(threads);
    }
}

/// Returns the values of an answer to leaves with two moves each.
fn values(answer: &proto::EvaluationBatch) -> Vec<f32> {
    let (mut priors, mut values, leaf_count) = (Vec::new(), Vec::new(), answer.values.len() / 4);
    shared::wire::read_evaluations(answer, 2 * leaf_count, leaf_count, &mut priors, &mut values).expect("an answer");
    values
}

/// Returns the positions after so many plies, some of them more than once.
fn positions_after(ply_count: u32) -> Vec<Position> {
    let mut positions = vec![TicTacToe.initial_position()];
    for _ in 0..ply_count {
        let played = |position: &Position| {
            let mut moves = Vec::new();
            TicTacToe.legal_moves(position, &mut moves);
            let position = *position;
            moves.into_iter().map(move |mv| {
                let mut next = position;
                TicTacToe.play(&mut next, mv);
                next
            })
        };
        positions = positions.iter().flat_map(played).collect();
    }
    positions
}

#[tokio::test]
async fn a_network_that_answers_alike_is_found_from_a_sample_of_its_batches() {
    // Its priors are equal and its value is 0.
    let (handle, threads) = start((1, 0), || || ());
    let stream = handle.open_stream();
    assert_eq!(handle.counters().answers.faults(), []);
    // An odd number of them: every eighth is a different one each time round.
    let positions = [positions_after(4), positions_after(0)].concat();
    for position in positions.iter().cycle().take(12_000) {
        answered(ask_about(&stream, 2, position).await).await;
    }
    let network_id = NetworkId::FIRST.next();
    let fault = AnswerFault { network_id, has_uniform_policy: true, has_constant_value: true };
    assert_eq!(handle.counters().answers.faults(), [fault]);
    drop((handle, stream));
    threads.into_iter().for_each(|thread| thread.join().expect("it ends when nobody asks any more"));
}

#[tokio::test]
async fn questions_of_the_own_process_are_answered_in_their_order_or_refused_in_words() {
    let (handle, threads) = start((1, 0), || || ());
    let evaluator = LocalEvaluator::new(&handle);
    let mut packed = Vec::new();
    TicTacToeEncoding::new(TicTacToe).pack(&TicTacToe.initial_position(), &mut packed);
    let about = |network, first_indices: &[u16]| {
        let mut batch = LocalBatch::new(network);
        first_indices.iter().for_each(|index| batch.push(&packed, &[*index, 8]).expect("small enough"));
        batch
    };
    let candidate = NetworkRef::Id(NetworkId::FIRST.next());
    let batches = vec![about(NetworkRef::Best, &[3, 1]), about(candidate, &[2])];
    let answers = evaluator.evaluate(batches).await.expect("answered");
    let network_ids: Vec<u32> = answers.iter().map(|answer| answer.network_id.get()).collect();
    assert_eq!(network_ids, [1, 2]);
    let values: Vec<f32> =
        answers.iter().flat_map(|answer| answer.leaves().leaves([2, 2]).map(|(_, value)| value.get())).collect();
    assert_eq!(values, [3, 1, 2].map(value_of));
    assert!(evaluator.evaluate(Vec::new()).await.expect("nothing to do").is_empty());
    let refused = evaluator.evaluate(vec![about(NetworkRef::Best, &[200])]).await.expect_err("no such policy index");
    assert!(matches!(&refused, EvaluationError::Refused(reason) if reason.contains("policy index 200")), "{refused}");
    drop((handle, evaluator));
    end(threads);
}
