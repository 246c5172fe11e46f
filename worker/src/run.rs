//! A worker from start to end: join, start the threads, hold the session, join again when it breaks, drain.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use proto::WorkerKind;
use runtime::exit::one_line;
use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::Encoding;
use shared::game::Game;
use shared::search::SharedOracle;
use tables::OpenTables;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::channels::{TaskSenders, ThreadMessage, WorkerState, inbox, task_channels};
use crate::counters::{Counters, Summary, count};
use crate::evaluation_stream::{EvaluationStream, STOP_NOTICE_WAIT};
use crate::game_thread::GameThread;
use crate::held_leases::HeldLeases;
use crate::leaf_batcher::{LeafBatcher, LeafBatcherSettings};
use crate::learner_connection::{LearnerConnection, LearnerSessionError, WorkerError, WorkerIdentity, join, join_once};
use crate::leases::Leasing;
use crate::ply_reports::PlyReporter;
use crate::renewals;
use crate::worker_settings::WorkerSettings;
use runtime::backoff::Backoff;

/// Plays games of the learner until `shutdown` is cancelled, then drains and returns what was done. A learner that
/// cannot be reached is waited for.
///
/// # Errors
/// [`WorkerError`] if the learner refuses this worker, serves another game after a restart, or a thread ends.
pub async fn run(
    settings: WorkerSettings,
    kind: WorkerKind,
    shutdown: CancellationToken,
) -> Result<Summary, WorkerError> {
    let state = Arc::new(WorkerState {
        counters: Counters::default(),
        held_leases: HeldLeases::default(),
        // Not `shutdown` itself: the threads stop once the session has ended.
        stop: CancellationToken::new(),
    });
    let identity = WorkerIdentity::new(kind);
    let mut backoff = Backoff::new(settings.reconnect_wait_max);
    let joined = shutdown.run_until_cancelled(join(&settings, &identity, &mut backoff)).await;
    let Some(connection) = joined.transpose()? else { return Ok(state.counters.summary()) };
    let mut worker = Worker::start(settings, identity, state, &connection)?;
    let result = worker.play(connection, &mut backoff, &shutdown).await;
    worker.stop().await;
    result.map(|()| worker.state.counters.summary())
}

/// A worker whose threads run.
struct Worker {
    settings: WorkerSettings,
    identity: WorkerIdentity,
    game: GameSpec,
    state: Arc<WorkerState>,
    threads: Vec<JoinHandle<()>>,
    ended_threads: mpsc::Receiver<usize>,
    reports: PlyReporter,
    /// Dropped once the worker stops, so that no thread waits on their channels.
    tasks: Option<SessionTasks>,
    last_session: Option<LearnerConnection>,
}

/// Tasks that end with the worker; [`PlyReporter`] goes on while it drains.
struct SessionTasks {
    evaluations: EvaluationStream,
    leasing: Leasing,
}

impl Worker {
    fn start(
        settings: WorkerSettings,
        identity: WorkerIdentity,
        state: Arc<WorkerState>,
        connection: &LearnerConnection,
    ) -> Result<Self, WorkerError> {
        let spec = connection.terms.game.clone();
        let (senders, receivers) = task_channels(settings.threads, settings.games.max);
        let (inboxes, inbox_receivers): (Vec<_>, Vec<_>) =
            (0..settings.threads).map(|_| inbox(settings.games.max)).unzip();
        let (end_sender, ended_threads) = mpsc::channel(settings.threads);
        let starter =
            Starter { settings: &settings, state: &state, connection, senders, inboxes: inbox_receivers, end_sender };
        let threads = spec.visit(starter)??;
        let tasks = SessionTasks {
            evaluations: EvaluationStream::new(receivers.batches, inboxes.clone(), state.clone()),
            leasing: Leasing::new(receivers.game_requests, inboxes, state.clone(), &settings),
        };
        let reports = PlyReporter::new(receivers.reports, state.clone(), Backoff::new(settings.reconnect_wait_max));
        info!(threads = settings.threads, games_per_thread = settings.games.first, game = %spec, "starting to play");
        Ok(Self {
            settings,
            identity,
            game: spec,
            state,
            threads,
            ended_threads,
            reports,
            tasks: Some(tasks),
            last_session: None,
        })
    }

    /// Holds sessions with the learner until `shutdown`.
    async fn play(
        &mut self,
        first: LearnerConnection,
        backoff: &mut Backoff,
        shutdown: &CancellationToken,
    ) -> Result<(), WorkerError> {
        let (state, settings) = (self.state.clone(), self.settings.clone());
        tokio::select! {
            () = shutdown.cancelled() => Ok(()),
            () = crate::worker_progress::report_progress(&state, &settings) => Ok(()),
            error = self.sessions(first, backoff) => Err(error),
        }
    }

    async fn sessions(&mut self, first: LearnerConnection, backoff: &mut Backoff) -> WorkerError {
        let mut connection = first;
        loop {
            count(&self.state.counters.session_count, 1);
            self.last_session = Some(connection.clone());
            let began_at = Instant::now();
            let error = match self.session(&connection).await {
                Ok(error) => error,
                Err(error) => return error,
            };
            // The pause keeps growing for a learner that accepts a session and soon ends it, as with a full disk.
            if began_at.elapsed() > self.settings.reconnect_wait_max {
                backoff.reset();
            }
            match error {
                LearnerSessionError::LearnerStopping => info!("the learner has stopped; waiting for it"),
                error => warn!(cause = one_line(&error), "session with the learner lost; keeping its games"),
            }
            tokio::time::sleep(backoff.pause()).await;
            connection = match join(&self.settings, &self.identity, backoff).await {
                Ok(connection) if connection.terms.game == self.game => connection,
                Ok(_) => return WorkerError::GameChanged,
                Err(error) => return error,
            };
        }
    }

