//! A worker from its start to its end: join, start the threads, hold the session, join again when it breaks, drain.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use proto::{GameSpec, WorkerKind};
use shared::encoding::Encoding;
use shared::game::catalog::GameVisitor;
use shared::wire::{BATCH_LEAF_COUNT_MAX, game_spec_from_proto};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::backoff::Backoff;
use crate::connect::{Connected, Identity, SessionError, WorkerError, causes, join, join_once};
use crate::counters::{Counters, Summary, count};
use crate::desk::{Desk, DeskSettings};
use crate::evaluations::EvaluationStream;
use crate::leases::Leasing;
use crate::messages::{Outlets, Shared, ToThread, inbox, outlets};
use crate::pool::Pool;
use crate::renewals;
use crate::reports::Reports;
use crate::settings::WorkerSettings;
use crate::tickets::Tickets;

/// Plays games of the learner until `shutdown` is cancelled, then drains and tells what was done.
///
/// # Errors
/// [`WorkerError`] if the learner refuses this worker, plays another game after a restart, or a thread dies. A
/// learner that cannot be reached is waited for.
pub async fn run(
    settings: WorkerSettings,
    kind: WorkerKind,
    shutdown: CancellationToken,
) -> Result<Summary, WorkerError> {
    let shared = Arc::new(Shared {
        counters: Counters::default(),
        tickets: Tickets::default(),
        // Of its own: threads stop when the session is over, and then at once.
        stop: CancellationToken::new(),
    });
    let identity = Identity::new(kind);
    let mut backoff = Backoff::new(settings.reconnect_wait_max);
    let joined = shutdown.run_until_cancelled(join(&settings, &identity, &mut backoff)).await;
    let Some(connected) = joined.transpose()? else { return Ok(shared.counters.summary()) };
    let mut worker = Worker::start(settings, identity, shared, &connected)?;
    let result = worker.play(connected, &mut backoff, &shutdown).await;
    worker.stop().await;
    result.map(|()| worker.shared.counters.summary())
}

/// A worker whose threads run.
struct Worker {
    settings: WorkerSettings,
    identity: Identity,
    game: Option<GameSpec>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    dead_threads: mpsc::Receiver<usize>,
    reports: Reports,
    /// Gone once the worker stops, so that no thread waits for what will not come.
    lines: Option<Lines>,
    last_session: Option<Connected>,
}

struct Lines {
    evaluations: EvaluationStream,
    leasing: Leasing,
}

impl Worker {
    fn start(
        settings: WorkerSettings,
        identity: Identity,
        shared: Arc<Shared>,
        connected: &Connected,
    ) -> Result<Self, WorkerError> {
        let spec = game_spec_from_proto(connected.join.game.as_ref().ok_or(shared::wire::WireError::Missing("game"))?)?;
        let (outlets, inlets) = outlets(settings.threads, settings.games_per_thread);
        let (inboxes, inbox_ends): (Vec<_>, Vec<_>) =
            (0..settings.threads).map(|_| inbox(settings.games_per_thread)).unzip();
        let (death, dead_threads) = mpsc::channel(settings.threads);
        let starter = Starter { settings: &settings, shared: &shared, connected, outlets, inboxes: inbox_ends, death };
        let threads = spec.visit(starter)?.map_err(WorkerError::Thread)?;
        let lines = Lines {
            evaluations: EvaluationStream::new(inlets.batches, inboxes.clone(), shared.clone()),
            leasing: Leasing::new(inlets.wants, inboxes, shared.clone(), &settings),
        };
        let reports = Reports::new(inlets.reports, shared.clone(), Backoff::new(settings.reconnect_wait_max));
        info!(threads = settings.threads, games_per_thread = settings.games_per_thread, game = ?spec, "playing begins");
        Ok(Self {
            settings,
            identity,
            game: connected.join.game.clone(),
            shared,
            threads,
            dead_threads,
            reports,
            lines: Some(lines),
            last_session: None,
        })
    }

    /// Holds sessions with the learner until the worker is to stop.
    async fn play(
        &mut self,
        first: Connected,
        backoff: &mut Backoff,
        shutdown: &CancellationToken,
    ) -> Result<(), WorkerError> {
        let (shared, settings) = (self.shared.clone(), self.settings.clone());
        tokio::select! {
            () = shutdown.cancelled() => Ok(()),
            () = crate::progress::tell(&shared, &settings) => Ok(()),
            error = self.sessions(first, backoff) => Err(error),
        }
    }

