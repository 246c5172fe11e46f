//! Leases: who plays what, for how long.

use std::collections::BTreeMap;
use std::time::Instant;

use shared::encoding::Encoding;
use shared::game::Game;
use shared::ids::{GameId, NetworkId, NetworkRef};
use shared::search::SearchSettings;

use super::gate::Gate;
use super::open_game::{Claim, LeaseState, OpenGame};
use super::registry::Inner;
use super::{GameRegistry, RegistryError, mix_seed};
use crate::store::{Change, GameKind, NewGame};

/// Longest name of a worker, in bytes.
const WORKER_ID_BYTES_MAX: usize = 128;

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

/// What a worker gets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Leases {
    /// The games.
    pub leases: Vec<Lease>,
    /// What is awaited, if there are fewer than asked for.
    pub waiting_for: Option<&'static str>,
}

impl<E: Encoding> GameRegistry<E> {
    /// Leases up to `count` games of one kind: first those that nobody holds any more, oldest first, then new ones.
    /// New games are on disk when the call returns.
    ///
    /// # Errors
    /// [`RegistryError`] for an improper name, or if new games could not be stored.
    pub fn lease(&self, worker_id: &str, kind: GameKind, count: u32, now: Instant) -> Result<Leases, RegistryError> {
        check_worker_id(worker_id)?;
        let count = count.min(self.limits.leases_max) as usize;
        let mut inner = self.lock();
        let mut answer = Leases { leases: self.lease_open(&mut inner, worker_id, kind, count, now), waiting_for: None };
        let new_games = match kind {
            GameKind::SelfPlay => self.new_self_play_games(&mut inner, count - answer.leases.len()),
            GameKind::Gate => Vec::new(),
        };
        if answer.leases.len() + new_games.len() < count {
            answer.waiting_for = Some(awaited(&inner, kind));
        }
        if new_games.is_empty() {
            return Ok(answer);
        }
        let game_ids: Vec<GameId> = new_games.iter().map(|(game, _)| game.game_id).collect();
        for (new_game, search) in &new_games {
            answer.leases.push(self.insert_leased(&mut inner, new_game.clone(), search.clone(), worker_id, now));
        }
        let ack = self.store.submit(new_games.into_iter().map(|(game, _)| Change::CreateGame(game)).collect());
        drop(inner);
        let result = ack.and_then(crate::store::Ack::wait);
        self.end_creation(&game_ids, result.is_ok());
        result?;
        Ok(answer)
    }

    /// Renews leases, and returns the games that are no longer the worker's.
    ///
    /// # Errors
    /// [`RegistryError`] for an improper name.
    pub fn renew(&self, worker_id: &str, game_ids: &[GameId], now: Instant) -> Result<Vec<GameId>, RegistryError> {
        check_worker_id(worker_id)?;
        let until = now + self.limits.lease;
        let mut inner = self.lock();
        let Inner { games, gates, .. } = &mut *inner;
        let mut is_lost = |game_id: &GameId| {
            let game = games.get_mut(*game_id).filter(|game| !is_decided(gates, &game.game));
            game.is_none_or(|game| game.claim(worker_id, until) == Claim::Lost)
        };
        Ok(game_ids.iter().copied().filter(|game_id| is_lost(game_id)).collect())
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
        let until = now + self.limits.lease;
        let Inner { games, gates, progress, .. } = inner;
        let is_wanted =
            |game: &OpenGame<E>| game.game.kind == kind && game.is_available(now) && !is_on_hold(gates, game);
        let wanted = games.iter_mut().filter(|game| is_wanted(game)).take(count);
        wanted
            .map(|game| {
                if matches!(game.lease, LeaseState::Held { .. }) {
                    progress.counters.expired_lease_count += 1;
                    tracing::info!(
                        game_id = game.game.game_id.get(),
                        worker_id,
                        "lease ran out, another worker goes on"
                    );
                }
                game.lease = LeaseState::Held { worker_id: worker_id.to_owned(), until };
                lease_of(game)
            })
            .collect()
    }

    /// Makes up to `count` new self-play games, as far as plan and limit allow, each with its search settings.
    fn new_self_play_games(&self, inner: &mut Inner<E>, count: usize) -> Vec<(NewGame, SearchSettings)> {
        let Some(plan) = inner.self_play.clone() else { return Vec::new() };
        let open_count = inner.games.count(GameKind::SelfPlay);
        let planned = plan.game_count_max.map_or(u64::MAX, |max| max.saturating_sub(inner.planned_game_count));
        let count = (count as u64).min(planned).min(self.limits.open_games_max.saturating_sub(open_count) as u64);
        inner.planned_game_count += count;
        let new_game = |game_id: GameId| {
            let seed = mix_seed(self.run_seed, game_id.get());
            let start = start_of(self.encoding.game(), seed, plan.endgame_share);
            let search = plan.search_from(start.as_deref());
            let settings = serde_json::to_string(&search).expect("plain numbers can be written as JSON");
            let game = NewGame {
                game_id,
                kind: GameKind::SelfPlay,
                iteration: plan.iteration,
                pair_index: None,
                candidate_id: None,
                white_network: NetworkRef::Best,
                black_network: NetworkRef::Best,
                seed,
                settings,
                start,
                opening: Vec::new(),
            };
            (game, search)
        };
        (0..count).map(|_| new_game(inner.new_game_id())).collect()
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
        let mut game = OpenGame::creating(&self.encoding, new_game, search).expect("the game itself drew its start");
        game.lease = LeaseState::Held { worker_id: worker_id.to_owned(), until: now + self.limits.lease };
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
pub(crate) fn check_worker_id(worker_id: &str) -> Result<(), RegistryError> {
    let is_proper = (1..=WORKER_ID_BYTES_MAX).contains(&worker_id.len());
    if is_proper { Ok(()) } else { Err(RegistryError::WorkerId(worker_id.len())) }
}

/// Returns the random endgame from which the game of this seed begins, if it is one of those that do.
fn start_of<G: Game>(game: &G, seed: u64, endgame_share: f64) -> Option<String> {
    let drawn = mix_seed(seed ^ 0x0073_7461_7274, 0) as f64 / u64::MAX as f64;
    if drawn < endgame_share { game.random_endgame(mix_seed(seed ^ 0x0073_7461_7274, 1)) } else { None }
}

/// Returns whether the game belongs to a gate that needs no more games.
pub(super) fn is_decided(gates: &BTreeMap<NetworkId, Gate>, game: &NewGame) -> bool {
    let gate = game.candidate_id.and_then(|candidate_id| gates.get(&candidate_id));
    gate.is_some_and(|gate| gate.verdict().is_some())
}

/// Returns whether the game is a gate game that is not to be played: its gate is decided, or not begun yet.
fn is_on_hold<E: Encoding>(gates: &BTreeMap<NetworkId, Gate>, game: &OpenGame<E>) -> bool {
    game.game
        .candidate_id
        .is_some_and(|candidate_id| gates.get(&candidate_id).is_none_or(|gate| gate.verdict().is_some()))
}

fn awaited<E: Encoding>(inner: &Inner<E>, kind: GameKind) -> &'static str {
    match kind {
        GameKind::Gate if inner.gates.values().any(|gate| gate.verdict().is_none()) => "open gate games to finish",
        GameKind::Gate => "the next candidate",
        GameKind::SelfPlay if inner.self_play.is_none() => "self-play to begin",
        GameKind::SelfPlay => "open self-play games to finish",
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
