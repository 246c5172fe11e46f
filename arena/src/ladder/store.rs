//! The file of a ladder: results of matches, in the folder of a run (`docs/matches.md`).
//!
//! The learner does not know it. Earlier versions kept these tables in the learner's database: they are taken over when
//! the file is made, and read there until then; the learner's database is never written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use networks::{NoRunError, database_of};
use rusqlite::{Connection, Transaction, params};
use shared::gate::GateScore;

use crate::database::{self, open_to_read, open_to_write};

/// Name of the file in the folder of a run.
const LADDER_FILE: &str = "ladder.db";
/// `user_version` of the file once its tables are there and what earlier versions kept is taken over.
const VERSION: u32 = 1;

const TABLES: &str = "
CREATE TABLE ladder_players (
    player_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE ladder_matches (
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

const MATCHES: &str = "
SELECT a.name, b.name, wins, draws, losses, game_type, opening_plies, ply_limit, seed, finished_at
FROM ladder_matches
JOIN ladder_players a ON a.player_id = first_player_id
JOIN ladder_players b ON b.player_id = second_player_id
ORDER BY match_id";

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

/// Why a ladder cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum LadderError {
    /// The folder in which matches are to be kept is not there.
    #[error("{}: there is no such folder", .0.display())]
    NoFolder(PathBuf),
    /// No match was ever kept in this folder, and no run is in it.
    #[error("{}, and no matches: play one into it by alveare match A B --run-dir {}", .0, .0.0.display())]
    NoRun(NoRunError),
    /// The file was written by a later version of this program.
    #[error("{}: written by a later version of this program", .0.display())]
    Later(PathBuf),
    /// The database failed.
    #[error("ladder {}: cannot {action}", file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The cause.
        #[source]
        source: rusqlite::Error,
    },
}

impl LadderError {
    /// Returns whether the user asked for what cannot be, and must ask for something else.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::NoFolder(_) | Self::NoRun(_))
    }
}

/// The open ladder of one run.
pub struct LadderStore {
    connection: Connection,
    file: PathBuf,
}

/// A row of the matches.
struct Row {
    played: StoredMatch,
    key: MatchKey,
    /// `None`: now.
    finished_at: Option<String>,
}

impl LadderStore {
    /// Returns where the ladder of the run in `run_dir` lies.
    #[must_use]
    pub fn file(run_dir: &Path) -> PathBuf {
        run_dir.join(LADDER_FILE)
    }

    /// Opens the ladder of the run in `run_dir`, which must be there. If there is no ladder yet, it is made, with the
    /// matches that earlier versions kept in the learner's database.
    ///
    /// # Errors
    /// [`LadderError::NoFolder`], [`LadderError::Later`] or [`LadderError::Database`].
    pub fn open(run_dir: &Path) -> Result<Self, LadderError> {
        if !run_dir.is_dir() {
            return Err(LadderError::NoFolder(run_dir.to_owned()));
        }
        let file = Self::file(run_dir);
        let failed = |source| LadderError::Database { file: file.clone(), action: "open it", source };
        let mut store = Self { connection: open_to_write(&file).map_err(failed)?, file };
        if store.version()? != VERSION {
            store.make_tables(run_dir)?;
        }
        Ok(store)
    }

    /// Opens the ladder of the run in `run_dir` to read it; the folder may be read-only. Before the first match it is
    /// what earlier versions kept in the learner's database, and `None` if they kept nothing.
    ///
    /// # Errors
    /// [`LadderError::NoFolder`], [`LadderError::NoRun`], [`LadderError::Later`] or [`LadderError::Database`].
    pub fn open_to_read(run_dir: &Path) -> Result<Option<Self>, LadderError> {
        let file = Self::file(run_dir);
        if file.is_file() {
            let store = Self::open_existing(&file)?;
            // A match that begins at this moment makes the tables next.
            return Ok((store.version()? == VERSION).then_some(store));
        }
        if !run_dir.is_dir() {
            return Err(LadderError::NoFolder(run_dir.to_owned()));
        }
        Self::open_earlier(&database_of(run_dir).map_err(LadderError::NoRun)?)
    }

