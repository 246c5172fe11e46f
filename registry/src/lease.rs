//! Leases: who plays what, for how long.

use std::collections::BTreeMap;
use std::time::Instant;

use shared::encoding::Encoding;
use shared::ids::{GameId, NetworkId, NetworkRef};
use shared::search::SearchSettings;
use shared::seed::mix_seed;
use shared::wire::RENEWED_GAME_COUNT_MAX;
use store::{Ack, Change, GameKind, NewGame, StoreError, WorkerRow};

use super::barred::BarEnd;
use super::gate::Gate;
use super::grants::{LeafLoad, games_allowed};
use super::holders::{GrantBounds, Withheld};
use super::open_game::{Claim, LeaseState, OpenGame};
use super::open_games::GamePool;
use super::registry::Inner;
use super::{GameRegistry, RegistryError};

/// Longest name of a worker, in bytes.
const WORKER_ID_BYTES_MAX: usize = 128;

/// What a worker waits for whose gate games were found not to be searched.
const BARRED: &str = "another evaluator: the gate games of this one were not played by search (docs/security.md)";
/// What one waits for that was refuted together with others alone.
const PAUSED: &str =
    "the end of a pause: the gate games of this evaluator and others were not played by search (docs/security.md)";

/// A game given to a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Lease {
    /// The game.
    pub game_id: GameId,
    /// What it is played for.
    pub kind: GameKind,
    /// Network of White.
    pub white_network: NetworkRef,
    /// Network of Black.
    pub black_network: NetworkRef,
    /// Seed of the search.
    pub seed: u64,
    /// How it is searched.
    pub search: SearchSettings,
    /// The position that the game began from; `None`: the initial one.
    pub start: Option<String>,
    /// The moves played so far, the opening included.
    pub moves: Vec<String>,
    /// How many of `moves` are the opening.
    pub opening_ply_count: u32,
}

/// A worker that asks for games.
#[derive(Debug, Clone, Copy)]
pub struct LeaseRequester<'a> {
    /// The worker.
    pub worker_id: &'a str,
    /// What it plays.
    pub kind: GameKind,
    /// The worker with its key, if it has had no game before.
    pub new: Option<&'a WorkerRow>,
}

/// What a worker gets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Leases {
    /// The games.
    pub leases: Vec<Lease>,
    /// What is awaited, if there are fewer than asked for.
    pub waiting_for: Option<&'static str>,
    /// Whether there are fewer because the worker may not have more for now.
    pub is_withheld: bool,
}

/// Leases that are on their way to the disk.
#[must_use = "nobody has the games before it is finished"]
pub struct LeasesUnderWay {
    worker_id: String,
    answer: Leases,
    /// Games that are new.
    created: Vec<GameId>,
    /// Games that were there.
    passed_on: Vec<GameId>,
    /// `None` if there is nothing to be stored.
    ack: Option<Result<Ack, StoreError>>,
}

impl LeasesUnderWay {
    /// Returns the answer to a worker that gets no game: nothing is to be stored.
    fn none(answer: Leases) -> Self {
        Self { worker_id: String::new(), answer, created: Vec::new(), passed_on: Vec::new(), ack: None }
    }

    /// Returns the worker, if it gets a game.
    #[must_use]
    pub fn receiver(&self) -> Option<&str> {
        self.ack.is_some().then_some(&self.worker_id)
    }

    /// Returns what the worker gets if it can be stored.
    #[cfg(feature = "simulation")]
    pub fn answer(&self) -> &Leases {
        &self.answer
    }
}

impl<E: Encoding> GameRegistry<E> {
    /// Leases up to `count` games of one kind, as many as the worker may have: first those that nobody holds any more,
    /// oldest first, then new ones. New games, and who has which, are on disk when the call returns.
    ///
    /// # Errors
    /// [`RegistryError`] for an improper name, or if new games could not be stored.
    pub fn lease(&self, worker_id: &str, kind: GameKind, count: u32, now: Instant) -> Result<Leases, RegistryError> {
        self.finish_lease(self.begin_lease(&LeaseRequester { worker_id, kind, new: None }, count, now)?)
    }

