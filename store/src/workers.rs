//! Workers in the store: who they are, which games they had, and taking the games of one out of the run.

use std::collections::HashMap;

use rusqlite::{Connection, params};
use shared::ids::{GameId, NetworkId};

use super::columns::Column;
use super::statement::{NOW, execute};
use super::{Reader, StoreError, WorkerRow};

/// What became of the games of a worker that were taken out, or put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetAside {
    /// Finished self-play games.
    pub self_play_count: u64,
    /// Finished games of gates and yardsticks.
    pub gate_count: u64,
    /// Games that were not over.
    pub open_count: u64,
}

/// A worker got a game of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateLease {
    /// The game.
    pub game_id: GameId,
    /// Who got it.
    pub worker_id: String,
    /// Plies that the game had then, its opening included.
    pub ply: u32,
}

/// Notes a worker with its key; of one that is known, the key that is stored first counts.
pub(super) fn add_worker(connection: &Connection, worker: &WorkerRow) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO workers (worker_id, kind, key_sha256, first_seen_at) VALUES (?1, ?2, ?3, {NOW})
         ON CONFLICT (worker_id) DO UPDATE SET kind = excluded.kind, key_sha256 = coalesce(key_sha256, excluded.key_sha256)"
    );
    execute(connection, &sql, params![worker.worker_id, worker.kind, worker.key_sha256]).map(drop)
}

/// Notes that a worker has a game from this ply on.
pub(super) fn lease_game(
    connection: &Connection,
    game_id: GameId,
    worker_id: &str,
    ply: u32,
) -> Result<(), StoreError> {
    let sql = format!("INSERT OR IGNORE INTO workers (worker_id, first_seen_at) VALUES (?1, {NOW})");
    execute(connection, &sql, [worker_id])?;
    let sql = "INSERT INTO leases (game_id, worker_number, ply)
               SELECT ?1, worker_number, ?2 FROM workers WHERE worker_id = ?3";
    execute(connection, sql, params![Column(game_id), ply, worker_id]).map(drop)
}

/// Takes all games that a worker had, finished or open, out of the run.
pub(super) fn set_aside(connection: &Connection, worker_id: &str) -> Result<(), StoreError> {
    let sql = "INSERT INTO set_aside
               SELECT DISTINCT games.game_id, worker_number, games.state, finish_number, result
               FROM leases JOIN workers USING (worker_number) JOIN games USING (game_id)
               WHERE worker_id = ?1 AND games.state IN ('open', 'finished')";
    execute(connection, sql, [worker_id])?;
    let sql = "UPDATE games
               SET state = 'quarantined', finish_number = NULL, result = NULL, reason = 'of the worker ' || ?1
               WHERE state IN ('open', 'finished') AND game_id IN
                   (SELECT game_id FROM set_aside JOIN workers USING (worker_number) WHERE worker_id = ?1)";
    execute(connection, sql, [worker_id]).map(drop)
}

/// Puts the games of a worker that were set aside back into the run, as they were.
pub(super) fn put_back(connection: &Connection, worker_id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE games SET state = aside.state, finish_number = aside.finish_number, result = aside.result, reason = NULL
               FROM set_aside AS aside JOIN workers USING (worker_number)
               WHERE games.game_id = aside.game_id AND worker_id = ?1 AND games.state = 'quarantined'";
    execute(connection, sql, [worker_id])?;
    let sql = "DELETE FROM set_aside WHERE worker_number = (SELECT worker_number FROM workers WHERE worker_id = ?1)";
    execute(connection, sql, [worker_id]).map(drop)
}

impl Reader {
    /// Returns the SHA-256 of the key under which a worker joined first; `None` if there is no such worker.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn worker_key_sha256(&self, worker_id: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT key_sha256 FROM workers WHERE worker_id = ?1";
        Ok(self.list(sql, [worker_id], |row| row.get(0))?.pop().flatten())
    }

    /// Returns the worker of each open game that had one: the last that got it.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn open_game_holders(&self) -> Result<HashMap<GameId, String>, StoreError> {
        let sql = "SELECT game_id, worker_id FROM leases JOIN workers USING (worker_number)
                   WHERE lease_number IN (SELECT max(lease_number) FROM leases JOIN games USING (game_id)
                                          WHERE games.state = 'open' GROUP BY game_id)";
        let holders = self.list(sql, [], |row| Ok((row.get::<_, Column<GameId>>(0)?.0, row.get(1)?)))?;
        Ok(holders.into_iter().collect())
    }

    /// Returns who got the games of a candidate's gate, in the order in which they did.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn gate_leases(&self, candidate_id: NetworkId) -> Result<Vec<GateLease>, StoreError> {
        let sql = "SELECT game_id, worker_id, ply
                   FROM games JOIN leases USING (game_id) JOIN workers USING (worker_number)
                   WHERE candidate_id = ?1 AND opponent_id IS NULL ORDER BY lease_number";
        self.list(sql, [Column(candidate_id)], |row| {
            Ok(GateLease { game_id: row.get::<_, Column<_>>(0)?.0, worker_id: row.get(1)?, ply: row.get(2)? })
        })
    }

    /// Returns whether a worker of this name ever had a game or joined.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn has_worker(&self, worker_id: &str) -> Result<bool, StoreError> {
        Ok(!self.list("SELECT 1 FROM workers WHERE worker_id = ?1", [worker_id], |_| Ok(()))?.is_empty())
    }

    /// Returns how many games of a worker are set aside.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn set_aside_count(&self, worker_id: &str) -> Result<SetAside, StoreError> {
        let sql = "SELECT coalesce(sum(aside.state = 'finished' AND kind = 'self_play'), 0),
                       coalesce(sum(aside.state = 'finished' AND kind = 'gate'), 0),
                       coalesce(sum(aside.state = 'open'), 0)
                   FROM set_aside AS aside JOIN games USING (game_id)
                   WHERE worker_number = (SELECT worker_number FROM workers WHERE worker_id = ?1)";
        let count = |row: &rusqlite::Row<'_>, column| row.get::<_, i64>(column).map(i64::cast_unsigned);
        let counts = self.list(sql, [worker_id], |row| {
            Ok(SetAside { self_play_count: count(row, 0)?, gate_count: count(row, 1)?, open_count: count(row, 2)? })
        })?;
        Ok(counts.first().copied().unwrap_or_default())
    }

    /// Returns the candidates that were promoted by gates in which a worker has games set aside.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn promotions_with_set_aside(&self, worker_id: &str) -> Result<u64, StoreError> {
        let sql = "SELECT count(DISTINCT candidate_id) FROM set_aside AS aside JOIN games USING (game_id)
                       JOIN networks ON network_id = candidate_id
                   WHERE opponent_id IS NULL AND networks.generation IS NOT NULL AND worker_number =
                       (SELECT worker_number FROM workers WHERE worker_id = ?1)";
        Ok(self.list(sql, [worker_id], |row| row.get::<_, i64>(0))?.first().map_or(0, |count| count.cast_unsigned()))
    }
}
