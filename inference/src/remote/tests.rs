//! Inference servers that the test plays, beside a device that waits for it.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use shared::ids::Generation;

use super::*;
use crate::WaitingLeaves;
use crate::tests::{answered, batch, end, hand_in, start};

/// Starts a device that evaluates nothing before it gets a word, or nobody can give one any more. It says when it has
/// begun.
fn start_waiting(encode_thread_count: usize) -> (InferenceHandle, Vec<JoinHandle<()>>, Sender<()>, Arc<Begun>) {
    let (go, wait) = channel();
    let (wait, begun) = (Arc::new(Mutex::new(wait)), Arc::<Begun>::default());
    let noted = Arc::clone(&begun);
    let make_wait = move || {
        let (wait, noted) = (Arc::clone(&wait), Arc::clone(&noted));
        move || {
            noted.0.store(true, Ordering::Relaxed);
            let _ = wait.lock().expect("no test panics with it").recv();
        }
    };
    let (handle, threads) = start((1, encode_thread_count), make_wait);
    (handle, threads, go, begun)
}

/// Whether the device has begun.
#[derive(Debug, Default)]
struct Begun(AtomicBool);

impl Begun {
    async fn wait(&self) {
        while !self.0.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
    }
}

fn offer(leaves_in_flight_max: u32) -> proto::InferenceOffer {
    proto::InferenceOffer { leaves_in_flight_max, ..Default::default() }
}

/// The answer to a lent batch of one leaf with two moves.
fn answer_with(batch: &proto::LeafBatch, value: f32) -> proto::InferenceOffer {
    let header = EvaluationHeader {
        batch_id: batch.batch_id,
        network_id: NetworkId::FIRST,
        generation: Generation::default(),
        uniform_prior_count: 0,
    };
    let answer = Some(write_evaluations(header, &[0.25, 0.75], &[value]));
    proto::InferenceOffer { answer, active_cell_count: 9, ..offer(4) }
}

#[tokio::test]
async fn a_server_answers_what_it_is_lent_and_what_it_does_not_answer_is_evaluated_here() {
    let (handle, threads, go, begun) = start_waiting(0);
    let stream = handle.open_stream();
    let first = hand_in(&stream, batch(&[0])).await;
    begun.wait().await;
    let [answered_there, given_back, unusable] =
        [hand_in(&stream, batch(&[1])).await, hand_in(&stream, batch(&[2])).await, hand_in(&stream, batch(&[3])).await];
    let mut server = handle.open_remote();
    assert!(server.lend(Instant::now()).is_none() && !server.has_room(), "it has asked for nothing");
    server.note(&offer(3)).unwrap();
    let lent = server.lend(Instant::now()).expect("three wait").batches;
    assert_eq!(lent.iter().map(|batch| batch.network_id).collect::<Vec<_>>(), [1, 1, 1], "named by number");
    assert!(!server.has_room() && server.owes_since().is_some());

    server.note(&answer_with(&lent[0], -0.5)).unwrap();
    let answer = answered(answered_there).await;
    assert_eq!(answer.values, (-0.5_f32).to_le_bytes().as_slice());
    let counts = handle.counters().counts();
    let seen = (counts.evaluation_count, counts.remote_evaluation_count, counts.active_cell_count);
    assert_eq!((seen, counts.remote_leaf_count_max), ((1, 1, 9), 4));

    let error = proto::EvaluationBatch { batch_id: lent[1].batch_id, error: "not here".into(), ..Default::default() };
    server.note(&proto::InferenceOffer { answer: Some(error), ..offer(0) }).unwrap();
    assert!(!server.has_room() && server.lend(Instant::now()).is_none(), "it wants nothing for now");
    assert_eq!(server.returned_count(), 1);
    server.note(&offer(4)).unwrap();
    assert!(server.lend(Instant::now()).is_none(), "what came back is evaluated here");
    let twice = server.note(&answer_with(&lent[0], 0.0)).unwrap_err();
    assert_eq!(twice, RemoteError::UnknownBatch(lent[0].batch_id));
    let wrong = server.note(&answer_with(&lent[2], f32::NAN)).unwrap_err();
    assert!(matches!(wrong, RemoteError::Unusable { .. }), "{wrong}");
    drop(server);
    assert_eq!(handle.counters().counts().remote_leaf_count_max, 0);

    drop(go);
    for answers in [first, given_back, unusable] {
        answered(answers).await;
    }
    let queue = handle.queue();
    drop((handle, stream));
    // A job gives its room back a moment after its answer.
    end(threads);
    assert_eq!(queue.waiting_leaves(), WaitingLeaves::default(), "all room is free again");
}

