//! Batches of leaves on their way from the threads of a match, or of one search, to those that compute a network, and
//! back.
//!
//! While the network computes one batch, the leaves of the other games gather in the next. Nothing is allocated once
//! the buffers have grown to their size.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use net::NetworkOutput;
use shared::encoding::NetworkInput;
use shared::search::EvaluationError;

/// Leaves of one batch from which on no more are added; those of one request stay together.
const BATCH_LEAVES_MAX: usize = 256;

/// Where requests gather, and all threads that ask.
#[derive(Default)]
pub(super) struct Exchange {
    gathering: Mutex<Gathering>,
    /// There is a batch to compute, or no requests will come any more.
    has_work: Condvar,
    /// There is room in the batch, or nothing is computed any more.
    has_room: Condvar,
}

#[derive(Default)]
struct Gathering {
    batch: Batch,
    /// The asking threads, each with its mailbox.
    mailboxes: Vec<Arc<Mailbox>>,
    /// Nobody will ask any more.
    is_closed: bool,
    /// Nothing is computed any more.
    is_dead: bool,
}

/// Leaves that are computed together.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) input: NetworkInput,
    /// Who asked, and for how many leaves, in the order of `input`.
    requests: Vec<(Arc<Mailbox>, usize)>,
}

/// Where one thread gets its answers. It asks for one at a time.
#[derive(Default)]
pub(super) struct Mailbox {
    answer: Mutex<Answer>,
    has_come: Condvar,
}

/// The answer to one request.
#[derive(Default)]
pub(super) struct Answer {
    /// Priors of all leaves, end to end.
    pub(super) priors: Vec<f32>,
    /// Values of the leaves.
    pub(super) values: Vec<f32>,
    state: AnswerState,
}

#[derive(Default)]
enum AnswerState {
    #[default]
    Awaited,
    Here,
    Failed(EvaluationError),
}

impl Exchange {
    /// Adds a thread that asks.
    pub(super) fn add_mailbox(&self) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox::default());
        lock(&self.gathering).mailboxes.push(mailbox.clone());
        mailbox
    }

    /// Forgets a thread that asks no more.
    pub(super) fn remove_mailbox(&self, mailbox: &Arc<Mailbox>) {
        lock(&self.gathering).mailboxes.retain(|other| !Arc::ptr_eq(other, mailbox));
    }

    /// Adds a request to the batch that gathers: `add` appends its leaves and returns their number. If it fails,
    /// nothing may have been added. Waits while the batch is full.
    pub(super) fn ask<E>(
        &self,
        mailbox: &Arc<Mailbox>,
        add: impl FnOnce(&mut NetworkInput) -> Result<usize, E>,
    ) -> Result<(), E> {
        let mut gathering = lock(&self.gathering);
        while gathering.batch.input.len() >= BATCH_LEAVES_MAX && !gathering.is_dead {
            gathering = self.has_room.wait(gathering).unwrap_or_else(PoisonError::into_inner);
        }
        let leaf_count = add(&mut gathering.batch.input)?;
        lock(&mailbox.answer).state =
            if gathering.is_dead { AnswerState::Failed(EvaluationError::ThreadFailed) } else { AnswerState::Awaited };
        gathering.batch.requests.push((mailbox.clone(), leaf_count));
        drop(gathering);
        self.has_work.notify_one();
        Ok(())
    }

    /// Takes all requests that have gathered, in exchange for an empty batch. Waits for the first as long as it takes,
    /// then at most `more_wait_max` for those of the other threads. Returns false if none will come any more.
    pub(super) fn take(&self, batch: &mut Batch, more_wait_max: Duration) -> bool {
        batch.input.clear();
        batch.requests.clear();
        let mut gathering = lock(&self.gathering);
        while gathering.batch.requests.is_empty() && !gathering.is_closed {
            gathering = self.has_work.wait(gathering).unwrap_or_else(PoisonError::into_inner);
        }
        if !more_wait_max.is_zero() {
            let waited = self.has_work.wait_timeout_while(gathering, more_wait_max, |it| it.expects_more());
            gathering = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::swap(&mut gathering.batch, batch);
        drop(gathering);
        self.has_room.notify_all();
        !batch.requests.is_empty()
    }

    /// Ends the requests: none will come any more.
    pub(super) fn close(&self) {
        lock(&self.gathering).is_closed = true;
        self.has_work.notify_all();
    }

    /// Says that nothing is computed any more: all requests, those that wait and later ones, fail with
    /// [`EvaluationError::ThreadFailed`].
    pub(super) fn die(&self) {
        let mut gathering = lock(&self.gathering);
        gathering.is_dead = true;
        for mailbox in &gathering.mailboxes {
            mailbox.deliver(|answer| {
                if matches!(answer.state, AnswerState::Awaited) {
                    answer.state = AnswerState::Failed(EvaluationError::ThreadFailed);
                }
            });
        }
        drop(gathering);
        self.has_room.notify_all();
    }
}