    /// Keeps a match. The same players with the same key again take the place of what they played before: with the
    /// same seed they may have played the same games.
    ///
    /// # Errors
    /// [`LadderError::Database`].
    pub fn record(&mut self, played: &StoredMatch, key: &MatchKey) -> Result<(), LadderError> {
        let row = Row { played: in_order(played), key: key.clone(), finished_at: None };
        let recorded = self.connection.transaction().and_then(|transaction| {
            insert(&transaction, &row)?;
            transaction.commit()
        });
        recorded.map_err(|source| self.error("write a match", source))
    }

    /// Returns all matches of a game type, in the order in which they were kept.
    ///
    /// # Errors
    /// [`LadderError::Database`].
    pub fn matches(&self, game_type: &str) -> Result<Vec<StoredMatch>, LadderError> {
        let rows = self.rows()?.into_iter().filter(|row| row.key.game_type == game_type);
        Ok(rows.map(|row| row.played).collect())
    }

    /// Returns the game types of which there are matches.
    ///
    /// # Errors
    /// [`LadderError::Database`].
    pub fn game_types(&self) -> Result<BTreeSet<String>, LadderError> {
        Ok(self.rows()?.into_iter().map(|row| row.key.game_type).collect())
    }

    fn open_existing(file: &Path) -> Result<Self, LadderError> {
        let failed = |source| LadderError::Database { file: file.to_owned(), action: "open it to read", source };
        Ok(Self { connection: open_to_read(file).map_err(failed)?, file: file.to_owned() })
    }

    /// Opens the learner's database if earlier versions kept matches there.
    fn open_earlier(file: &Path) -> Result<Option<Self>, LadderError> {
        let store = Self::open_existing(file)?;
        let has_matches = store.connection.table_exists(None, "ladder_matches");
        let has_matches = has_matches.map_err(|source| store.error("read it", source))?;
        Ok(has_matches.then_some(store))
    }

    fn version(&self) -> Result<u32, LadderError> {
        let version = database::version(&self.connection);
        match version.map_err(|source| self.error("read its version", source))? {
            version if version > VERSION => Err(LadderError::Later(self.file.clone())),
            version => Ok(version),
        }
    }

    /// Makes the tables, and takes over what earlier versions kept, unless another program has just done so.
    fn make_tables(&mut self, run_dir: &Path) -> Result<(), LadderError> {
        // A folder without a run has a ladder too.
        let earlier = database_of(run_dir).ok();
        let store = earlier.map_or(Ok(None), |earlier| Self::open_earlier(&earlier))?;
        let rows = store.map_or(Ok(vec![]), |store| store.rows())?;
        let made = database::make_tables(&mut self.connection, VERSION, |transaction| {
            transaction.execute_batch(TABLES)?;
            rows.iter().try_for_each(|row| insert(transaction, row))
        });
        made.map(drop).map_err(|source| self.error("make its tables", source))
    }

