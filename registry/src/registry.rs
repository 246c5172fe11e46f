//! The registry itself: what it holds, how it starts, and its one lock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runtime::summed_log::SummedLog;
use samples::buffer::{SampledGame, SharedReplay};
use shared::encoding::Encoding;
use shared::ids::{GameId, NetworkId};
use shared::record::Sample;
use shared::search::SearchSettings;
use store::{GameKind, Reader, Store, StoredResult};
use tokio::sync::watch;

use super::barred::BarredWorkers;
use super::error::RegistryError;
use super::game_progress::GameProgress;
use super::gate::Gate;
use super::grants::GrantSettings;
use super::load::load_open_games;
use super::open_game::OpenGame;
use super::open_games::{LeaseTerms, OpenGames};
use super::resignation::ResignationRule;
use super::starts::StartPlan;

/// Bounds on what workers may ask and hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryLimits {
    /// How long a lease lasts without a sign of life.
    pub lease: Duration,
    /// Leases in a row that a worker may renew without playing a ply of the game.
    pub idle_leases_max: u32,
    /// Self-play games that go on at once, at most.
    pub open_games_max: usize,
    /// Leases given in one answer, at most.
    pub leases_max: u32,
    /// Plies taken in one report, at most.
    pub report_plies_max: usize,
    /// How many of the open games workers may hold.
    pub grants: GrantSettings,
    /// How long workers whose plies were refuted together alone get no more games of gates and yardsticks.
    pub pause: Duration,
}

impl Default for RegistryLimits {
    fn default() -> Self {
        let grants = GrantSettings { batches_waiting: 3, games_first: 16_384 };
        Self {
            lease: Duration::from_secs(60),
            idle_leases_max: 30,
            open_games_max: 16_384,
            leases_max: 1024,
            report_plies_max: 4096,
            grants,
            // Names are free, so a longer one keeps nobody away who wants to come back. It gives the other evaluators the
            // time to play the games again.
            pause: Duration::from_secs(10 * 60),
        }
    }
}

impl RegistryLimits {
    pub(super) fn lease_terms(&self) -> LeaseTerms {
        LeaseTerms { lease: self.lease, idle: self.lease.saturating_mul(self.idle_leases_max) }
    }
}

/// How new self-play games are made.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfPlayPlan {
    /// The iteration they belong to.
    pub iteration: u32,
    /// How they are searched.
    pub search: SearchSettings,
    /// Where they begin.
    pub starts: StartPlan,
    /// Games of this iteration at most, those made before a restart included; `None`: as many as are asked for.
    pub game_count_max: Option<u64>,
}

impl SelfPlayPlan {
    /// Returns how a game from this start is searched. A random endgame is variety enough: all of it is played at the
    /// temperature of late plies.
    pub(super) fn search_from(&self, start: Option<&str>) -> SearchSettings {
        let temperature_plies = if start.is_some() { 0 } else { self.search.temperature_plies };
        SearchSettings { temperature_plies, ..self.search.clone() }
    }
}

/// All games that go on. Shared by the threads that serve workers and by the pipeline; calls block while they write.
pub struct GameRegistry<E: Encoding> {
    pub(super) encoding: E,
    pub(super) store: Arc<Store>,
    pub(super) limits: RegistryLimits,
    pub(super) run_seed: u64,
    pub(super) resignation: ResignationRule,
    /// Plies refused by the rules, by worker.
    pub(super) refused: SummedLog<String>,
    /// Leases that ran out.
    pub(super) expired: SummedLog<()>,
    replay: Arc<SharedReplay>,
    inner: Mutex<Inner<E>>,
    /// Notified whenever a write has ended.
    written: Condvar,
    progress: watch::Sender<GameProgress>,
}

/// What the lock guards.
pub(super) struct Inner<E: Encoding> {
    pub games: OpenGames<E>,
    pub gates: BTreeMap<NetworkId, Gate>,
    /// Workers that get no more games of gates.
    pub barred: BarredWorkers,
    pub self_play: Option<SelfPlayPlan>,
    /// Self-play games that workers may hold.
    pub self_play_allowed: usize,
    /// Games of the plan's iteration so far.
    pub planned_game_count: u64,
    /// 0 before the first game.
    last_game_id: u64,
    /// The newest network that plies may name.
    pub last_network_id: NetworkId,
    pub last_finish_number: u64,
    /// Finished games that are not yet counted, by rising finish number.
    pub deliveries: VecDeque<Delivery>,
    pub progress: GameProgress,
    pub reader: Reader,
}

