//! Threads that search beside the one that talks. They last from search to search: none is started for a move.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use shared::search::EvaluationError;

/// A thread's share of a search.
pub type Share = Box<dyn FnOnce() -> Result<(), EvaluationError> + Send>;

/// The threads, started when they are first needed. They end when the pool is dropped.
pub struct SearchPool {
    workers: Vec<Worker>,
}

/// One thread.
struct Worker {
    shares: SyncSender<Share>,
    results: Receiver<Result<(), EvaluationError>>,
}

impl SearchPool {
    /// Makes a pool without threads.
    pub const fn new() -> Self {
        Self { workers: vec![] }
    }

    /// Lets `count` threads, numbered from 1, do their share. Returns how many there are: fewer if the system starts no
    /// more.
    pub fn start(&mut self, count: u32, share_of: impl Fn(u32) -> Share) -> usize {
        for number in 1..=count {
            let share = share_of(number);
            let index = number as usize - 1;
            if self.workers.len() <= index {
                match Worker::start() {
                    Ok(worker) => self.workers.push(worker),
                    Err(_) => return index,
                }
            }
            if self.workers[index].shares.send(share).is_err() {
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

impl Worker {
    fn start() -> std::io::Result<Self> {
        // One share at a time, and one result. What a share holds is gone before its result is sent.
        let (shares, waiting) = sync_channel::<Share>(1);
        let (done, results) = sync_channel(1);
        let run = move || {
            for share in waiting {
                if done.send(share()).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("search".to_owned()).spawn(run)?;
        Ok(Self { shares, results })
    }
}
