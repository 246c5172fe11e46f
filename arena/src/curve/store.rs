//! The file of a curve: pairs of games, in the folder of a run (docs/matches.md), so that none is played twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use shared::gate::GateScore;

use super::error::CurveError;
use crate::database::{make_tables, open_to_write};

/// Name of the file in the folder of a run.
const CURVE_FILE: &str = "curve.db";
/// `user_version` of the file once its table is there.
const VERSION: u32 = 1;

const TABLES: &str = "
CREATE TABLE curve_pairs (
    player TEXT NOT NULL,
    opponent TEXT NOT NULL,
    game_type TEXT NOT NULL,
    opening_plies INTEGER NOT NULL,
    ply_limit INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    pair_index INTEGER NOT NULL,
    half_points_white INTEGER NOT NULL CHECK (half_points_white IN (0, 1, 2)),
    half_points_black INTEGER NOT NULL CHECK (half_points_black IN (0, 1, 2)),
    finished_at TEXT NOT NULL,
    PRIMARY KEY (player, opponent, game_type, opening_plies, ply_limit, seed, pair_index)
) STRICT, WITHOUT ROWID;";

/// What makes a pair of games the same pair again, beside its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurveKey {
    /// Name of the network as a player.
    pub player: String,
    /// Name of the opponent.
    pub opponent: String,
    /// UHP game type of Hive, or the name of another game.
    pub game_type: String,
    /// Random plies before the players begin.
    pub opening_plies: u32,
    /// Plies after which a game is a draw.
    pub ply_limit: u32,
    /// Seed of openings and players.
    pub seed: u64,
}

/// Half points that a network won in a pair of games, each 0 to 2: as White, as Black.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairPoints(pub [u8; 2]);

impl PairPoints {
    /// Returns the score of so many pairs.
    #[must_use]
    pub fn score<'a>(pairs: impl IntoIterator<Item = &'a Self>) -> GateScore {
        let mut score = GateScore::default();
        for half_points in pairs.into_iter().flat_map(|pair| pair.0) {
            match half_points {
                2 => score.wins += 1,
                1 => score.draws += 1,
                _ => score.losses += 1,
            }
        }
        score
    }
}

/// The open file of one run's curve.
pub struct CurveStore {
    connection: Connection,
    file: PathBuf,
}

impl CurveStore {
    /// Opens the file in the folder of a run, and makes it if it is not there.
    ///
    /// # Errors
    /// [`CurveError::Later`] or [`CurveError::Database`].
    pub fn open(run_dir: &Path) -> Result<Self, CurveError> {
        let file = run_dir.join(CURVE_FILE);
        let failed = |source| CurveError::Database { file: file.clone(), action: "open it", source };
        let mut connection = open_to_write(&file).map_err(failed)?;
        let made = make_tables(&mut connection, VERSION, |transaction| transaction.execute_batch(TABLES));
        if made.map_err(failed)? > VERSION {
            return Err(CurveError::Later(file));
        }
        Ok(Self { connection, file })
    }

    /// Returns the pairs that were played, by their numbers.
    ///
    /// # Errors
    /// [`CurveError::Database`].
    pub fn pairs(&self, key: &CurveKey) -> Result<BTreeMap<usize, PairPoints>, CurveError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT pair_index, half_points_white, half_points_black FROM curve_pairs
                 WHERE player = ?1 AND opponent = ?2 AND game_type = ?3 AND opening_plies = ?4 AND ply_limit = ?5
                     AND seed = ?6",
            )?;
            let CurveKey { player, opponent, game_type, opening_plies, ply_limit, seed } = key;
            let values = params![player, opponent, game_type, opening_plies, ply_limit, seed.cast_signed()];
            let rows = statement.query_map(values, |row| {
                Ok((row.get::<_, u32>(0)? as usize, PairPoints([row.get(1)?, row.get(2)?])))
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|source| self.error("read its games", source))
    }

    /// Keeps a pair.
    ///
    /// # Errors
    /// [`CurveError::Database`].
    pub fn keep(
        &self,
        key: &CurveKey,
        pair_index: usize,
        PairPoints([white, black]): PairPoints,
    ) -> Result<(), CurveError> {
        let CurveKey { player, opponent, game_type, opening_plies, ply_limit, seed } = key;
        let values = params![
            player,
            opponent,
            game_type,
            opening_plies,
            ply_limit,
            seed.cast_signed(),
            pair_index as u32,
            white,
            black
        ];
        let sql = "INSERT OR REPLACE INTO curve_pairs
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))";
        self.connection.execute(sql, values).map(drop).map_err(|source| self.error("write a pair of games", source))
    }

    fn error(&self, action: &'static str, source: rusqlite::Error) -> CurveError {
        CurveError::Database { file: self.file.clone(), action, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(opponent: &str) -> CurveKey {
        let (player, opponent, game_type) = ("network-1".to_owned(), opponent.to_owned(), "dama".to_owned());
        CurveKey { player, opponent, game_type, opening_plies: 4, ply_limit: 200, seed: u64::MAX }
    }

    #[test]
    fn pairs_are_kept_by_everything_that_makes_them_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let store = CurveStore::open(folder.path()).unwrap();
        store.keep(&key("random"), 0, PairPoints([2, 1])).unwrap();
        store.keep(&key("random"), 3, PairPoints([0, 2])).unwrap();
        store.keep(&key("mcts:400"), 0, PairPoints([0, 0])).unwrap();
        drop(store);
        let store = CurveStore::open(folder.path()).unwrap();
        let pairs = store.pairs(&key("random")).unwrap();
        assert_eq!(pairs, BTreeMap::from([(0, PairPoints([2, 1])), (3, PairPoints([0, 2]))]));
        assert_eq!(PairPoints::score(pairs.values()), GateScore { wins: 2, draws: 1, losses: 1 });
        assert!(store.pairs(&CurveKey { seed: 1, ..key("random") }).unwrap().is_empty());
    }

    #[test]
    fn the_file_of_a_later_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        CurveStore::open(folder.path()).unwrap().connection.pragma_update(None, "user_version", 9).unwrap();
        let error = CurveStore::open(folder.path()).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.ends_with("curve.db: written by a later version of this program")));
    }
}
