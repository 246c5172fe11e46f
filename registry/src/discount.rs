//! Taking the games of a worker out of a gate that is not decided: others play them again.

use std::collections::BTreeSet;
use std::time::Instant;

use shared::encoding::Encoding;
use shared::ids::{GameId, NetworkId};
use store::{Change, GameState, NewGame};

use super::barred::{Bar, BarEnd};
use super::gate::count_stored;
use super::{GameRegistry, RegistryError};

impl<E: Encoding> GameRegistry<E> {
    /// Takes all games out of a gate that a worker had, even for a part of them, finished or open, and puts new ones in
    /// their place. The worker gets no more games of gates and yardsticks as long as `bar` says. Returns how many games
    /// there were.
    ///
    /// # Errors
    /// [`RegistryError::UnknownGate`], or [`RegistryError::Store`]: nothing is changed then.
    pub fn discount_gate_games(
        &self,
        candidate_id: NetworkId,
        worker_id: &str,
        reason: &str,
        bar: Bar,
        now: Instant,
    ) -> Result<usize, RegistryError> {
        let mut inner = self.lock_gate(candidate_id);
        let leases = inner.reader.gate_leases(candidate_id)?.into_iter();
        let had: BTreeSet<GameId> =
            leases.filter(|lease| lease.worker_id == worker_id).map(|lease| lease.game_id).collect();
        let mut games = inner.reader.gate_games(candidate_id)?;
        games.retain(|game| {
            had.contains(&game.game.game_id) && matches!(game.state, GameState::Open | GameState::Finished)
        });
        let gate = inner.gates.get(&candidate_id).ok_or(RegistryError::UnknownGate(candidate_id))?;
        let search = gate.search().clone();
        let again: Vec<NewGame> =
            games.iter().map(|game| NewGame { game_id: inner.new_game_id(), ..game.game.clone() }).collect();
        let quarantine = |game_id| Change::QuarantineGame { game_id, reason: reason.to_owned() };
        let mut changes: Vec<Change> = games.iter().map(|game| quarantine(game.game.game_id)).collect();
        changes.extend(again.iter().cloned().map(Change::CreateGame));
        // The lock is held until they are on disk: nobody can play a game that does not exist yet.
        self.store.write(changes)?;
        let end = match bar {
            Bar::UntilRestart => BarEnd::Restart,
            Bar::Pause => BarEnd::At(now + self.limits.pause),
        };
        inner.barred.bar(worker_id, end, now);
        inner.games.free_gate_games_of(worker_id);
        for game in &games {
            inner.games.remove(game.game.game_id);
        }
        for game in again {
            self.insert_paired_game(&mut inner, game, search.clone());
        }
        let stored = inner.reader.gate_games(candidate_id)?;
        if let Some(gate) = inner.gates.get_mut(&candidate_id) {
            gate.begin_anew();
            count_stored(gate, &stored);
        }
        inner.progress.counters.quarantined_game_count += games.len() as u64;
        self.settle(&mut inner);
        Ok(games.len())
    }
}
