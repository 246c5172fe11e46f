//! Games on their way to the threads that want one.

use std::sync::Arc;
use std::time::Duration;

use proto::{Lease, LeaseGamesReply, LeaseGamesRequest};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

use crate::backoff::Seldom;
use crate::connect::{Connected, SessionError, with_deadline};
use crate::messages::{Shared, ToThread, Want, hand_over};
use crate::settings::WorkerSettings;

/// Most games in one call.
const GAME_COUNT_MAX: u32 = 256;
/// Pause after a lease that was of no use.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);
/// Bounds of the pause that the learner asks for.
const PAUSE_MS: (u32, u32) = (50, 60_000);

/// The task that leases games.
pub(crate) struct Leasing {
    inlet: mpsc::Receiver<Want>,
    inboxes: Vec<mpsc::Sender<ToThread>>,
    /// Games that each thread could still play.
    wanted: Vec<u32>,
    not_before: Instant,
    /// A call under way. It outlives the session: games leased to us must not be forgotten, or they would wait for
    /// their leases to run out.
    call: Option<Call>,
    shared: Arc<Shared>,
    seldom: Seldom,
}

struct Call {
    game_count: u32,
    answer: JoinHandle<Result<LeaseGamesReply, SessionError>>,
}

impl Leasing {
    pub(crate) fn new(
        inlet: mpsc::Receiver<Want>,
        inboxes: Vec<mpsc::Sender<ToThread>>,
        shared: Arc<Shared>,
        settings: &WorkerSettings,
    ) -> Self {
        let wanted = vec![0; inboxes.len()];
        let seldom = Seldom::new(settings.progress_interval);
        Self { inlet, inboxes, wanted, not_before: Instant::now(), call: None, shared, seldom }
    }

    /// Leases games until the session is over; returns why.
    pub(crate) async fn serve(&mut self, connected: &Connected, settings: &WorkerSettings) -> SessionError {
        let mut is_of_this_session = false;
        loop {
            if self.call.is_none() {
                self.wait_for_wants().await;
                self.call = Some(self.begin_call(connected, settings));
                is_of_this_session = true;
            }
            let Some(call) = &mut self.call else { continue };
            let (game_count, answer) = (call.game_count, (&mut call.answer).await);
            self.call = None;
            match answer {
                Ok(Ok(reply)) => self.take_reply(game_count, reply),
                Ok(Err(error)) if is_of_this_session => return error,
                Ok(Err(_)) => {}
                Err(error) => return SessionError::Unusable(error.to_string()),
            }
        }
    }

    fn begin_call(&self, connected: &Connected, settings: &WorkerSettings) -> Call {
        let game_count = self.wanted.iter().sum::<u32>().min(GAME_COUNT_MAX);
        let request = LeaseGamesRequest { worker_id: connected.worker_id.clone(), game_count };
        let (mut client, settings) = (connected.workers.clone(), settings.clone());
        let answer = async move { with_deadline("lease games", &settings, client.lease_games(request)).await };
        Call { game_count, answer: tokio::spawn(answer) }
    }

    /// Waits until a thread wants a game and the learner may be asked for one.
    async fn wait_for_wants(&mut self) {
        loop {
            while let Ok(want) = self.inlet.try_recv() {
                self.note(want);
            }
            if self.wanted.iter().any(|count| *count > 0) {
                if Instant::now() >= self.not_before {
                    return;
                }
                sleep_until(self.not_before).await;
                continue;
            }
            match self.inlet.recv().await {
                Some(want) => self.note(want),
                None => std::future::pending().await,
            }
        }
    }

    fn note(&mut self, want: Want) {
        self.wanted[want.thread] += 1;
        if want.is_after_failure {
            self.wait_at_least(FAILURE_PAUSE);
        }
    }

    fn take_reply(&mut self, game_count: u32, reply: LeaseGamesReply) {
        let lease_count = reply.leases.len();
        if lease_count < game_count as usize {
            let (least, most) = PAUSE_MS;
            self.wait_at_least(Duration::from_millis(reply.retry_after_ms.clamp(least, most).into()));
        }
        if lease_count == 0 && self.shared.tickets.in_hand().is_empty() && self.seldom.is_due(Instant::now().into_std())
        {
            info!(waiting_for = reply.waiting_for, "waiting for the learner: nothing to play");
        }
        for lease in reply.leases.into_iter().take(game_count as usize) {
            self.hand_over(lease);
        }
    }

    /// Gives a game to the thread that wants most.
    fn hand_over(&mut self, lease: Lease) {
        let Some(ticket) = self.shared.tickets.take(lease.game_id) else {
            warn!(game_id = lease.game_id, "leased again while in hand");
            self.wait_at_least(FAILURE_PAUSE);
            return;
        };
        let most = self.wanted.iter().enumerate().max_by_key(|(_, count)| **count).map(|(thread, _)| thread);
        let Some(thread) = most.filter(|thread| self.wanted[*thread] > 0) else { return };
        self.wanted[thread] -= 1;
        hand_over(&self.inboxes[thread], ToThread::Lease(ticket, Box::new(lease)));
    }

    fn wait_at_least(&mut self, pause: Duration) {
        self.not_before = self.not_before.max(Instant::now() + pause);
    }
}
