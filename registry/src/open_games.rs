//! All games that go on, with what must be found without looking at each: how many there are, which are free, when the
//! next lease ends, who holds how many.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use shared::encoding::Encoding;
use shared::ids::{GameId, NetworkId, NetworkRef};
use store::{GameKind, NewGame};

use super::holders::Holders;
use super::open_game::{Claim, LeaseState, OpenGame};

/// How long leases last.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeaseTerms {
    /// Without a sign of life.
    pub(super) lease: Duration,
    /// Without a ply, whatever else the worker says.
    pub(super) idle: Duration,
}

impl LeaseTerms {
    /// Returns the lease that a worker gets now.
    pub(super) fn lease_of(&self, worker_id: &str, now: Instant) -> LeaseState {
        LeaseState::Held { worker_id: worker_id.to_owned(), until: now + self.lease, idle_until: now + self.idle }
    }
}

/// The open games by their ids. Their leases change here alone.
pub(super) struct OpenGames<E: Encoding> {
    games: BTreeMap<GameId, OpenGame<E>>,
    /// Games that nobody holds, oldest first.
    free: BTreeMap<GamePool, BTreeSet<GameId>>,
    /// Games that are held, by the end of their leases.
    deadlines: BTreeSet<(Instant, GameId)>,
    gates: BTreeMap<NetworkId, BTreeSet<GameId>>,
    self_play_count: usize,
    gate_count: usize,
    self_play_holders: Holders,
    gate_holders: Holders,
}

impl<E: Encoding> Default for OpenGames<E> {
    fn default() -> Self {
        Self {
            games: BTreeMap::new(),
            free: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            gates: BTreeMap::new(),
            self_play_count: 0,
            gate_count: 0,
            self_play_holders: Holders::default(),
            gate_holders: Holders::default(),
        }
    }
}

impl<E: Encoding> OpenGames<E> {
    /// Returns the number of games of a kind.
    pub(super) const fn count(&self, kind: GameKind) -> usize {
        match kind {
            GameKind::SelfPlay => self.self_play_count,
            GameKind::Gate => self.gate_count,
        }
    }

    /// Returns who holds games of a kind.
    pub(super) const fn holders(&self, kind: GameKind) -> &Holders {
        match kind {
            GameKind::SelfPlay => &self.self_play_holders,
            GameKind::Gate => &self.gate_holders,
        }
    }

    /// Returns who holds games of a kind, to be changed as plies come.
    pub(super) const fn holders_mut(&mut self, kind: GameKind) -> &mut Holders {
        match kind {
            GameKind::SelfPlay => &mut self.self_play_holders,
            GameKind::Gate => &mut self.gate_holders,
        }
    }

    /// Adds a game, whose id must be new.
    pub(super) fn insert(&mut self, game: OpenGame<E>) {
        let game_id = game.game.game_id;
        *self.count_mut(game.game.kind) += 1;
        if let Some(candidate_id) = game.game.gate_candidate() {
            self.gates.entry(candidate_id).or_default().insert(game_id);
        }
        self.index(&GameKey::of(&game), game.lease());
        self.games.insert(game_id, game);
    }

    /// Takes a game out.
    pub(super) fn remove(&mut self, game_id: GameId) -> Option<OpenGame<E>> {
        let game = self.games.remove(&game_id)?;
        *self.count_mut(game.game.kind) -= 1;
        if let Some(candidate_id) = game.game.gate_candidate() {
            remove_from(&mut self.gates, &candidate_id, game_id);
        }
        self.unindex(&GameKey::of(&game), game.lease());
        Some(game)
    }

    /// Returns a game.
    pub(super) fn get(&self, game_id: GameId) -> Option<&OpenGame<E>> {
        self.games.get(&game_id)
    }

    /// Returns a game, to be played on.
    pub(super) fn get_mut(&mut self, game_id: GameId) -> Option<&mut OpenGame<E>> {
        self.games.get_mut(&game_id)
    }

    /// Returns the ids of the games of a candidate's gate.
    pub(super) fn ids_of_gate(&self, candidate_id: NetworkId) -> Vec<GameId> {
        self.gates.get(&candidate_id).into_iter().flatten().copied().collect()
    }

    /// Returns the networks of all games of gates and yardsticks.
    pub(super) fn networks_of_gates(&self) -> BTreeSet<NetworkId> {
        let of_gates = self.games.values().filter(|game| game.game.kind == GameKind::Gate);
        let networks = of_gates.flat_map(|game| [game.game.white_network, game.game.black_network]);
        networks
            .filter_map(|network| if let NetworkRef::Id(network_id) = network { Some(network_id) } else { None })
            .collect()
    }

    /// Frees all games of gates and yardsticks that a worker has.
    pub(super) fn free_gate_games_of(&mut self, worker_id: &str) {
        let is_theirs =
            |game: &&OpenGame<E>| game.game.kind == GameKind::Gate && game.lease().holder() == Some(worker_id);
        let theirs: Vec<GameId> = self.games.values().filter(is_theirs).map(|game| game.game.game_id).collect();
        for game_id in theirs {
            self.set_lease(game_id, LeaseState::Free);
        }
    }

    /// Returns up to `count` games of a pool, oldest first, that nobody holds or writes.
    pub(super) fn free_ids(&self, pool: GamePool, count: usize) -> Vec<GameId> {
        let is_written = |game_id: &&GameId| self.games.get(game_id).is_some_and(|game| !game.is_being_written());
        let free = self.free.get(&pool).into_iter().flatten();
        free.filter(is_written).take(count).copied().collect()
    }

