//! The queue alone: its bounds, its streams, and what is read ahead.

use std::time::Duration;

use tokio::sync::mpsc;

use super::*;

type Answers = mpsc::Receiver<proto::EvaluationBatch>;

fn queue(leaf_count_max: usize, queue_leaf_count_max: usize) -> LeafQueue {
    queue_read_by(0, leaf_count_max, queue_leaf_count_max)
}

fn queue_read_by(encode_thread_count: usize, leaf_count_max: usize, queue_leaf_count_max: usize) -> LeafQueue {
    let time_max = Duration::from_millis(50);
    LeafQueue::new(&BatchSettings {
        batch_count: 1,
        encode_thread_count,
        leaf_count_max,
        batch_leaf_count_max: leaf_count_max,
        time_max,
        padded_sizes: Vec::new(),
        queue_leaf_count_max,
    })
}

fn best() -> BestNetwork {
    BestNetwork::new(CurrentBest { network_id: NetworkId::FIRST, generation: Generation::default() })
}

fn job(batch_id: u64, leaf_count: usize) -> (Job, Answers) {
    let (answer, answers) = mpsc::channel(1);
    let answer = answer.try_reserve_owned().unwrap();
    let counts = vec![1; leaf_count];
    let batch =
        proto::LeafBatch { batch_id, position_lengths: counts.clone(), move_counts: counts, ..Default::default() };
    (Job { batch, answer }, answers)
}

/// Hands in a job as streams do: leaves for a network with a number are of a gate.
async fn push(queue: &LeafQueue, stream: &QueueStream, job: Job) -> Result<(), (QueueError, Job)> {
    let class = if job.batch.network_id == 0 { LeafClass::SelfPlay } else { LeafClass::Gate };
    queue.push(stream, class, job).await
}

fn take(queue: &LeafQueue) -> Vec<u64> {
    let mut jobs = Vec::new();
    queue.take(&best(), 8, &mut jobs);
    jobs.iter().map(|queued| queued.job.batch.batch_id).collect()
}

#[tokio::test]
async fn a_batch_above_the_limit_is_refused_in_words() {
    let queue = queue(8, 64);
    let stream = queue.open_own_stream();
    let (error, _) = push(&queue, &stream, job(1, 9).0).await.unwrap_err();
    assert_eq!(error.to_string(), "batch of 9 leaves: more than 8, the learner's inference.batch_leaves_max");
    let (error, _) = push(&queue, &stream, job(1, 0).0).await.unwrap_err();
    assert_eq!(error, QueueError::UnequalLengths { leaf_count: 0, length_count: 0 });
    assert_eq!(queue.waiting_leaves(), WaitingLeaves::default());
}

#[tokio::test]
async fn a_full_stream_waits_and_leaves_room_for_others() {
    let queue = queue(8, 64);
    let (crowded, other) = (queue.open_own_stream(), queue.open_own_stream());
    for batch_id in [1, 2] {
        push(&queue, &crowded, job(batch_id, 8).0).await.unwrap();
    }
    let (third, _answers) = job(3, 1);
    let waits = push(&queue, &crowded, third);
    tokio::pin!(waits);
    assert!(is_pending(waits.as_mut()).await, "a quarter of 64 leaves is one worker's");
    push(&queue, &other, job(4, 8).0).await.unwrap();
    assert_eq!(queue.waiting_leaves(), WaitingLeaves { gate: 0, self_play: 24 });
    assert_eq!(take(&queue), [1]);
    waits.await.unwrap();
    assert_eq!([take(&queue), take(&queue)], [vec![4], vec![2]]);
    assert_eq!(take(&queue), [3]);
}

#[tokio::test]
async fn all_streams_of_a_worker_fill_its_part_of_the_queue_alone() {
    let queue = queue(8, 64);
    let streams = [queue.open_stream_of("crowded").unwrap(), queue.open_stream_of("crowded").unwrap()];
    for (batch_id, stream) in (1..).zip(&streams) {
        push(&queue, stream, job(batch_id, 8).0).await.unwrap();
    }
    let third = queue.open_stream_of("crowded").unwrap();
    let waits = push(&queue, &third, job(3, 1).0);
    tokio::pin!(waits);
    assert!(is_pending(waits.as_mut()).await, "a quarter of 64 leaves is one worker's");
    push(&queue, &queue.open_stream_of("other").unwrap(), job(4, 8).0).await.unwrap();
    queue.close_stream(&streams[0]);
    waits.await.unwrap();
    assert_eq!(queue.waiting_leaves(), WaitingLeaves { gate: 0, self_play: 17 });
}