    async fn sessions(&mut self, first: Connected, backoff: &mut Backoff) -> WorkerError {
        let mut connected = first;
        loop {
            count(&self.shared.counters.session_count, 1);
            self.last_session = Some(connected.clone());
            let began_at = Instant::now();
            let error = match self.session(&connected).await {
                Ok(error) => error,
                Err(error) => return error,
            };
            // A learner that answers and breaks off again and again, its disk being full, is not pressed harder.
            if began_at.elapsed() > self.settings.reconnect_wait_max {
                backoff.reset();
            }
            warn!(cause = causes(&error), "session with the learner lost; games in hand are kept");
            tokio::time::sleep(backoff.pause()).await;
            connected = match join(&self.settings, &self.identity, backoff).await {
                Ok(connected) if connected.join.game == self.game => connected,
                Ok(_) => return WorkerError::GameChanged,
                Err(error) => return error,
            };
        }
    }

    /// Holds one session. Returns why it ended.
    async fn session(&mut self, connected: &Connected) -> Result<SessionError, WorkerError> {
        let Self { settings, shared, reports, lines, dead_threads, .. } = self;
        // Leases first: plies of a game that is someone else's by now are not sent.
        if let Err(error) = renewals::renew(shared, connected, settings).await {
            return Ok(error);
        }
        let Lines { evaluations, leasing } = lines.as_mut().expect("sessions are held before the worker stops");
        Ok(tokio::select! {
            error = evaluations.serve(connected, settings) => error,
            error = reports.serve(connected, settings) => error,
            error = leasing.serve(connected, settings) => error,
            error = renewals::serve(shared, connected, settings) => error,
            Some(thread) = dead_threads.recv() => return Err(WorkerError::ThreadDied(thread)),
        })
    }

    /// Stops the threads and reports what they played, within the time given.
    async fn stop(&mut self) {
        let game_count = self.shared.counters.summary().game_count;
        self.shared.stop.cancel();
        self.lines = None;
        let drained = tokio::time::timeout(self.settings.drain_timeout, self.drain()).await;
        if drained.is_err() {
            warn!(waited = ?self.settings.drain_timeout, "the learner did not acknowledge everything in time");
        }
        let unacknowledged_plies = self.reports.unacknowledged_count();
        let summary = self.shared.counters.summary();
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
            warn!("a search thread does not end");
        }
    }

    /// Reports the last plies. A learner that is gone is not waited for: its next life leases the games to others.
    async fn drain(&mut self) {
        let mut backoff = Backoff::new(self.settings.reconnect_wait_max);
        let mut session = self.last_session.take();
        loop {
            let connected = match session.take() {
                Some(connected) => Ok(connected),
                None => join_once(&self.settings, &self.identity).await,
            };
            match connected {
                Ok(connected) if self.reports.drain(&connected, &self.settings).await.is_ok() => return,
                Err(error @ SessionError::Connect(_)) => {
                    return warn!(
                        cause = causes(&error),
                        "the learner is gone; the last plies are left to its next life"
                    );
                }
                _ => tokio::time::sleep(backoff.pause()).await,
            }
        }
    }
}

/// Starts the threads for whichever game is played.
struct Starter<'a> {
    settings: &'a WorkerSettings,
    shared: &'a Arc<Shared>,
    connected: &'a Connected,
    outlets: Outlets,
    inboxes: Vec<mpsc::Receiver<ToThread>>,
    death: mpsc::Sender<usize>,
}

impl GameVisitor for Starter<'_> {
    type Output = std::io::Result<Vec<JoinHandle<()>>>;

    fn visit<E: Encoding>(self, encoding: E) -> Self::Output {
        let join = &self.connected.join;
        let games_per_thread = self.settings.games_per_thread;
        let start = |(thread, inbox)| {
            let desk_settings = DeskSettings {
                thread,
                cache_bytes: self.settings.cache_bytes_per_thread,
                batch_leaves_max: (join.batch_leaves_max as usize).clamp(1, BATCH_LEAF_COUNT_MAX),
                best_network_id: join.best_network_id,
            };
            let desk = Desk::new(encoding.clone(), desk_settings, self.shared.clone(), self.outlets.clone());
            let pool = Pool::new(desk, inbox);
            let death = DeathNote { thread, death: self.death.clone() };
            std::thread::Builder::new().name(format!("search-{thread}")).spawn(move || {
                let _death = death;
                pool.run(games_per_thread);
            })
        };
        self.inboxes.into_iter().enumerate().map(start).collect()
    }
}

/// Tells when a thread ends, however it ends.
struct DeathNote {
    thread: usize,
    death: mpsc::Sender<usize>,
}

impl Drop for DeathNote {
    fn drop(&mut self) {
        // There is room for one note a thread, and nobody to read it once the worker stops.
        let _ = self.death.try_send(self.thread);
    }
}
