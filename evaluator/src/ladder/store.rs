//! The ladder's tables in the store of a run (`docs/store.md`). The learner may have it open meanwhile.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use rusqlite::{Connection, OpenFlags, params};
use shared::gate::GateScore;

/// Name of the database file in a run directory.
const DATABASE_FILE: &str = "alveare.db";
/// How long a statement waits while the learner writes.
const BUSY_WAIT: Duration = Duration::from_secs(30);

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS ladder_players (
    player_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE IF NOT EXISTS ladder_matches (
    match_id INTEGER PRIMARY KEY,
    first_player_id INTEGER NOT NULL REFERENCES ladder_players,
    second_player_id INTEGER NOT NULL REFERENCES ladder_players,
    wins INTEGER NOT NULL CHECK (wins >= 0),
    draws INTEGER NOT NULL CHECK (draws >= 0),
    losses INTEGER NOT NULL CHECK (losses >= 0),
    game_type TEXT NOT NULL,
    opening_plies INTEGER NOT NULL,
    ply_limit INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    finished_at TEXT NOT NULL,
    UNIQUE (first_player_id, second_player_id, game_type, opening_plies, ply_limit, seed),
    CHECK (first_player_id <> second_player_id)
) STRICT;";

/// What makes a match the same match again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchKey {
    /// UHP game type of Hive, or the name of another game.
    pub game_type: String,
    /// Random plies before the players begin.
    pub opening_plies: u32,
    /// Plies after which a game is a draw.
    pub ply_limit: u32,
    /// Seed of openings and players.
    pub seed: u64,
}

/// A match that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMatch {
    /// Names of the players.
    pub players: [String; 2],
    /// Its games, seen from the first.
    pub score: GateScore,
}

/// The open ladder of one run.
pub struct LadderStore(Connection);

impl LadderStore {
    /// Returns where the store in `run_dir` lies.
    #[must_use]
    pub fn file(run_dir: &Path) -> PathBuf {
        run_dir.join(DATABASE_FILE)
    }

    /// Opens the store in `run_dir`, which must be there, and makes the tables if need be.
    ///
    /// # Errors
    /// In one line, what is missing or what the database says.
    pub fn open(run_dir: &Path) -> anyhow::Result<Self> {
        let shown = run_dir.display();
        anyhow::ensure!(run_dir.is_dir(), "--run-dir: there is no folder {shown}");
        let opened = Connection::open(Self::file(run_dir)).and_then(|connection| {
            connection.busy_timeout(BUSY_WAIT)?;
            connection.execute_batch(TABLES)?;
            Ok(Self(connection))
        });
        opened.with_context(|| format!("--run-dir: open the store in {shown}"))
    }

    /// Opens the store in `run_dir` to read it; `None` if no match was ever kept there.
    ///
    /// # Errors
    /// In one line, what is missing or what the database says.
    pub fn open_to_read(run_dir: &Path) -> anyhow::Result<Option<Self>> {
        let file = Self::file(run_dir);
        anyhow::ensure!(file.is_file(), "--run-dir: there is no {}", file.display());
        let opened = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(|connection| {
            connection.busy_timeout(BUSY_WAIT)?;
            let is_kept = connection.table_exists(None, "ladder_matches")?;
            Ok(is_kept.then_some(Self(connection)))
        });
        opened.with_context(|| format!("--run-dir: open the store in {}", run_dir.display()))
    }

    /// Keeps a match. The same players with the same key again take the place of what they played before: with the
    /// same seed they may have played the same games.
    ///
    /// # Errors
    /// What the database says.
    pub fn record(&mut self, played: &StoredMatch, key: &MatchKey) -> anyhow::Result<()> {
        let StoredMatch { players: [first, second], score } = in_order(played);
        let transaction = self.0.transaction()?;
        for name in [&first, &second] {
            transaction.execute("INSERT OR IGNORE INTO ladder_players (name) VALUES (?1)", [name])?;
        }
        transaction.execute(
            "INSERT OR REPLACE INTO ladder_matches (first_player_id, second_player_id, wins, draws, losses,
                 game_type, opening_plies, ply_limit, seed, finished_at)
             SELECT a.player_id, b.player_id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')
             FROM ladder_players a, ladder_players b WHERE a.name = ?1 AND b.name = ?2",
            params![
                first,
                second,
                score.wins,
                score.draws,
                score.losses,
                key.game_type,
                key.opening_plies,
                key.ply_limit,
                key.seed.cast_signed(),
            ],
        )?;
        transaction.commit().context("write to the store")
    }

    /// Returns all matches of a game type, in the order in which they were kept.
    ///
    /// # Errors
    /// What the database says.
    pub fn matches(&self, game_type: &str) -> anyhow::Result<Vec<StoredMatch>> {
        let mut statement = self.0.prepare(
            "SELECT a.name, b.name, wins, draws, losses FROM ladder_matches
             JOIN ladder_players a ON a.player_id = first_player_id
             JOIN ladder_players b ON b.player_id = second_player_id
             WHERE game_type = ?1 ORDER BY match_id",
        )?;
        let rows = statement.query_map([game_type], |row| {
            let score = GateScore { wins: row.get(2)?, draws: row.get(3)?, losses: row.get(4)? };
            Ok(StoredMatch { players: [row.get(0)?, row.get(1)?], score })
        })?;
        rows.collect::<rusqlite::Result<_>>().context("read the ladder")
    }
}

/// Returns the match with its players in the order of their names: who was named first makes no other match.
fn in_order(played: &StoredMatch) -> StoredMatch {
    let StoredMatch { players: [first, second], score } = played.clone();
    if first <= second {
        return StoredMatch { players: [first, second], score };
    }
    let score = GateScore { wins: score.losses, losses: score.wins, ..score };
    StoredMatch { players: [second, first], score }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u64) -> MatchKey {
        MatchKey { game_type: "Base+MLP".into(), opening_plies: 4, ply_limit: 200, seed }
    }

    fn played(players: [&str; 2], wins: u32, draws: u32, losses: u32) -> StoredMatch {
        StoredMatch { players: players.map(str::to_owned), score: GateScore { wins, draws, losses } }
    }

    #[test]
    fn matches_are_kept_and_the_same_match_again_replaces_itself() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = LadderStore::open(folder.path()).unwrap();
        store.record(&played(["random", "mcts:400"], 1, 2, 7), &key(1)).unwrap();
        store.record(&played(["mcts:400", "random"], 8, 2, 0), &key(1)).unwrap();
        store.record(&played(["mcts:400", "random"], 4, 0, 0), &key(u64::MAX)).unwrap();
        drop(store);
        let store = LadderStore::open(folder.path()).unwrap();
        let expected = [played(["mcts:400", "random"], 8, 2, 0), played(["mcts:400", "random"], 4, 0, 0)];
        assert_eq!(store.matches("Base+MLP").unwrap(), expected);
        assert!(store.matches("Base").unwrap().is_empty());
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = LadderStore::open(Path::new("/nowhere/run")).err().expect("no folder").to_string();
        assert_eq!(error, "--run-dir: there is no folder /nowhere/run");
        let folder = tempfile::tempdir().unwrap();
        let error = LadderStore::open_to_read(folder.path()).err().expect("no store").to_string();
        assert_eq!(error, format!("--run-dir: there is no {}/alveare.db", folder.path().display()));
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "who reads makes nothing");
    }
}