    /// Ends the leases that have run out. Their games are free, but still their holders' as long as nobody takes them.
    pub(super) fn expire(&mut self, now: Instant) {
        while let Some((_, game_id)) = self.deadlines.first().copied().filter(|(until, _)| *until <= now) {
            let Some(game) = self.games.get(&game_id) else { return };
            let LeaseState::Held { worker_id, idle_until, .. } = game.lease().clone() else { return };
            let kind = game.game.kind;
            self.holders_mut(kind).note_expiry(&worker_id);
            self.set_lease(game_id, LeaseState::Expired { worker_id, idle_until });
        }
    }

    /// Renews the lease of `worker_id` if it holds the game, but for a game that was not played for too long: that is free.
    pub(super) fn renew(&mut self, game_id: GameId, worker_id: &str, now: Instant, terms: &LeaseTerms) -> Claim {
        let Some(idle_until) = self.idle_until(game_id, worker_id, now, terms) else { return Claim::Lost };
        if idle_until <= now {
            self.set_lease(game_id, LeaseState::Free);
            return Claim::Lost;
        }
        let until = idle_until.min(now + terms.lease);
        self.set_lease(game_id, LeaseState::Held { worker_id: worker_id.to_owned(), until, idle_until });
        Claim::Held
    }

    /// Lets a worker that holds the game report a ply of it. It is not too late while nobody else has taken the game.
    pub(super) fn claim(&mut self, game_id: GameId, worker_id: &str, now: Instant, terms: &LeaseTerms) -> Claim {
        let Some(idle_until) = self.idle_until(game_id, worker_id, now, terms) else { return Claim::Lost };
        let until = idle_until.min(now + terms.lease);
        self.set_lease(game_id, LeaseState::Held { worker_id: worker_id.to_owned(), until, idle_until });
        Claim::Held
    }

    /// Notes a ply that a worker played: its lease begins anew.
    pub(super) fn note_ply(&mut self, game_id: GameId, worker_id: &str, now: Instant, terms: &LeaseTerms) {
        self.set_lease(game_id, terms.lease_of(worker_id, now));
        if let Some(kind) = self.games.get(&game_id).map(|game| game.game.kind) {
            self.holders_mut(kind).note_ply(worker_id);
        }
    }

    /// Returns how long a worker may hold a game without a ply; `None` if it does not hold it.
    fn idle_until(&self, game_id: GameId, worker_id: &str, now: Instant, terms: &LeaseTerms) -> Option<Instant> {
        match self.games.get(&game_id)?.lease() {
            LeaseState::Unclaimed { worker_id: holder } => {
                (holder.as_deref() == Some(worker_id)).then(|| now + terms.idle)
            }
            LeaseState::Held { worker_id: holder, idle_until, .. }
            | LeaseState::Expired { worker_id: holder, idle_until } => (holder == worker_id).then_some(*idle_until),
            LeaseState::Free => None,
        }
    }

    /// Changes who holds a game. Returns whose it was.
    pub(super) fn set_lease(&mut self, game_id: GameId, lease: LeaseState) -> Option<LeaseState> {
        let game = self.games.get_mut(&game_id)?;
        let (key, before) = (GameKey::of(game), game.set_lease(lease.clone()));
        self.unindex(&key, &before);
        self.index(&key, &lease);
        Some(before)
    }

    fn index(&mut self, key: &GameKey, lease: &LeaseState) {
        match lease {
            LeaseState::Held { worker_id, until, .. } => {
                self.deadlines.insert((*until, key.game_id));
                self.holders_mut(key.kind).hold(worker_id);
            }
            LeaseState::Unclaimed { .. } | LeaseState::Expired { .. } | LeaseState::Free => {
                self.free.entry(key.pool).or_default().insert(key.game_id);
            }
        }
    }

    fn unindex(&mut self, key: &GameKey, lease: &LeaseState) {
        match lease {
            LeaseState::Held { worker_id, until, .. } => {
                self.deadlines.remove(&(*until, key.game_id));
                self.holders_mut(key.kind).let_go(worker_id);
            }
            LeaseState::Unclaimed { .. } | LeaseState::Expired { .. } | LeaseState::Free => {
                remove_from(&mut self.free, &key.pool, key.game_id);
            }
        }
    }

    const fn count_mut(&mut self, kind: GameKind) -> &mut usize {
        match kind {
            GameKind::SelfPlay => &mut self.self_play_count,
            GameKind::Gate => &mut self.gate_count,
        }
    }
}

/// Games that wait for a worker together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GamePool {
    /// Those to learn from.
    SelfPlay,
    /// Those of this candidate's gate.
    Gate(NetworkId),
    /// Those that measure best networks against earlier ones.
    Yardstick,
}

impl GamePool {
    fn of(game: &NewGame) -> Self {
        match game.gate_candidate() {
            Some(candidate_id) => Self::Gate(candidate_id),
            None if game.is_yardstick() => Self::Yardstick,
            None => Self::SelfPlay,
        }
    }
}

/// What a game is found by.
struct GameKey {
    game_id: GameId,
    kind: GameKind,
    pool: GamePool,
}

impl GameKey {
    fn of<E: Encoding>(game: &OpenGame<E>) -> Self {
        let game = &game.game;
        Self { game_id: game.game_id, kind: game.kind, pool: GamePool::of(game) }
    }
}

/// Removes a game from the set of its key, and the set with its last game.
fn remove_from<K: Ord>(sets: &mut BTreeMap<K, BTreeSet<GameId>>, key: &K, game_id: GameId) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(&game_id);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