    /// Chooses or makes the games, and queues what is to be stored.
    ///
    /// # Errors
    /// As [`Self::lease`].
    pub fn begin_lease(
        &self,
        requester: &LeaseRequester<'_>,
        count: u32,
        now: Instant,
    ) -> Result<LeasesUnderWay, RegistryError> {
        let LeaseRequester { worker_id, kind, new } = *requester;
        check_worker_id(worker_id)?;
        let asked = count.min(self.limits.leases_max) as usize;
        let mut inner = self.lock();
        inner.games.expire(now);
        if kind == GameKind::Gate
            && let Some(end) = inner.barred.end_for(worker_id, now)
        {
            let waiting_for = Some(if end == BarEnd::Restart { BARRED } else { PAUSED });
            return Ok(LeasesUnderWay::none(Leases { waiting_for, ..Leases::default() }));
        }
        let bounds = self.grant_bounds(&inner, kind);
        let grant = inner.games.holders_mut(kind).grant(worker_id, asked, &bounds, now);
        let leases = self.lease_open(&mut inner, worker_id, kind, grant.count, now);
        let new_games = match kind {
            GameKind::SelfPlay => self.new_self_play_games(&mut inner, grant.count - leases.len())?,
            GameKind::Gate => Vec::new(),
        };
        let mut answer = Leases { leases, ..Leases::default() };
        let lease_count = answer.leases.len() + new_games.len();
        if lease_count < asked {
            let withheld = grant.withheld.filter(|_| lease_count == grant.count);
            answer.is_withheld = withheld.is_some();
            answer.waiting_for = Some(awaited(&inner, kind, withheld));
        }
        if lease_count == 0 {
            return Ok(LeasesUnderWay::none(answer));
        }
        let worker_id = worker_id.to_owned();
        let passed_on: Vec<GameId> = answer.leases.iter().map(|lease| lease.game_id).collect();
        let created: Vec<GameId> = new_games.iter().map(|(game, _)| game.game_id).collect();
        for (new_game, search) in &new_games {
            answer.leases.push(self.insert_leased(&mut inner, new_game.clone(), search.clone(), &worker_id, now));
        }
        // A worker is stored with its first game: a name alone costs nothing.
        let mut changes: Vec<Change> = new.cloned().map(Change::AddWorker).into_iter().collect();
        changes.extend(new_games.into_iter().map(|(game, _)| Change::CreateGame(game)));
        changes.extend(answer.leases.iter().map(|lease| Change::LeaseGame {
            game_id: lease.game_id,
            worker_id: worker_id.clone(),
            ply: lease.moves.len() as u32,
        }));
        let ack = Some(self.store.submit(changes));
        Ok(LeasesUnderWay { worker_id, answer, created, passed_on, ack })
    }

    /// Waits until leases are on disk.
    ///
    /// # Errors
    /// As [`Self::lease`].
    pub fn finish_lease(&self, leases: LeasesUnderWay) -> Result<Leases, RegistryError> {
        let LeasesUnderWay { worker_id, answer, created, passed_on, ack } = leases;
        let Some(ack) = ack else { return Ok(answer) };
        let result = ack.and_then(Ack::wait);
        self.end_creation(&created, result.is_ok());
        if result.is_err() {
            self.give_back(&passed_on, &worker_id);
        }
        result?;
        Ok(answer)
    }

    /// Frees games whose new worker is not on disk.
    fn give_back(&self, game_ids: &[GameId], worker_id: &str) {
        let mut inner = self.lock();
        for game_id in game_ids {
            let is_held = |game: &OpenGame<E>| matches!(game.lease(), LeaseState::Held { worker_id: holder, .. } if holder == worker_id);
            if inner.games.get(*game_id).is_some_and(is_held) {
                inner.games.set_lease(*game_id, LeaseState::Free);
            }
        }
    }

