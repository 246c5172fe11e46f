//! The one thread that writes: it takes all that is queued, commits it as one transaction, then answers each submission.
//!
//! Safe if killed at any point: what was not answered may or may not be on disk, what was answered is.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use rusqlite::Connection;

use super::apply::apply;
use super::log_bound::LogBound;
use super::open_files::OpenFiles;
use super::{Change, StoreError, StoreProblem};

/// Submissions that wait in the queue; when it is full, submitting waits.
const QUEUE_MAX: usize = 1024;
/// Submissions that one transaction commits at most.
const GROUP_MAX: usize = 256;

/// What is asked of the writer.
enum Request {
    Write(Vec<Change>),
    LimitPages(u32),
}

struct Submission {
    request: Request,
    answer: SyncSender<Result<(), StoreError>>,
}

/// What the thread needs.
pub(super) struct WriterParts {
    pub(super) connection: Connection,
    pub(super) files: OpenFiles,
    /// Where it says why nothing can be stored.
    pub(super) problem: StoreProblem,
}

/// The answer that comes once a submission is on disk, or has failed.
#[derive(Debug)]
#[must_use = "what is not waited for may not be on disk"]
pub struct Ack {
    answer: Receiver<Result<(), StoreError>>,
}

impl Ack {
    /// Waits until the submission is on disk. Blocks its thread: not for async tasks.
    ///
    /// # Errors
    /// [`StoreError`] of the transaction, of which nothing was kept; [`StoreError::Closed`] if the writer has ended.
    pub fn wait(self) -> Result<(), StoreError> {
        self.answer.recv().unwrap_or(Err(StoreError::Closed))
    }
}

/// Handle of the writer thread. Dropping it waits until all that is queued is committed.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<SyncSender<Submission>>,
    /// `None` in a simulation, which writes by itself.
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(parts: WriterParts) -> Result<Self, StoreError> {
        let (queue, submissions) = sync_channel(QUEUE_MAX);
        let writer = GroupWriter::new(parts);
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || run(writer, &submissions))
            .map_err(|source| StoreError::io("store-writer", source))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Makes a writer without a thread: whoever has the other part writes when it wants to.
    #[cfg(feature = "simulation")]
    pub(super) fn by_hand(parts: WriterParts) -> (Self, HandWriter) {
        let (queue, submissions) = sync_channel(QUEUE_MAX);
        let hand =
            HandWriter { writer: GroupWriter::new(parts), submissions, queued: std::collections::VecDeque::new() };
        (Self { queue: Some(queue), thread: None }, hand)
    }

    pub(super) fn submit(&self, changes: Vec<Change>) -> Result<Ack, StoreError> {
        self.send(Request::Write(changes))
    }

    pub(super) fn limit_pages(&self, page_count_max: u32) -> Result<Ack, StoreError> {
        self.send(Request::LimitPages(page_count_max))
    }

    fn send(&self, request: Request) -> Result<Ack, StoreError> {
        let (answer, receiver) = sync_channel(1);
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(Submission { request, answer }).map_err(|_| StoreError::Closed)?;
        Ok(Ack { answer: receiver })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the writer was printed by its thread; there is nothing left to save here.
            let _ = thread.join();
        }
    }
}

fn run(mut writer: GroupWriter, submissions: &Receiver<Submission>) {
    while let Ok(first) = submissions.recv() {
        let group: Vec<Submission> = std::iter::once(first).chain(submissions.try_iter().take(GROUP_MAX - 1)).collect();
        writer.write(group, Instant::now());
    }
    writer.end();
}

/// Commits groups of submissions. Knows no queue and no thread.
struct GroupWriter {
    parts: WriterParts,
    log_bound: LogBound,
    /// Once something was committed into a file that was gone, memory and file disagree: nothing more is acknowledged.
    lost: Option<StoreError>,
}

impl GroupWriter {
    fn new(parts: WriterParts) -> Self {
        parts.connection.set_prepared_statement_cache_capacity(32);
        Self { parts, log_bound: LogBound::default(), lost: None }
    }

    /// Commits a group as one transaction, then answers each submission.
    fn write(&mut self, group: Vec<Submission>, now: Instant) {
        let Self { parts, log_bound, lost } = self;
        let results = lost
            .clone()
            .map_or_else(|| commit(parts, &group), |error| group.iter().map(|_| Err(error.clone())).collect());
        let retryable = results.iter().find_map(|result| result.as_ref().err().filter(|error| error.is_retryable()));
        if parts.problem.note(retryable)
            && let Some(error @ StoreError::FileGone { .. }) = retryable
        {
            tracing::error!(%error, "the store is gone");
        }
        if retryable.is_none()
            && let Err(error) = parts.files.check()
        {
            *lost = Some(error.clone());
            parts.problem.note(Some(&error));
            group.iter().for_each(|submission| drop(submission.answer.send(Err(error.clone()))));
            return;
        }
        for (submission, result) in group.into_iter().zip(results) {
            // A caller that has gone does not need the answer.
            let _ = submission.answer.send(result);
        }
        log_bound.keep(&parts.connection, &parts.files, now);
    }

