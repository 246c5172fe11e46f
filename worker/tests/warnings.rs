//! What a worker logs while its learner is not there: nothing worth a warning at its start and after its clean end.

mod common;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use common::{Disk, FakeLearner, State};
use proto::WorkerKind;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::subscriber::DefaultGuard;
use worker::{Summary, WorkerConfig, WorkerError};

/// The log of this test's thread, on which all tasks of a worker run.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn start() -> (Self, DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        (log, tracing::subscriber::set_default(lines))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().expect("no writer panicked")
    }

    fn text(&self) -> String {
        String::from_utf8(self.lock().clone()).expect("text")
    }

    /// Lets the worker run until it has logged `text`.
    async fn wait_for(&self, text: &str) {
        let waiting = async {
            while !self.text().contains(text) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        if tokio::time::timeout(Duration::from_secs(60), waiting).await.is_err() {
            panic!("{text:?} was not logged:\n{}", self.text());
        }
    }
}

/// Starts a worker beside the test, on its thread.
fn start_worker(config: &WorkerConfig) -> (CancellationToken, JoinHandle<Result<Summary, WorkerError>>) {
    let shutdown = CancellationToken::new();
    let running = worker::run(config.check(None).expect("settings"), WorkerKind::Actor, shutdown.clone());
    (shutdown, tokio::spawn(running))
}

/// Returns an address of this machine where nobody listens.
fn free_address() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("its address")
}

#[tokio::test]
async fn a_learner_that_is_starting_is_waited_for_without_a_warning() {
    let (log, _guard) = Log::start();
    let address = free_address();
    let (shutdown, worker) = start_worker(&common::config(address));
    log.wait_for("INFO worker::learner_connection: waiting for the learner").await;
    let disk = Disk::new(State::with_games(1));
    let _learner = FakeLearner::start_at(&disk, address);
    log.wait_for("joined the learner").await;
    shutdown.cancel();
    worker.await.expect("no panic").expect("the worker ends well");
    assert!(!log.text().contains("WARN"), "{}", log.text());
}

#[tokio::test]
async fn a_learner_that_ends_well_is_waited_for_without_a_warning() {
    let (log, _guard) = Log::start();
    let disk = Disk::new(State { evaluations_left: Some(3), ..State::with_games(20) });
    let learner = FakeLearner::start(&disk);
    let address = learner.address;
    let (shutdown, worker) = start_worker(&learner.config());
    disk.wait_until("games are under way", |state| state.evaluations_left == Some(0)).await;
    learner.stop().await;
    log.wait_for("INFO worker::run: the learner has stopped; waiting for it").await;
    disk.change(|state| state.evaluations_left = None);
    let _learner = FakeLearner::start_at(&disk, address);
    disk.wait_until("all games are over", State::are_all_over).await;
    shutdown.cancel();
    worker.await.expect("no panic").expect("the worker ends well");
    assert!(!log.text().contains("WARN"), "{}", log.text());
}

#[tokio::test]
async fn games_that_a_side_resigned_are_not_worth_a_line() {
    let (log, _guard) = Log::start();
    let disk = Disk::new(State { resigned_after: Some(2), ..State::with_games(20) });
    let learner = FakeLearner::start(&disk);
    let (shutdown, worker) = start_worker(&learner.config());
    disk.wait_until("all games are over", State::are_all_over).await;
    shutdown.cancel();
    worker.await.expect("no panic").expect("the worker ends well");
    let text = log.text();
    assert!(!text.contains("WARN") && !text.contains("lease lost") && !text.contains("dropped"), "{text}");
}

#[tokio::test]
async fn a_learner_that_vanishes_is_worth_a_warning() {
    let (log, _guard) = Log::start();
    let disk = Disk::new(State { evaluations_left: Some(3), ..State::with_games(20) });
    let learner = FakeLearner::start(&disk);
    let (shutdown, worker) = start_worker(&learner.config());
    disk.wait_until("games are under way", |state| state.evaluations_left == Some(0)).await;
    drop(learner);
    log.wait_for("WARN worker::run: session with the learner lost").await;
    shutdown.cancel();
    worker.await.expect("no panic").expect("the worker ends well");
}