    fn rows(&self) -> Result<Vec<Row>, LadderError> {
        let read = || {
            let mut statement = self.connection.prepare(MATCHES)?;
            let rows = statement.query_map([], |row| {
                let score = GateScore { wins: row.get(2)?, draws: row.get(3)?, losses: row.get(4)? };
                let (game_type, opening_plies, ply_limit) = (row.get(5)?, row.get(6)?, row.get(7)?);
                let key = MatchKey { game_type, opening_plies, ply_limit, seed: row.get::<_, i64>(8)?.cast_unsigned() };
                let played = StoredMatch { players: [row.get(0)?, row.get(1)?], score };
                Ok(Row { played, key, finished_at: row.get(9)? })
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|source| self.error("read the matches", source))
    }

    fn error(&self, action: &'static str, source: rusqlite::Error) -> LadderError {
        LadderError::Database { file: self.file.clone(), action, source }
    }
}

fn insert(transaction: &Transaction<'_>, row: &Row) -> rusqlite::Result<()> {
    let Row { played: StoredMatch { players, score }, key, finished_at } = row;
    for name in players {
        transaction.execute("INSERT OR IGNORE INTO ladder_players (name) VALUES (?1)", [name])?;
    }
    transaction.execute(
        "INSERT OR REPLACE INTO ladder_matches (first_player_id, second_player_id, wins, draws, losses,
             game_type, opening_plies, ply_limit, seed, finished_at)
         SELECT a.player_id, b.player_id, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
             coalesce(?10, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
         FROM ladder_players a, ladder_players b WHERE a.name = ?1 AND b.name = ?2",
        params![
            players[0],
            players[1],
            score.wins,
            score.draws,
            score.losses,
            key.game_type,
            key.opening_plies,
            key.ply_limit,
            key.seed.cast_signed(),
            finished_at,
        ],
    )?;
    Ok(())
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
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use networks::DATABASE_FILE;

    use super::*;

    fn key(seed: u64) -> MatchKey {
        MatchKey { game_type: "Base+MLP".into(), opening_plies: 4, ply_limit: 200, seed }
    }

    fn played(players: [&str; 2], wins: u32, draws: u32, losses: u32) -> StoredMatch {
        StoredMatch { players: players.map(str::to_owned), score: GateScore { wins, draws, losses } }
    }

    fn read(folder: &Path) -> Vec<StoredMatch> {
        LadderStore::open_to_read(folder).unwrap().map_or(vec![], |store| store.matches("Base+MLP").unwrap())
    }

    /// Makes a learner's database as earlier versions left it, with one match. Returns its bytes.
    fn make_earlier(folder: &Path) -> Vec<u8> {
        let file = folder.join(DATABASE_FILE);
        let mut connection = Connection::open(&file).unwrap();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.execute_batch(TABLES).unwrap();
        let transaction = connection.transaction().unwrap();
        let (played, finished_at) = (played(["a", "random"], 3, 1, 0), Some("2026-01-02T03:04:05Z".to_owned()));
        insert(&transaction, &Row { played, key: key(u64::MAX), finished_at }).unwrap();
        transaction.commit().unwrap();
        drop(connection);
        std::fs::read(file).unwrap()
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
        let mut names: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["ladder.db"], "the learner's database is left alone");
    }

    #[test]
    fn what_earlier_versions_kept_is_read_and_taken_over_once() {
        let folder = tempfile::tempdir().unwrap();
        let earlier = make_earlier(folder.path());
        let old = played(["a", "random"], 3, 1, 0);
        assert_eq!(read(folder.path()), std::slice::from_ref(&old));
        assert!(!LadderStore::file(folder.path()).exists(), "reading writes nothing");
        let new = played(["b", "random"], 1, 0, 0);
        LadderStore::open(folder.path()).unwrap().record(&new, &key(1)).unwrap();
        LadderStore::open(folder.path()).unwrap().record(&played(["a", "random"], 4, 0, 0), &key(u64::MAX)).unwrap();
        drop(LadderStore::open(folder.path()).unwrap());
        assert_eq!(read(folder.path()), [new, played(["a", "random"], 4, 0, 0)], "not taken over again");
        assert_eq!(std::fs::read(folder.path().join(DATABASE_FILE)).unwrap(), earlier, "never written");
    }

    #[test]
    fn a_ladder_in_a_read_only_folder_can_be_read() {
        let [kept, earlier] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let one = played(["a", "random"], 3, 1, 0);
        LadderStore::open(kept.path()).unwrap().record(&one, &key(1)).unwrap();
        make_earlier(earlier.path());
        for folder in [&kept, &earlier] {
            std::fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
            let found = read(folder.path());
            std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
            assert_eq!(found, std::slice::from_ref(&one));
        }
    }

    #[test]
    fn a_folder_or_file_that_cannot_be_used_is_named() {
        let error = LadderStore::open(Path::new("/nowhere/run")).err().expect("no folder").to_string();
        assert_eq!(error, "/nowhere/run: there is no such folder");
        let folder = tempfile::tempdir().unwrap();
        let error = LadderStore::open_to_read(folder.path()).err().expect("no ladder").to_string();
        let dir = folder.path().display();
        let next_step = format!("no matches: play one into it by alveare match A B --run-dir {dir}");
        assert_eq!(error, format!("{dir}: no run there: it has no alveare.db, and {next_step}"));
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "reading makes nothing");
        drop(LadderStore::open(folder.path()).unwrap());
        let file = LadderStore::file(folder.path());
        Connection::open(&file).unwrap().pragma_update(None, "user_version", 2).unwrap();
        let error = LadderStore::open(folder.path()).err().expect("a later version").to_string();
        assert_eq!(error, format!("{}: written by a later version of this program", file.display()));
        std::fs::write(&file, "not a database, but long enough to be taken for one".repeat(20)).unwrap();
        let error = LadderStore::open_to_read(folder.path()).err().expect("no database").to_string();
        assert_eq!(error, format!("ladder {}: cannot open it to read", file.display()));
    }
}
