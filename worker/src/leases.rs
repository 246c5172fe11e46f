//! Leasing games from the learner for the threads that requested one.

use std::sync::Arc;
use std::time::Duration;

use proto::{Lease, LeaseGamesReply, LeaseGamesRequest};
use shared::ids::GameId;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

use crate::channels::{GameRequest, ThreadMessage, WorkerState, deliver};
use crate::learner_connection::{LearnerConnection, LearnerSessionError, with_deadline};
use crate::log_throttle::LogThrottle;
use crate::worker_settings::WorkerSettings;

/// Most games in one call.
const GAME_COUNT_MAX: u32 = 256;
/// Most reasons of the learner that are logged once each.
const LOGGED_REASON_COUNT_MAX: usize = 16;
/// Pause after a lease that could not be played.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);
/// Bounds of the pause that the learner asks for, in milliseconds.
const PAUSE_MS: (u32, u32) = (50, 60_000);

/// The task that leases games.
pub(crate) struct Leasing {
    requests: mpsc::Receiver<GameRequest>,
    inboxes: Vec<mpsc::Sender<ThreadMessage>>,
    /// Number of games that each thread requested.
    requested: Vec<u32>,
    not_before: Instant,
    /// The call under way. It outlives the session: if its games were forgotten, nobody could play them before their
    /// leases expire.
    call: Option<Call>,
    state: Arc<WorkerState>,
    throttle: LogThrottle,
    /// Why the learner gave fewer games than requested, as far as it was logged.
    logged_reasons: Vec<String>,
}

struct Call {
    game_count: u32,
    answer: JoinHandle<Result<LeaseGamesReply, LearnerSessionError>>,
}

impl Leasing {
    pub(crate) fn new(
        requests: mpsc::Receiver<GameRequest>,
        inboxes: Vec<mpsc::Sender<ThreadMessage>>,
        state: Arc<WorkerState>,
        settings: &WorkerSettings,
    ) -> Self {
        let requested = vec![0; inboxes.len()];
        let throttle = LogThrottle::new(settings.progress_interval);
        let (not_before, logged_reasons) = (Instant::now(), vec![]);
        Self { requests, inboxes, requested, not_before, call: None, state, throttle, logged_reasons }
    }

    /// Leases games until the session ends; returns why.
    pub(crate) async fn serve(
        &mut self,
        connection: &LearnerConnection,
        settings: &WorkerSettings,
    ) -> LearnerSessionError {
        let mut is_of_this_session = false;
        loop {
            if self.call.is_none() {
                self.wait_for_requests().await;
                self.call = Some(self.begin_call(connection, settings));
                is_of_this_session = true;
            }
            let Some(call) = &mut self.call else { continue };
            let (game_count, answer) = (call.game_count, (&mut call.answer).await);
            self.call = None;
            match answer {
                Ok(Ok(reply)) => self.take_reply(game_count, reply),
                Ok(Err(error)) if is_of_this_session => return error,
                Ok(Err(_)) => {}
                Err(error) => return LearnerSessionError::LeaseTask(error),
            }
        }
    }

    fn begin_call(&self, connection: &LearnerConnection, settings: &WorkerSettings) -> Call {
        let game_count = self.requested.iter().sum::<u32>().min(GAME_COUNT_MAX);
        let request = LeaseGamesRequest { worker_id: connection.worker_id.clone(), game_count };
        let (mut client, settings) = (connection.workers.clone(), settings.clone());
        let answer = async move { with_deadline("lease games", &settings, client.lease_games(request)).await };
        Call { game_count, answer: tokio::spawn(answer) }
    }

    /// Waits until a thread has requested a game and the learner may be asked for one.
    async fn wait_for_requests(&mut self) {
        loop {
            while let Ok(request) = self.requests.try_recv() {
                self.note(request);
            }
            if self.requested.iter().any(|count| *count > 0) {
                if Instant::now() >= self.not_before {
                    return;
                }
                sleep_until(self.not_before).await;
                continue;
            }
            match self.requests.recv().await {
                Some(request) => self.note(request),
                None => std::future::pending().await,
            }
        }
    }

    fn note(&mut self, request: GameRequest) {
        self.requested[request.thread] += 1;
        if request.is_after_failure {
            self.wait_at_least(FAILURE_PAUSE);
        }
    }

    fn take_reply(&mut self, game_count: u32, reply: LeaseGamesReply) {
        let lease_count = reply.leases.len();
        if lease_count < game_count as usize {
            let (least, most) = PAUSE_MS;
            self.wait_at_least(Duration::from_millis(reply.retry_after_ms.clamp(least, most).into()));
        }
        self.log_wait(lease_count, game_count, &reply.waiting_for);
        for lease in reply.leases.into_iter().take(game_count as usize) {
            self.assign(lease);
        }
    }

    /// Logs why there are fewer games than requested: again and again if there is none to play, else once.
    fn log_wait(&mut self, lease_count: usize, game_count: u32, waiting_for: &str) {
        let held_count = self.state.held_leases.game_ids().len();
        if held_count + lease_count == 0 {
            if self.throttle.is_due(Instant::now().into_std()) {
                info!(waiting_for, "no game to play; waiting");
            }
        } else if lease_count < game_count as usize
            && self.logged_reasons.len() < LOGGED_REASON_COUNT_MAX
            && !self.logged_reasons.iter().any(|reason| reason == waiting_for)
        {
            info!(games = held_count + lease_count, waiting_for, "fewer games than requested; not logged again");
            self.logged_reasons.push(waiting_for.to_owned());
        }
    }

    /// Gives a game to the thread with the most requests.
    fn assign(&mut self, lease: Lease) {
        let Some(held) = self.state.held_leases.hold(GameId::new(lease.game_id)) else {
            warn!(game_id = lease.game_id, "leased again while still held");
            self.wait_at_least(FAILURE_PAUSE);
            return;
        };
        let most = self.requested.iter().enumerate().max_by_key(|(_, count)| **count).map(|(thread, _)| thread);
        let Some(thread) = most.filter(|thread| self.requested[*thread] > 0) else { return };
        self.requested[thread] -= 1;
        deliver(&self.inboxes[thread], ThreadMessage::Lease(held, Box::new(lease)));
    }

    fn wait_at_least(&mut self, pause: Duration) {
        self.not_before = self.not_before.max(Instant::now() + pause);
    }
}
