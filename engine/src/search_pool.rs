//! Threads that search beside the one that talks. They last from search to search: none is started for a move.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use shared::game::Game;
use shared::search::{EvaluationError, Evaluator};

use crate::think::{MakeEvaluator, Work};

/// The threads, started when they are first needed. They end when the pool is dropped.
pub struct SearchPool<G: Game> {
    workers: Vec<Worker<G>>,
}

/// One thread.
struct Worker<G: Game> {
    jobs: SyncSender<Job<G>>,
    results: Receiver<Result<(), EvaluationError>>,
}

/// A thread's share of a search.
struct Job<G: Game> {
    work: Arc<Work<G>>,
    number: u32,
    evaluator: Box<dyn Evaluator<G> + Send>,
}

impl<G: Game> SearchPool<G> {
    /// Makes a pool without threads.
    pub const fn new() -> Self {
        Self { workers: vec![] }
    }

    /// Lets `count` threads, numbered from 1, do their share. Returns how many there are: fewer if the system starts no
    /// more.
    pub fn start(&mut self, work: &Arc<Work<G>>, count: u32, make_evaluator: &MakeEvaluator<'_, G>) -> usize {
        for number in 1..=count {
            let job = Job { work: Arc::clone(work), number, evaluator: make_evaluator(number.into()) };
            let index = number as usize - 1;
            if self.workers.len() <= index {
                match Worker::start() {
                    Ok(worker) => self.workers.push(worker),
                    Err(_) => return index,
                }
            }
            if self.workers[index].jobs.send(job).is_err() {
                // Its thread has panicked: what waits for it learns so.
                return number as usize;
            }
        }
        count as usize
    }

    /// Waits until the first `count` threads are done.
    ///
    /// # Errors
    /// The first error of theirs; [`EvaluationError::ThreadFailed`] if one has panicked, which is then replaced.
    pub fn wait_for(&mut self, count: usize) -> Result<(), EvaluationError> {
        let mut result = Ok(());
        let mut has_failed = false;
        for worker in &self.workers[..count] {
            let ended = worker.results.recv().unwrap_or_else(|_| {
                has_failed = true;
                Err(EvaluationError::ThreadFailed)
            });
            result = result.and(ended);
        }
        if has_failed {
            self.workers.clear();
        }
        result
    }
}

impl<G: Game> Worker<G> {
    fn start() -> std::io::Result<Self> {
        // One job at a time, and one result.
        let (jobs, waiting) = sync_channel::<Job<G>>(1);
        let (done, results) = sync_channel(1);
        let run = move || {
            for Job { work, number, mut evaluator } in waiting {
                let result = work.run(number, &mut *evaluator, &mut |_| true);
                drop((work, evaluator));
                if done.send(result).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("search".to_owned()).spawn(run)?;
        Ok(Self { jobs, results })
    }
}