    /// Renews leases, and returns the games that are no longer the worker's: taken by another, closed, or held without a
    /// ply for too long.
    ///
    /// # Errors
    /// [`RegistryError`] for an improper name, or more games than [`RENEWED_GAME_COUNT_MAX`].
    pub fn renew(&self, worker_id: &str, game_ids: &[GameId], now: Instant) -> Result<Vec<GameId>, RegistryError> {
        check_worker_id(worker_id)?;
        // Before the lock is taken: nobody waits for a call that is refused.
        if game_ids.len() > RENEWED_GAME_COUNT_MAX {
            return Err(RegistryError::TooManyLeases { count: game_ids.len(), max: RENEWED_GAME_COUNT_MAX });
        }
        let terms = self.limits.lease_terms();
        let mut inner = self.lock();
        let Inner { games, gates, .. } = &mut *inner;
        let mut is_lost = |game_id: &GameId| {
            let is_open = games.get(*game_id).is_some_and(|game| !is_decided(gates, &game.game));
            !is_open || games.renew(*game_id, worker_id, now, &terms) == Claim::Lost
        };
        Ok(game_ids.iter().copied().filter(|game_id| is_lost(game_id)).collect())
    }

    /// Decides anew how many self-play games workers may hold, from what the inference thread measured.
    pub fn note_load(&self, load: &LeafLoad) {
        let mut inner = self.lock();
        let held = inner.games.holders(GameKind::SelfPlay).held_shares();
        inner.self_play_allowed = games_allowed(inner.self_play_allowed, &held, load, &self.limits.grants);
    }

    /// Returns what bounds a worker's games.
    fn grant_bounds(&self, inner: &Inner<E>, kind: GameKind) -> GrantBounds {
        let held_max = match kind {
            GameKind::SelfPlay => inner.self_play_allowed,
            GameKind::Gate => inner.games.count(GameKind::Gate),
        };
        GrantBounds { held_max, games_first: self.limits.grants.games_first, silence_max: self.limits.lease }
    }

    /// Leases open games that nobody holds.
    fn lease_open(
        &self,
        inner: &mut Inner<E>,
        worker_id: &str,
        kind: GameKind,
        count: usize,
        now: Instant,
    ) -> Vec<Lease> {
        let terms = self.limits.lease_terms();
        let Inner { games, gates, progress, .. } = inner;
        let pools: Vec<GamePool> = match kind {
            GameKind::SelfPlay => vec![GamePool::SelfPlay],
            // Nothing waits for the yardstick.
            GameKind::Gate if undecided(gates).next().is_none() => vec![GamePool::Yardstick],
            GameKind::Gate => undecided(gates).map(GamePool::Gate).collect(),
        };
        let (mut leases, mut expired_count) = (Vec::new(), 0);
        for pool in pools {
            for game_id in games.free_ids(pool, count - leases.len()) {
                let before = games.set_lease(game_id, terms.lease_of(worker_id, now));
                expired_count += u64::from(matches!(before, Some(LeaseState::Expired { .. })));
                leases.extend(games.get(game_id).map(lease_of));
            }
        }
        progress.counters.expired_lease_count += expired_count;
        if expired_count > 0
            && let Some(count) = self.expired.note(&(), expired_count, now)
        {
            tracing::info!(count, worker_id, "leases ran out, another worker goes on");
        }
        leases
    }

    /// Makes up to `count` new self-play games, as far as plan and limit allow, each with its search settings.
    fn new_self_play_games(
        &self,
        inner: &mut Inner<E>,
        count: usize,
    ) -> Result<Vec<(NewGame, SearchSettings)>, RegistryError> {
        let Some(plan) = inner.self_play.clone() else { return Ok(Vec::new()) };
        let open_count = inner.games.count(GameKind::SelfPlay);
        let planned = plan.game_count_max.map_or(u64::MAX, |max| max.saturating_sub(inner.planned_game_count));
        let count = (count as u64).min(planned).min(self.limits.open_games_max.saturating_sub(open_count) as u64);
        let mut new_game = || -> Result<(NewGame, SearchSettings), RegistryError> {
            let game_id = inner.new_game_id();
            let seed = mix_seed(self.run_seed, game_id.get());
            let start = plan.starts.draw(&self.encoding, &inner.reader, seed)?;
            let search = plan.search_from(start.position.as_deref());
            let settings = serde_json::to_string(&search).expect("plain numbers can be written as JSON");
            let game = NewGame {
                start: start.position,
                opening: start.opening,
                ..NewGame::self_play(game_id, plan.iteration, seed, settings)
            };
            Ok((game, search))
        };
        let games = (0..count).map(|_| new_game()).collect::<Result<Vec<_>, _>>()?;
        // Games whose start could not be drawn were not made.
        inner.planned_game_count += count;
        Ok(games)
    }