#[tokio::test]
async fn a_closed_stream_loses_what_waits_and_wakes_what_wants_in() {
    let queue = queue(8, 8);
    let (closing, other) = (queue.open_own_stream(), queue.open_own_stream());
    let (first, mut answers) = job(1, 8);
    push(&queue, &closing, first).await.unwrap();
    let (second, third) = (push(&queue, &closing, job(2, 8).0), push(&queue, &other, job(3, 8).0));
    tokio::pin!(second, third);
    assert!(is_pending(second.as_mut()).await && is_pending(third.as_mut()).await);
    queue.close_stream(&closing);
    assert_eq!(second.await.unwrap_err().0, QueueError::Closed);
    third.await.unwrap();
    assert_eq!(answers.recv().await, None, "dropped without an answer");
    assert_eq!(take(&queue), [3]);
    assert_eq!(push(&queue, &closing, job(4, 1).0).await.unwrap_err().0, QueueError::Closed);
}

#[tokio::test]
async fn a_closed_queue_takes_nothing_and_gives_nothing() {
    let queue = queue(8, 8);
    let stream = queue.open_own_stream();
    push(&queue, &stream, job(1, 8).0).await.unwrap();
    queue.close();
    assert_eq!(take(&queue), Vec::<u64>::new());
    assert_eq!(push(&queue, &stream, job(2, 1).0).await.unwrap_err().0, QueueError::Closed);
}

/// Reads the next batch as a thread that reads does. Returns its number.
fn read_one(queue: &LeafQueue) -> u64 {
    let (job, input) = queue.take_unread().unwrap();
    let batch_id = job.batch.job.job.batch.batch_id;
    queue.put_read(job, input);
    batch_id
}

/// Takes what is read and can be evaluated together.
fn take_read(queue: &LeafQueue) -> Vec<u64> {
    let mut jobs = Vec::new();
    queue.take_read(&best(), 8, &mut jobs);
    jobs.iter().map(|job| job.queued.job.batch.batch_id).collect()
}

#[tokio::test]
async fn leaves_are_read_ahead_for_two_evaluations_and_those_of_gates_however_many_others_are_read() {
    let queue = queue_read_by(1, 8, 64);
    let streams = [queue.open_own_stream(), queue.open_own_stream()];
    for (batch_id, stream) in (1..=4).zip(streams.iter().cycle()) {
        push(&queue, stream, job(batch_id, 6).0).await.unwrap();
    }
    assert_eq!([read_one(&queue), read_one(&queue), read_one(&queue)], [1, 2, 3], "16 leaves are enough");
    std::thread::scope(|scope| {
        let fourth = scope.spawn(|| read_one(&queue));
        assert_eq!(take_read(&queue), [1], "one batch of six fits into eight leaves");
        assert_eq!(fourth.join().unwrap(), 4);
    });
    let (mut of_gate, _answers) = job(5, 6);
    of_gate.batch.network_id = 1;
    push(&queue, &streams[0], of_gate).await.unwrap();
    assert_eq!(read_one(&queue), 5);
    assert_eq!([take_read(&queue), take_read(&queue)], [vec![5], vec![2]], "the gate's goes first");
}

#[tokio::test]
async fn a_closed_stream_loses_what_is_read_and_what_is_being_read() {
    let queue = queue_read_by(1, 8, 64);
    let (closing, other) = (queue.open_own_stream(), queue.open_own_stream());
    let mut answers = Vec::new();
    for batch_id in [1, 2] {
        let (job, answer) = job(batch_id, 8);
        push(&queue, &closing, job).await.unwrap();
        answers.push(answer);
    }
    assert_eq!(read_one(&queue), 1);
    let (being_read, input) = queue.take_unread().unwrap();
    queue.close_stream(&closing);
    queue.put_read(being_read, input);
    for mut answer in answers {
        assert_eq!(answer.recv().await, None, "dropped without an answer");
    }
    for batch_id in [3, 4] {
        push(&queue, &other, job(batch_id, 8).0).await.unwrap();
    }
    assert_eq!([read_one(&queue), read_one(&queue)], [3, 4], "their room is free again");
    assert_eq!(take_read(&queue), [3]);
    queue.close();
    assert!(queue.take_unread().is_none());
    assert_eq!(take_read(&queue), Vec::<u64>::new());
}

/// Returns whether the future does not come to an end by itself.
async fn is_pending<F: Future>(future: std::pin::Pin<&mut F>) -> bool {
    let mut future = future;
    tokio::select! {
        biased;
        _ = future.as_mut() => false,
        () = tokio::task::yield_now() => true,
    }
}