    /// Holds one session. Returns why it ended.
    async fn session(&mut self, connection: &LearnerConnection) -> Result<LearnerSessionError, WorkerError> {
        let Self { settings, state, reports, tasks, ended_threads, .. } = self;
        // Leases first: plies of games that another worker has taken over are not sent.
        if let Err(error) = renewals::renew(state, connection, settings).await {
            return Ok(error);
        }
        let SessionTasks { evaluations, leasing } = tasks.as_mut().expect("sessions are held before the worker stops");
        let evaluating = evaluations.serve(connection, settings);
        tokio::pin!(evaluating);
        let error = tokio::select! {
            error = &mut evaluating => return Ok(error),
            error = reports.serve(connection, settings) => error,
            error = leasing.serve(connection, settings) => error,
            error = renewals::serve(state, connection, settings) => error,
            Some(thread) = ended_threads.recv() => return Err(WorkerError::ThreadEnded(thread)),
        };
        // The evaluation stream says when the learner is stopping; another call may fail a moment before.
        match tokio::time::timeout(STOP_NOTICE_WAIT, evaluating).await {
            Ok(stopping @ LearnerSessionError::LearnerStopping) => Ok(stopping),
            _ => Ok(error),
        }
    }

    /// Stops the threads and reports the last plies, within `drain_timeout`.
    async fn stop(&mut self) {
        let game_count = self.state.counters.summary().game_count;
        self.state.stop.cancel();
        self.tasks = None;
        let drained = tokio::time::timeout(self.settings.drain_timeout, self.drain()).await;
        if drained.is_err() {
            warn!(waited = ?self.settings.drain_timeout, "the learner did not acknowledge all plies in time");
        }
        let unacknowledged_plies = self.reports.unacknowledged_count();
        let summary = self.state.counters.summary();
        info!(
            games_left_to_others = game_count,
            games_finished = summary.finished_game_count,
            plies_acknowledged = summary.acknowledged_ply_count,
            unacknowledged_plies,
            "stopped"
        );
        let threads = std::mem::take(&mut self.threads);
        let ended = tokio::task::spawn_blocking(move || threads.into_iter().for_each(|thread| drop(thread.join())));
        if tokio::time::timeout(self.settings.drain_timeout, ended).await.is_err() {
            warn!("a search thread did not end in time");
        }
    }

    /// Reports the last plies. A learner that has gone is not waited for: once it is back, it leases the games again.
    async fn drain(&mut self) {
        let mut backoff = Backoff::new(self.settings.reconnect_wait_max);
        let mut session = self.last_session.take();
        loop {
            let connection = match session.take() {
                Some(connection) => Ok(connection),
                None => join_once(&self.settings, &self.identity).await,
            };
            match connection {
                Ok(connection) if self.reports.drain(&connection, &self.settings).await.is_ok() => return,
                Err(error @ LearnerSessionError::Connect(_)) => {
                    return info!(
                        cause = one_line(&error),
                        "the learner is gone; the last plies are not reported and will be played again"
                    );
                }
                _ => tokio::time::sleep(backoff.pause()).await,
            }
        }
    }
}

/// Starts the threads for the learner's game.
struct Starter<'a> {
    settings: &'a WorkerSettings,
    state: &'a Arc<WorkerState>,
    connection: &'a LearnerConnection,
    senders: TaskSenders,
    inboxes: Vec<mpsc::Receiver<ThreadMessage>>,
    end_sender: mpsc::Sender<usize>,
}

impl GameVisitor for Starter<'_> {
    type Output = Result<Vec<JoinHandle<()>>, WorkerError>;

    fn visit<E: Encoding>(self, encoding: E) -> Self::Output {
        let terms = &self.connection.terms;
        let bounds = self.settings.games;
        let oracle = self.settings.tables.as_deref().map(open_tables::<E::Game>).transpose()?;
        let start = |(thread, inbox)| {
            let batcher_settings = LeafBatcherSettings {
                thread,
                cache_bytes: self.settings.cache_bytes_per_thread,
                batch_leaves_max: terms.batch_leaves_max,
                best_network_id: terms.best_network_id,
            };
            let batcher =
                LeafBatcher::new(encoding.clone(), batcher_settings, self.state.clone(), self.senders.clone());
            let game_thread = GameThread::new(batcher, oracle.clone(), inbox, bounds);
            let end_notice = ThreadEndNotice { thread, sender: self.end_sender.clone() };
            std::thread::Builder::new().name(format!("search-{thread}")).spawn(move || {
                let _end_notice = end_notice;
                game_thread.run();
            })
        };
        self.inboxes.into_iter().enumerate().map(start).collect::<Result<_, _>>().map_err(WorkerError::Thread)
    }
}

fn open_tables<G: Game>(folder: &Path) -> Result<SharedOracle<G>, tables::OpenError> {
    let OpenTables { oracle, piece_count, missing } = tables::open(folder)?;
    info!(folder = %folder.display(), pieces = piece_count, "playing by endgame tables");
    if let Some(missing) = missing {
        warn!(%missing, "tables of more pieces are not used");
    }
    Ok(oracle)
}

/// Reports the end of a thread, by return or by panic.
struct ThreadEndNotice {
    thread: usize,
    sender: mpsc::Sender<usize>,
}

impl Drop for ThreadEndNotice {
    fn drop(&mut self) {
        // The channel has room for one notice a thread. Nobody reads it once the worker stops.
        let _ = self.sender.try_send(self.thread);
    }
}