    /// Puts a new game among the open ones, leased, while it is on its way to the disk.
    fn insert_leased(
        &self,
        inner: &mut Inner<E>,
        new_game: NewGame,
        search: SearchSettings,
        worker_id: &str,
        now: Instant,
    ) -> Lease {
        let mut game =
            OpenGame::creating(&self.encoding, new_game, search).expect("the start was drawn so that the game goes on");
        game.set_lease(self.limits.lease_terms().lease_of(worker_id, now));
        let lease = lease_of(&game);
        inner.games.insert(game);
        lease
    }

    /// Ends the creation of games: they stay if they are on disk.
    fn end_creation(&self, game_ids: &[GameId], is_stored: bool) {
        let mut inner = self.lock();
        for game_id in game_ids {
            if !is_stored {
                inner.games.remove(*game_id);
            } else if let Some(game) = inner.games.get_mut(*game_id) {
                game.end_write(&self.encoding, true);
            }
        }
        if !is_stored {
            inner.planned_game_count = inner.planned_game_count.saturating_sub(game_ids.len() as u64);
            inner.progress.counters.failed_write_count += 1;
        }
        self.settle(&mut inner);
    }
}

/// Checks the name of a worker.
///
/// # Errors
/// [`RegistryError::WorkerId`] unless it has 1 to 128 bytes, [`RegistryError::WorkerIdText`] unless all are visible ASCII.
pub fn check_worker_id(worker_id: &str) -> Result<(), RegistryError> {
    if !(1..=WORKER_ID_BYTES_MAX).contains(&worker_id.len()) {
        return Err(RegistryError::WorkerId(worker_id.len()));
    }
    if worker_id.bytes().all(|byte| byte.is_ascii_graphic()) { Ok(()) } else { Err(RegistryError::WorkerIdText) }
}

/// Returns whether the game belongs to a gate that needs no more games.
pub(super) fn is_decided(gates: &BTreeMap<NetworkId, Gate>, game: &NewGame) -> bool {
    let gate = game.gate_candidate().and_then(|candidate_id| gates.get(&candidate_id));
    gate.is_some_and(|gate| gate.verdict().is_some())
}

/// Returns the candidates whose gates need games.
fn undecided(gates: &BTreeMap<NetworkId, Gate>) -> impl Iterator<Item = NetworkId> {
    gates.iter().filter(|(_, gate)| gate.verdict().is_none()).map(|(candidate_id, _)| *candidate_id)
}

fn awaited<E: Encoding>(inner: &Inner<E>, kind: GameKind, withheld: Option<Withheld>) -> &'static str {
    match (kind, withheld) {
        (_, Some(Withheld::PliesFirst)) => "plies of the games that this worker has: it gets more as it plays them",
        (_, Some(Withheld::Refused)) => "a pause: plies of this worker were refused",
        (GameKind::SelfPlay, Some(Withheld::FairShare)) => "the learner: it has as many leaves as it can answer",
        (GameKind::Gate, _) if undecided(&inner.gates).next().is_some() => "open gate games to finish",
        (GameKind::Gate, _) => "the next candidate",
        (GameKind::SelfPlay, None) if inner.self_play.is_none() => "self-play to begin",
        (GameKind::SelfPlay, None) => "open self-play games to finish",
    }
}

fn lease_of<E: Encoding>(game: &OpenGame<E>) -> Lease {
    Lease {
        game_id: game.game.game_id,
        kind: game.game.kind,
        white_network: game.game.white_network,
        black_network: game.game.black_network,
        seed: game.game.seed,
        search: game.search.clone(),
        start: game.game.start.clone(),
        moves: game.plies().iter().map(|ply| ply.move_text.clone()).collect(),
        opening_ply_count: game.game.opening.len() as u32,
    }
}