/// A finished game on its way: games count in the order of their finish numbers, once they are on disk.
pub(super) struct Delivery {
    pub finish_number: u64,
    pub kind: GameKind,
    /// `None` while the write is under way, then whether it succeeded.
    pub is_stored: Option<bool>,
    pub samples: Vec<Sample>,
    /// Hash of its start and moves: by it the game is held out or learned from.
    pub moves_hash: u64,
    /// How it ended.
    pub result: StoredResult,
    /// Plies, the opening included.
    pub ply_count: u32,
}

impl<E: Encoding> Inner<E> {
    /// Returns the id of the next game.
    pub fn new_game_id(&mut self) -> GameId {
        self.last_game_id += 1;
        GameId::new(self.last_game_id)
    }

    /// Returns whether there ever was a game of this id.
    pub fn was_made(&self, game_id: GameId) -> bool {
        game_id.get() <= self.last_game_id
    }
}

impl<E: Encoding> GameRegistry<E> {
    /// Takes up the run where the store says it is: all open games, without leases. No new game begins before
    /// [`Self::plan_self_play`] or [`Self::begin_gate`].
    ///
    /// Finished self-play games go to `replay`, which must hold those finished before already (`rebuild`).
    ///
    /// # Errors
    /// [`RegistryError::Store`] if the database fails. An open game that does not replay is quarantined and is no error.
    pub fn open(
        encoding: E,
        store: Arc<Store>,
        replay: Arc<SharedReplay>,
        limits: RegistryLimits,
    ) -> Result<Self, RegistryError> {
        let reader = store.reader()?;
        let mut progress = GameProgress {
            finished_self_play_count: reader.finished_self_play_count()?,
            last_finish_number: reader.last_finish_number()?,
            ..GameProgress::default()
        };
        let games = load_open_games(&encoding, &store, &reader, &mut progress)?;
        let inner = Inner {
            games,
            gates: BTreeMap::new(),
            barred: BarredWorkers::default(),
            self_play: None,
            self_play_allowed: limits.grants.games_first,
            planned_game_count: 0,
            last_game_id: reader.last_game_id()?.map_or(0, GameId::get),
            last_network_id: reader.last_network_id()?.unwrap_or(NetworkId::FIRST),
            last_finish_number: progress.last_finish_number,
            deliveries: VecDeque::new(),
            progress,
            reader,
        };
        let registry = Self {
            encoding,
            limits,
            run_seed: store.run().seed,
            resignation: ResignationRule::default(),
            refused: SummedLog::default(),
            expired: SummedLog::default(),
            store,
            replay,
            inner: Mutex::new(inner),
            written: Condvar::new(),
            progress: watch::Sender::new(progress),
        };
        registry.publish(&mut registry.lock());
        Ok(registry)
    }

    /// Lets sides resign self-play games from now on, those that go on included.
    #[must_use]
    pub fn with_resignation(self, resignation: ResignationRule) -> Self {
        Self { resignation, ..self }
    }

    /// Decides how new self-play games are made from now on; `None`: none are made, those open go on.
    ///
    /// # Errors
    /// [`RegistryError::Store`] if the database fails.
    pub fn plan_self_play(&self, plan: Option<SelfPlayPlan>) -> Result<(), RegistryError> {
        let mut inner = self.lock();
        if let Some(plan) = &plan {
            inner.planned_game_count = inner.reader.self_play_count(plan.iteration)?;
        }
        inner.self_play = plan;
        Ok(())
    }

    /// Returns the SHA-256 of the key under which a worker had games before; `None` if it had none.
    ///
    /// # Errors
    /// [`RegistryError::Store`] if the database fails.
    pub fn worker_key_sha256(&self, worker_id: &str) -> Result<Option<String>, RegistryError> {
        Ok(self.lock().reader.worker_key_sha256(worker_id)?)
    }