impl Gathering {
    /// Returns whether there is room, and a thread that has not asked.
    fn expects_more(&self) -> bool {
        let is_open = !self.is_closed && self.batch.input.len() < BATCH_LEAVES_MAX;
        is_open && self.batch.requests.len() < self.mailboxes.len()
    }
}

impl Batch {
    /// Sends everybody its share of the output.
    pub(super) fn deliver(&self, output: &NetworkOutput) {
        let (mut first_leaf, mut first_move) = (0, 0);
        for (mailbox, leaf_count) in &self.requests {
            let end_leaf = first_leaf + leaf_count;
            let end_move = if *leaf_count == 0 { first_move } else { self.input.move_range(end_leaf - 1).end };
            mailbox.deliver(|answer| {
                answer.priors.clear();
                answer.priors.extend_from_slice(&output.priors[first_move..end_move]);
                answer.values.clear();
                answer.values.extend_from_slice(&output.values[first_leaf..end_leaf]);
                answer.state = AnswerState::Here;
            });
            (first_leaf, first_move) = (end_leaf, end_move);
        }
    }

    /// Reports to all who asked that the batch could not be computed.
    pub(super) fn refuse(&self, error: &EvaluationError) {
        for (mailbox, _) in &self.requests {
            mailbox.deliver(|answer| answer.state = AnswerState::Failed(error.clone()));
        }
    }
}