    fn end(&self) {
        self.log_bound.truncate(&self.parts.connection);
    }
}

/// Makes all changes of the group in one transaction; returns one result a submission.
fn commit(parts: &WriterParts, group: &[Submission]) -> Vec<Result<(), StoreError>> {
    let connection = &parts.connection;
    let all_failed = |error: StoreError| {
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        // The caller gets the error and logs it.
        tracing::debug!(%error, submission_count = group.len(), "store write failed, nothing was changed");
        group.iter().map(|_| Err(error.clone())).collect()
    };
    if let Err(error) = connection.execute_batch("BEGIN IMMEDIATE") {
        return all_failed(error.into());
    }
    let mut results = Vec::with_capacity(group.len());
    for submission in group {
        match perform(connection, &submission.request) {
            // The disk failed: the whole transaction is in doubt, and so is each of its submissions.
            Err(error) if error.is_retryable() => return all_failed(error),
            result => results.push(result),
        }
    }
    let committed = parts.files.check().and_then(|()| Ok(connection.execute_batch("COMMIT")?));
    committed.map_or_else(all_failed, |()| results)
}

/// Makes the changes of one submission, all or none.
fn perform(connection: &Connection, request: &Request) -> Result<(), StoreError> {
    let changes = match request {
        Request::Write(changes) => changes,
        Request::LimitPages(page_count_max) => {
            connection.pragma_update_and_check(None, "max_page_count", page_count_max, |_| Ok(()))?;
            return Ok(());
        }
    };
    connection.execute_batch("SAVEPOINT submission")?;
    let result = changes.iter().try_for_each(|change| apply(connection, change));
    if matches!(result, Err(StoreError::Refused { .. })) {
        connection.execute_batch("ROLLBACK TO submission")?;
    }
    if result.as_ref().is_err_and(StoreError::is_retryable) {
        return result;
    }
    connection.execute_batch("RELEASE submission")?;
    result
}

/// Writes what is queued, when its owner wants it.
#[cfg(feature = "simulation")]
pub struct HandWriter {
    writer: GroupWriter,
    submissions: Receiver<Submission>,
    queued: std::collections::VecDeque<Submission>,
}

#[cfg(feature = "simulation")]
impl HandWriter {
    /// Returns the changes of all submissions that wait, the oldest first.
    pub fn queued(&mut self) -> impl ExactSizeIterator<Item = Vec<Change>> {
        self.queued.extend(self.submissions.try_iter());
        self.queued.iter().map(|submission| match &submission.request {
            Request::Write(changes) => changes.clone(),
            Request::LimitPages(_) => Vec::new(),
        })
    }

    /// Commits the oldest submissions as one group, and answers them. Returns the answers.
    pub fn write(&mut self, count: usize, now: Instant) -> Vec<Result<(), StoreError>> {
        let (mut group, mut answers) = (Vec::new(), Vec::new());
        for Submission { request, answer } in self.take(count) {
            let (own, result) = sync_channel(1);
            group.push(Submission { request, answer: own });
            answers.push((answer, result));
        }
        if !group.is_empty() {
            self.writer.write(group, now);
        }
        let pass_on = |(answer, result): (SyncSender<_>, Receiver<Result<(), StoreError>>)| {
            let result = result.try_recv().unwrap_or(Err(StoreError::Closed));
            let _ = answer.send(result.clone());
            result
        };
        answers.into_iter().map(pass_on).collect()
    }

    /// Writes all that is queued, as at the end of the thread.
    pub fn end(mut self, now: Instant) {
        self.write(usize::MAX, now);
        self.writer.end();
    }

    /// Commits the oldest submissions as one group, and answers nobody. Returns what the answers would be.
    pub fn write_unanswered(&mut self, count: usize) -> Vec<Result<(), StoreError>> {
        let group = self.take(count);
        commit(&self.writer.parts, &group)
    }

    /// Answers the oldest submissions with an error of the disk.
    pub fn fail(&mut self, count: usize) {
        let error = StoreError::io("alveare.db", std::io::Error::other("simulated"));
        for submission in self.take(count) {
            let _ = submission.answer.send(Err(error.clone()));
        }
        self.writer.parts.problem.note(Some(&error));
    }

    /// Bounds the database to as many pages as it has, or to none.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn set_full(&self, is_full: bool) -> Result<(), StoreError> {
        let connection = &self.writer.parts.connection;
        let page_count_max = if is_full { 1 } else { 1_000_000_000_u32 };
        Ok(connection.pragma_update_and_check(None, "max_page_count", page_count_max, |_| Ok(()))?)
    }

    fn take(&mut self, count: usize) -> Vec<Submission> {
        self.queued.extend(self.submissions.try_iter());
        let count = count.min(self.queued.len());
        self.queued.drain(..count).collect()
    }
}