    /// Returns the networks that games of gates and yardsticks are played with now.
    #[must_use]
    pub fn networks_in_play(&self) -> BTreeSet<NetworkId> {
        self.lock().games.networks_of_gates()
    }

    /// Returns how far the games are.
    #[must_use]
    pub fn progress(&self) -> GameProgress {
        *self.progress.borrow()
    }

    /// Returns a receiver that wakes whenever a game has finished, in self-play or at a gate.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<GameProgress> {
        self.progress.subscribe()
    }

    /// Locks the registry. Every change under the lock is complete before anything in it can panic, so a lock that a
    /// panicking thread left behind is taken as it is.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner<E>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no write of these games is under way. The writer always answers.
    pub(super) fn wait_until_written<'a>(
        &'a self,
        guard: MutexGuard<'a, Inner<E>>,
        game_ids: impl IntoIterator<Item = GameId>,
    ) -> MutexGuard<'a, Inner<E>> {
        let game_ids: BTreeSet<GameId> = game_ids.into_iter().collect();
        let is_busy = |inner: &mut Inner<E>| {
            game_ids.iter().any(|game_id| inner.games.get(*game_id).is_some_and(OpenGame::is_being_written))
        };
        #[cfg(feature = "simulation")]
        let guard = self.end_calls_of_others(guard, is_busy);
        self.written.wait_while(guard, is_busy).unwrap_or_else(PoisonError::into_inner)
    }

    /// In a simulation, which has no other threads, ends the calls that this one waits for.
    #[cfg(feature = "simulation")]
    fn end_calls_of_others<'a>(
        &'a self,
        mut guard: MutexGuard<'a, Inner<E>>,
        is_busy: impl Fn(&mut Inner<E>) -> bool,
    ) -> MutexGuard<'a, Inner<E>> {
        while let Some(others) = self.store.others().filter(|_| is_busy(&mut guard)) {
            drop(guard);
            others.end_calls();
            guard = self.lock();
        }
        guard
    }

    /// Returns whether a write of one of these games is under way.
    #[cfg(feature = "simulation")]
    pub fn is_any_written(&self, game_ids: &[GameId]) -> bool {
        let inner = self.lock();
        game_ids.iter().any(|game_id| inner.games.get(*game_id).is_some_and(OpenGame::is_being_written))
    }

    /// Wakes the threads that wait for a write, and publishes how far the games are.
    pub(super) fn settle(&self, inner: &mut Inner<E>) {
        self.deliver(inner);
        self.publish(inner);
        self.written.notify_all();
    }

    /// Counts finished games, in order, as far as they are on disk.
    fn deliver(&self, inner: &mut Inner<E>) {
        while let Some(is_stored) = inner.deliveries.front().and_then(|delivery| delivery.is_stored) {
            let Some(delivery) = inner.deliveries.pop_front() else { return };
            if !is_stored {
                continue;
            }
            inner.progress.last_finish_number = delivery.finish_number;
            let counters = match delivery.kind {
                GameKind::SelfPlay => &mut inner.progress.counters.self_play,
                GameKind::Gate => &mut inner.progress.counters.gate,
            };
            counters.add(delivery.ply_count, &delivery.result);
            match delivery.kind {
                GameKind::SelfPlay => {
                    let game = SampledGame { samples: &delivery.samples, is_cut_off: delivery.result.is_cut_off };
                    self.replay.push_game(delivery.finish_number, delivery.moves_hash, game);
                    inner.progress.finished_self_play_count += 1;
                }
                GameKind::Gate => inner.progress.finished_gate_count += 1,
            }
        }
    }

    fn publish(&self, inner: &mut Inner<E>) {
        inner.progress.open_self_play_count = inner.games.count(GameKind::SelfPlay) as u64;
        inner.progress.held_self_play_count = inner.games.holders(GameKind::SelfPlay).held_count() as u64;
        inner.progress.allowed_self_play_count = inner.self_play_allowed as u64;
        inner.progress.open_gate_count = inner.games.count(GameKind::Gate) as u64;
        self.progress.send_if_modified(|published| {
            let has_finished_one = published.last_finish_number != inner.progress.last_finish_number;
            *published = inner.progress;
            has_finished_one
        });
    }
}