impl Mailbox {
    /// Waits for the answer to the last request.
    ///
    /// # Errors
    /// The error of the batch, or [`EvaluationError::ThreadFailed`] if the network's thread has ended.
    pub(super) fn wait(&self) -> Result<MutexGuard<'_, Answer>, EvaluationError> {
        let mut answer = lock(&self.answer);
        loop {
            match &answer.state {
                AnswerState::Here => return Ok(answer),
                AnswerState::Failed(error) => return Err(error.clone()),
                AnswerState::Awaited => {
                    answer = self.has_come.wait(answer).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn deliver(&self, write: impl FnOnce(&mut Answer)) {
        write(&mut lock(&self.answer));
        self.has_come.notify_one();
    }
}

/// Locks what a thread that panicked may have left: its end is reported elsewhere.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use shared::encoding::tictactoe::TicTacToeEncoding;
    use shared::game::Game;
    use shared::game::tictactoe::TicTacToe;

    use super::*;

    /// Asks for `leaf_count` leaves: the first with one move, the next with two, and so on up to nine.
    fn ask(exchange: &Exchange, mailbox: &Arc<Mailbox>, leaf_count: usize) {
        let (encoding, position) = (TicTacToeEncoding::new(TicTacToe), TicTacToe.initial_position());
        let add = |input: &mut NetworkInput| {
            for leaf in 0..leaf_count {
                let moves: Vec<u16> = (0..=(leaf % 9) as u16).collect();
                input.push(&encoding, &position, &moves)?;
            }
            Ok::<_, shared::encoding::DecodeError>(leaf_count)
        };
        exchange.ask(mailbox, add).unwrap();
    }

    /// Returns an output that counts: priors and values are their own indices.
    fn counting(input: &NetworkInput) -> NetworkOutput {
        let count = |length: usize| (0..length).map(|index| index as f32).collect();
        NetworkOutput { priors: count(input.policy_indices.len()), values: count(input.len()), ..Default::default() }
    }

    #[test]
    fn requests_of_several_threads_share_a_batch_and_each_gets_its_own_answer() {
        let exchange = Exchange::default();
        let mailboxes = [exchange.add_mailbox(), exchange.add_mailbox()];
        ask(&exchange, &mailboxes[0], 2);
        ask(&exchange, &mailboxes[1], 1);
        let mut batch = Batch::default();
        assert!(exchange.take(&mut batch, Duration::MAX), "nobody is missing, so it does not wait");
        assert_eq!(batch.input.len(), 3);
        batch.deliver(&counting(&batch.input));
        let answer = mailboxes[0].wait().unwrap();
        assert_eq!((&answer.priors[..], &answer.values[..]), (&[0.0, 1.0, 2.0][..], &[0.0, 1.0][..]));
        drop(answer);
        let answer = mailboxes[1].wait().unwrap();
        assert_eq!((&answer.priors[..], &answer.values[..]), (&[3.0][..], &[2.0][..]));
        drop(answer);
        exchange.close();
        assert!(!exchange.take(&mut batch, Duration::ZERO), "no requests will come any more");
    }

    #[test]
    fn a_request_whose_leaves_cannot_be_encoded_leaves_the_others_alone() {
        let exchange = Exchange::default();
        let mailbox = exchange.add_mailbox();
        assert_eq!(exchange.ask(&mailbox, |_| Err("not a leaf")), Err("not a leaf"));
        ask(&exchange, &mailbox, 1);
        let mut batch = Batch::default();
        assert!(exchange.take(&mut batch, Duration::ZERO));
        assert_eq!(batch.requests.len(), 1);
        let error = EvaluationError::DeviceFailed("no memory".into());
        batch.refuse(&error);
        assert_eq!(mailbox.wait().err(), Some(error));
    }

    #[test]
    fn several_threads_compute_and_all_end() {
        let exchange = Exchange::default();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut batch = Batch::default();
                    while exchange.take(&mut batch, Duration::ZERO) {
                        batch.deliver(&counting(&batch.input));
                    }
                });
            }
            let askers: Vec<_> = (1..=4)
                .map(|leaf_count| {
                    let exchange = &exchange;
                    scope.spawn(move || {
                        let mailbox = exchange.add_mailbox();
                        for _ in 0..50 {
                            ask(exchange, &mailbox, leaf_count);
                            assert_eq!(mailbox.wait().unwrap().values.len(), leaf_count);
                        }
                        exchange.remove_mailbox(&mailbox);
                    })
                })
                .collect();
            askers.into_iter().for_each(|asker| asker.join().unwrap());
            assert!(lock(&exchange.gathering).mailboxes.is_empty());
            exchange.close();
        });
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_ended() {
        let exchange = Exchange::default();
        let [waiting, late] = [exchange.add_mailbox(), exchange.add_mailbox()];
        ask(&exchange, &waiting, BATCH_LEAVES_MAX);
        std::thread::scope(|scope| {
            // Waits for room, which never comes.
            let blocked = scope.spawn(|| {
                ask(&exchange, &late, 1);
                late.wait().err()
            });
            exchange.die();
            assert_eq!(waiting.wait().err(), Some(EvaluationError::ThreadFailed));
            assert_eq!(blocked.join().unwrap(), Some(EvaluationError::ThreadFailed));
        });
    }
}
