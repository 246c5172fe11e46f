//! What an inference server says: its answers, and how many leaves it takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use inference::{InferenceCounters, InferenceCounts};
use runtime::summed_log::SummedLog;
use tokio::sync::mpsc;
use tracing::{info, warn};

/// Leaves that are taken at once before anything was evaluated.
const LEAVES_FIRST: u32 = 64;
/// Evaluations' worth of leaves that are taken at once: one is computed, the next is on its way.
const EVALUATIONS_AHEAD: u64 = 2;
/// Batches in a row that cannot be evaluated, after which there is a pause: a single one may be the fault of who sent it.
const FAILED_BATCHES_MAX: u32 = 8;
/// Time between two lines of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// How many leaves are taken at once.
#[derive(Debug, Clone)]
pub(super) struct LeafCredit {
    pub(super) counters: Arc<InferenceCounters>,
    /// Batches evaluated at once.
    pub(super) batch_count: u32,
    /// Pause after batches that could not be evaluated.
    pub(super) pause_after_error: Duration,
    /// Whether a network is on its way: until it is here, no leaves are taken.
    pub(super) is_fetching: Arc<AtomicBool>,
}

impl LeafCredit {
    /// Returns an offer without an answer.
    pub(super) fn offer(&self) -> proto::InferenceOffer {
        proto::InferenceOffer { leaves_in_flight_max: self.leaves_in_flight_max(), ..Default::default() }
    }

    fn leaves_in_flight_max(&self) -> u32 {
        if self.is_fetching.load(Ordering::Relaxed) {
            return 0;
        }
        let counts = self.counters.counts();
        match counts.batch_leaf_limit {
            _ if counts.batch_count == 0 => LEAVES_FIRST,
            limit => u32::try_from(limit * EVALUATIONS_AHEAD * u64::from(self.batch_count)).unwrap_or(u32::MAX),
        }
    }
}

/// Sends the answers as they come, and says now and then how it goes, until nobody takes them any more.
pub(super) async fn send_answers(
    credit: LeafCredit,
    mut answers: mpsc::Receiver<proto::EvaluationBatch>,
    offers: mpsc::Sender<proto::InferenceOffer>,
) {
    let (mut cell_count, mut looked) = (0, (Instant::now(), credit.counters.counts()));
    let mut progress = tokio::time::interval(PROGRESS_INTERVAL);
    progress.tick().await;
    let log = SummedLog::default();
    let mut failed_count = 0;
    loop {
        let offer = tokio::select! {
            answer = answers.recv() => {
                let Some(answer) = answer else { return };
                if answer.error.is_empty() {
                    failed_count = 0;
                } else {
                    failed_count += 1;
                    if let Some(count) = log.note(&(), 1, Instant::now()) {
                        warn!(count, error = answer.error, "batches given back to the learner");
                    }
                }
                let cells = credit.counters.counts().active_cell_count;
                let active_cell_count = cells - std::mem::replace(&mut cell_count, cells);
                let next = if failed_count < FAILED_BATCHES_MAX { credit.offer() } else { Default::default() };
                proto::InferenceOffer { answer: Some(answer), active_cell_count, ..next }
            }
            () = tokio::time::sleep(credit.pause_after_error), if failed_count >= FAILED_BATCHES_MAX => {
                failed_count = 0;
                credit.offer()
            }
            _ = progress.tick() => {
                let now = (Instant::now(), credit.counters.counts());
                log_progress(&looked, &now);
                looked = now;
                continue;
            }
            () = offers.closed() => return,
        };
        if offers.send(offer).await.is_err() {
            return;
        }
    }
}

fn log_progress(before: &(Instant, InferenceCounts), now: &(Instant, InferenceCounts)) {
    let seconds = (now.0 - before.0).as_secs_f64();
    let leaves = now.1.evaluation_count - before.1.evaluation_count;
    let batches = now.1.batch_count - before.1.batch_count;
    let busy_us = now.1.device_busy_us.saturating_sub(before.1.device_busy_us);
    info!(
        evaluations_per_second = (leaves as f64 / seconds).round(),
        leaves_per_batch = (leaves as f64 / batches.max(1) as f64).round(),
        device_busy = format!("{:.1}%", (busy_us as f64 / 1e4 / seconds).min(100.0)),
        evaluations = now.1.evaluation_count,
        "answering"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credit(batch_count: u32) -> LeafCredit {
        let pause_after_error = Duration::from_millis(1);
        LeafCredit { counters: Arc::default(), batch_count, pause_after_error, is_fetching: Arc::default() }
    }

    #[test]
    fn two_evaluations_worth_of_leaves_are_taken_and_none_while_a_network_is_on_its_way() {
        let credit = credit(3);
        credit.counters.batch_leaf_limit.store(128, Ordering::Relaxed);
        assert_eq!(credit.offer().leaves_in_flight_max, LEAVES_FIRST, "nothing was evaluated");
        credit.counters.batch_count.store(1, Ordering::Relaxed);
        assert_eq!(credit.offer().leaves_in_flight_max, 2 * 3 * 128);
        credit.is_fetching.store(true, Ordering::Relaxed);
        assert_eq!(credit.offer().leaves_in_flight_max, 0);
    }

    #[tokio::test]
    async fn an_answer_carries_what_comes_next_and_after_errors_there_is_a_pause() {
        let credit = credit(1);
        let (answers, receiver) = mpsc::channel(4);
        let (sender, mut offers) = mpsc::channel(4);
        let sending = tokio::spawn(send_answers(credit.clone(), receiver, sender));
        credit.counters.active_cell_count.store(40, Ordering::Relaxed);
        let answer =
            |batch_id, error: &str| proto::EvaluationBatch { batch_id, error: error.into(), ..Default::default() };
        answers.send(answer(1, "")).await.unwrap();
        let offer = offers.recv().await.unwrap();
        assert_eq!((offer.answer.unwrap().batch_id, offer.active_cell_count), (1, 40));
        for number in 1..=FAILED_BATCHES_MAX {
            answers.send(answer(2, "the device failed")).await.unwrap();
            let offer = offers.recv().await.unwrap();
            assert_eq!(offer.answer.unwrap().batch_id, 2);
            assert_eq!(offer.leaves_in_flight_max > 0, number < FAILED_BATCHES_MAX, "{number} failed");
        }
        let again = offers.recv().await.unwrap();
        assert!(again.answer.is_none() && again.leaves_in_flight_max == LEAVES_FIRST);
        drop(answers);
        sending.await.unwrap();
    }
}
