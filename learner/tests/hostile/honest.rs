//! A worker that does its work while others attack, and notes how long each answer took.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::{Peer, empty_boards};

/// Leaves of each of its batches.
const BATCH_LEAVES: usize = 8;
/// Longest wait for one answer, whatever others do. Without bounds these were 13 to 60 seconds.
pub const ANSWER_WAIT_MAX: Duration = Duration::from_secs(8);
/// Least part of the rate that is left. It is to be 0.8 where nothing else is at work; other tests on the same machine
/// cost some more. Without turns and bounds a fortieth was left.
const RATE_SHARE_MIN: f64 = 0.3;
/// How long the rate without an attack is measured.
pub const BASELINE: Duration = Duration::from_secs(2);

/// How fast a worker was answered.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub per_second: f64,
    pub longest_wait: Duration,
}

/// An honest worker at work.
pub struct Honest {
    baseline: Rate,
    stop: CancellationToken,
    working: JoinHandle<Rate>,
}

impl Honest {
    /// Measures how fast the worker is answered while nobody attacks, and lets it go on.
    pub async fn start(peer: Peer) -> Self {
        peer.join().await;
        let (sender, receiver) = mpsc::channel(1);
        let answers = peer.inference().evaluate_leaves(ReceiverStream::new(receiver)).await;
        let mut stream = Stream { sender, answers: answers.expect("a stream").into_inner(), _peer: peer };
        // The network is loaded with the first batch.
        stream.answer().await;
        let soon = CancellationToken::new();
        let timer = soon.clone();
        tokio::spawn(async move {
            tokio::time::sleep(BASELINE).await;
            timer.cancel();
        });
        let baseline = stream.work(&soon).await;
        let stop = CancellationToken::new();
        let until = stop.clone();
        let working = tokio::spawn(async move { stream.work(&until).await });
        Self { baseline, stop, working }
    }

    /// Ends the work of a worker that was not attacked.
    pub async fn stop(self) {
        self.stop.cancel();
        self.working.await.expect("it is answered to the end");
    }

    /// Ends the work, and checks that the attack left the worker enough of it.
    pub async fn assert_kept(self, attack: &str) {
        self.stop.cancel();
        let during = self.working.await.expect("the honest worker is answered to the end");
        let share = during.per_second / self.baseline.per_second;
        println!(
            "{attack}: {:.0} answers a second without, {:.0} during ({:.0} %), longest wait {:.0?}",
            self.baseline.per_second,
            during.per_second,
            share * 100.0,
            during.longest_wait
        );
        assert!(during.longest_wait <= ANSWER_WAIT_MAX, "{attack}: an answer took {:?}", during.longest_wait);
        assert!(share >= RATE_SHARE_MIN, "{attack}: {:.1} % of the rate is left", share * 100.0);
    }
}

/// Its stream of leaves.
struct Stream {
    sender: mpsc::Sender<proto::LeafBatch>,
    answers: tonic::Streaming<proto::EvaluationBatch>,
    _peer: Peer,
}

impl Stream {
    /// Has one batch answered.
    async fn answer(&mut self) {
        self.sender.send(empty_boards(1, BATCH_LEAVES, 0)).await.expect("the stream is open");
        let answer = self.answers.message().await.expect("the stream goes on").expect("an answer");
        assert_eq!((answer.error.as_str(), answer.values.len()), ("", 4 * BATCH_LEAVES));
    }

    async fn work(&mut self, stop: &CancellationToken) -> Rate {
        let (start, mut count, mut longest_wait) = (Instant::now(), 0_u32, Duration::ZERO);
        while !stop.is_cancelled() {
            let asked_at = Instant::now();
            self.answer().await;
            longest_wait = longest_wait.max(asked_at.elapsed());
            count += 1;
        }
        Rate { per_second: f64::from(count) / start.elapsed().as_secs_f64(), longest_wait }
    }
}
