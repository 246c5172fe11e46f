//! The inference threads with backends that wait for the test.

use std::sync::Barrier;
use std::sync::mpsc::{Receiver, sync_channel};

use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Game;
use shared::game::tictactoe::TicTacToe;
use shared::ids::Generation;

use super::*;
use crate::best::CurrentBest;

type Answers = mpsc::Receiver<proto::EvaluationBatch>;

/// Uniform priors and value 0, once `wait` returns.
struct Waits<F>(F);

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
        output.values.resize(input.len(), 0.0);
        Ok(())
    }
}

fn start<F: FnMut()>(
    batch_count: usize,
    make_wait: impl Fn() -> F + Clone + Send + 'static,
) -> (InferenceHandle, Vec<JoinHandle<()>>) {
    let settings = BatchSettings {
        batch_count,
        leaf_count_max: 8,
        time_max: Duration::from_secs(1),
        padded_sizes: Vec::new(),
        queue_leaf_count_max: 64,
    };
    let best = CurrentBest { network_id: NetworkId::FIRST, generation: Generation::default() };
    let make_backend = move || Ok(Waits(make_wait()));
    let encoding = TicTacToeEncoding::new(TicTacToe);
    InferenceHandle::start(&encoding, &settings, &Arc::new(BestNetwork::new(best)), make_backend).expect("it starts")
}

/// Hands in one leaf for a network.
async fn ask(stream: &LeafStream, network_id: u32) -> Answers {
    let (encoding, mut packed) = (TicTacToeEncoding::new(TicTacToe), Vec::new());
    encoding.pack(&encoding.game().initial_position(), &mut packed);
    let batch = proto::LeafBatch {
        batch_id: 7,
        network_id,
        position_lengths: vec![packed.len() as u32],
        positions: packed.into(),
        policy_indices: vec![0, 0, 4, 0].into(),
        move_counts: vec![2],
    };
    let (answer, answers) = mpsc::channel(1);
    let answer = answer.try_reserve_owned().expect("the channel is empty");
    assert!(stream.sender().submit(Job { batch, answer }).await);
    answers
}

async fn answered(mut answers: Answers) -> proto::EvaluationBatch {
    let answer = answers.recv().await.expect("an answer");
    assert_eq!((answer.batch_id, answer.error.as_str()), (7, ""));
    answer
}

#[tokio::test]
async fn as_many_batches_are_evaluated_at_once_as_wanted() {
    let both = Arc::new(Barrier::new(2));
    let make_wait = move || {
        let both = Arc::clone(&both);
        move || {
            both.wait();
        }
    };
    let (handle, threads) = start(2, make_wait);
    let stream = handle.open_stream();
    let (best, candidate) = (ask(&stream, 0).await, ask(&stream, 2).await);
    assert_eq!(answered(best).await.network_id, 1);
    assert_eq!(answered(candidate).await.network_id, 2);
    drop((handle, stream));
    threads.into_iter().for_each(|thread| thread.join().expect("it ends when nobody asks any more"));
}

#[tokio::test]
async fn what_a_closed_stream_left_is_not_evaluated() {
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
    let (handle, threads) = start(1, make_wait);
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
    threads.into_iter().for_each(|thread| thread.join().expect("it ends when nobody asks any more"));
}