#[tokio::test]
async fn a_server_is_lent_what_its_answers_earn_and_what_it_says_is_bounded() {
    let (handle, threads, go, begun) = start_waiting(0);
    let stream = handle.open_stream();
    let first = hand_in(&stream, batch(&[0])).await;
    begun.wait().await;
    let mut server = handle.open_remote();
    server.note(&offer(u32::MAX)).unwrap();
    assert_eq!(server.leaf_count_max, LEAVES_FIRST);
    let asked = hand_in(&stream, batch(&[1])).await;
    let lent = server.lend(Instant::now()).expect("one waits").batches;
    let lie = proto::InferenceOffer { active_cell_count: u64::MAX, ..answer_with(&lent[0], 0.0) };
    server.note(&proto::InferenceOffer { leaves_in_flight_max: u32::MAX, ..lie }).unwrap();
    answered(asked).await;
    assert_eq!((server.leaf_count_max, handle.counters().counts().active_cell_count), (LEAVES_FIRST + 1, 1024));
    let asked = hand_in(&stream, batch(&[1])).await;
    let long_ago = Instant::now().checked_sub(2 * ANSWER_TIME_GOOD).expect("the clock is older than a second");
    let lent = server.lend(long_ago).expect("one waits").batches;
    server.note(&answer_with(&lent[0], 0.0)).unwrap();
    answered(asked).await;
    assert_eq!(server.earned_leaf_count, LEAVES_FIRST, "games waited");

    let asked = hand_in(&stream, batch(&[1])).await;
    server.note(&offer(4)).unwrap();
    let lent = server.lend(Instant::now()).expect("one waits").batches;
    let mut other = answer_with(&lent[0], 0.0);
    other.answer.as_mut().unwrap().network_id = 9;
    assert!(matches!(server.note(&other).unwrap_err(), RemoteError::OtherNetwork { .. }));
    let mut unreadable = batch(&[1]);
    unreadable.move_counts = vec![7];
    let mut refused = hand_in(&stream, unreadable).await;
    assert!(server.lend(Instant::now()).is_none(), "it is refused here");
    assert!(!refused.recv().await.expect("an answer").error.is_empty());
    drop((server, go));
    answered(first).await;
    answered(asked).await;
    drop((handle, stream));
    end(threads);
}

#[tokio::test]
async fn what_a_server_owes_when_it_goes_is_answered_once() {
    for encode_thread_count in [0, 1, 3] {
        let (handle, threads, go, _) = start_waiting(encode_thread_count);
        // Each has its own part of the queue.
        let streams: Vec<_> = (0..8).map(|_| handle.open_stream()).collect();
        let mut waiting = Vec::new();
        for stream in &streams {
            waiting.push(hand_in(stream, batch(&[0; 8])).await);
        }
        let mut server = handle.open_remote();
        server.note(&offer(16)).unwrap();
        while server.lend(Instant::now()).is_none() {
            server.until_leaves().await;
        }
        drop(server);
        drop(go);
        for answers in waiting {
            answered(answers).await;
        }
        assert_eq!(handle.counters().counts().evaluation_count, 64, "{encode_thread_count} threads read");
        drop((handle, streams));
        end(threads);
    }
}

#[tokio::test]
async fn what_a_closed_stream_lent_is_dropped_when_it_comes_back() {
    let (handle, threads, go, begun) = start_waiting(0);
    let (stream, leaving) = (handle.open_stream(), handle.open_stream());
    let first = hand_in(&stream, batch(&[0])).await;
    begun.wait().await;
    let mut lost = hand_in(&leaving, batch(&[1])).await;
    let mut server = handle.open_remote();
    server.note(&offer(8)).unwrap();
    assert_eq!(server.lend(Instant::now()).map(|lent| lent.batches.len()), Some(1));
    drop(leaving);
    drop(server);
    drop(go);
    answered(first).await;
    assert!(lost.recv().await.is_none(), "nobody waits for it");
    assert_eq!(handle.counters().counts().evaluation_count, 1);
    drop((handle, stream));
    end(threads);
}
