//! Reading, through a connection that cannot write. A reader sees what was committed when a call begins.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, params};
use shared::ids::{GameId, Generation, NetworkId};

use super::columns::Column;
use super::read_game::{GameColumns, read_game, span_if_whole, stored_game};
use super::rows::{
    CheckpointRow, FinishedSpan, GameKind, GameState, IterationCost, IterationRow, NetworkRow, NewNetwork, StoredGame,
};
use super::{RunRow, StoreError, schema, version};

const NETWORK_COLUMNS: &str = "network_id, generation, file, sha256, training_step, state, created_at";

/// Columns of an iteration, in the order in which [`read_iteration`] takes them; after them come those of its cost.
pub(super) const ITERATION_COLUMNS: &str =
    "number, state, window_finish_number, training_step_start, training_step_end,
    candidate_id, game_count, position_count";

/// A connection that reads.
#[derive(Debug)]
pub struct Reader {
    pub(super) connection: Connection,
    pub(super) game_columns: GameColumns,
    pub(super) cost_columns: &'static str,
}

/// What the self-play games of a stretch were like, for the log and its alarms.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GameStatistics {
    /// Finished self-play games.
    pub game_count: u64,
    /// Games nobody won, those cut off included.
    pub draw_count: u64,
    /// Games that ended at the ply limit.
    pub cut_off_count: u64,
    /// Games that a side resigned.
    pub resigned_count: u64,
    /// Games that were played on though a side would have resigned.
    pub played_on: PlayedOn,
    /// Mean number of plies.
    pub mean_ply_count: f64,
    /// Positions to learn from.
    pub sample_count: u64,
    /// Different positions after the first plies.
    pub distinct_opening_count: u64,
}

/// Games that were played on though a side would have resigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlayedOn {
    /// All of them.
    pub game_count: u64,
    /// Those of them that the side did not lose: it would have resigned falsely.
    pub false_count: u64,
}

impl PlayedOn {
    /// Returns the share of false resignations among them, 0..=1; 0 if there are none.
    #[must_use]
    pub fn false_share(&self) -> f64 {
        self.false_count as f64 / self.game_count.max(1) as f64
    }
}

impl Reader {
    /// Opens the database for reading.
    pub(super) fn open(database: &Path) -> Result<Self, StoreError> {
        let connection = schema::open_for_reading(database)?;
        let game_columns = GameColumns::of(&connection)?;
        Ok(Self { game_columns, cost_columns: version::cost_columns(&connection)?, connection })
    }

    /// Opens the store of the run in `run_dir` for reading alone; a learner may be at work there.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`] for a database of a later version, [`StoreError::Database`] if it
    /// cannot be opened.
    pub fn of_run(run_dir: &Path) -> Result<Self, StoreError> {
        Self::open(&run_dir.join(super::DATABASE_FILE))
    }

    /// Returns the description of the run.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn run(&self) -> Result<RunRow, StoreError> {
        schema::read_run(&self.connection)?.ok_or_else(|| StoreError::Damaged { what: "runs: no row".into() })
    }

    /// Returns the numbers of all open games, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn open_game_ids(&self) -> Result<Vec<GameId>, StoreError> {
        let sql = "SELECT game_id FROM games WHERE state = 'open' ORDER BY game_id";
        self.list(sql, [], |row| row.get(0).map(|Column(game_id)| game_id))
    }

    /// Returns the numbers of all games of a kind that finished and have their plies, in the order in which they finished.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn finished_game_ids(&self, kind: GameKind) -> Result<Vec<GameId>, StoreError> {
        let sql = format!(
            "SELECT game_id FROM games WHERE state = 'finished' AND kind = ?1 AND {} = 0 ORDER BY finish_number",
            self.game_columns.is_thinned
        );
        self.list(&sql, [kind], |row| row.get(0).map(|Column(game_id)| game_id))
    }

    /// Returns the games of a candidate's gate, finished or not, without their plies.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails, [`StoreError::UnknownValue`] for a row of a later version.
    pub fn gate_games(&self, candidate_id: NetworkId) -> Result<Vec<StoredGame>, StoreError> {
        let sql = format!("SELECT {} FROM games WHERE candidate_id = ?1 ORDER BY game_id", self.game_columns.list);
        let mut games = self.list(&sql, [Column(candidate_id)], read_game)?;
        games.retain(|game| !game.game.is_yardstick());
        Ok(games)
    }

    /// Returns one game with its plies, unless they were removed. A finished game that has both plies and a checksum is what
    /// was stored.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails, [`StoreError::Damaged`] if the game cannot be read, its plies have a
    /// gap, or its checksum is another.
    pub fn game(&self, game_id: GameId) -> Result<Option<StoredGame>, StoreError> {
        let Some(game) = stored_game(&self.connection, &self.game_columns, game_id)? else { return Ok(None) };
        let is_sealed = game.state == GameState::Finished && !game.is_thinned;
        if is_sealed && game.checksum.is_some() && game.checksum != game.computed_checksum() {
            let what = format!("game {game_id}: its record is not what was stored: the checksum is another");
            return Err(StoreError::Damaged { what });
        }
        Ok(Some(game))
    }

    /// Returns the move of one ply, if it is stored.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn move_text(&self, game_id: GameId, ply: u32) -> Result<Option<String>, StoreError> {
        let mut statement =
            self.connection.prepare_cached("SELECT move_text FROM plies WHERE game_id = ?1 AND ply = ?2")?;
        Ok(statement.query_row(params![Column(game_id), ply], |row| row.get(0)).optional()?)
    }

    /// Returns the newest finished self-play games that have their plies, back to the first with which `is_enough`, which
    /// sees the newest first; oldest first.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn newest_self_play(
        &self,
        mut is_enough: impl FnMut(&FinishedSpan) -> bool,
    ) -> Result<Vec<FinishedSpan>, StoreError> {
        let sql = format!(
            "SELECT game_id, finish_number, sample_count, moves_hash, is_cut_off FROM games
             WHERE state = 'finished' AND kind = 'self_play' AND {} = 0 ORDER BY finish_number DESC",
            self.game_columns.is_thinned
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        let mut spans = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(span) = span_if_whole(row)? else { continue };
            spans.push(span);
            if is_enough(&span) {
                break;
            }
        }
        spans.reverse();
        Ok(spans)
    }

    /// Returns the finished self-play games with finish numbers in `from + 1..=to`, in any order.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn self_play_between(&self, from: u64, to: u64) -> Result<Vec<FinishedSpan>, StoreError> {
        let sql = "SELECT game_id, finish_number, sample_count, moves_hash, is_cut_off FROM games
                   WHERE state = 'finished' AND kind = 'self_play' AND finish_number > ?1 AND finish_number <= ?2";
        let spans = self.list(sql, params![from.cast_signed(), to.min(i64::MAX as u64).cast_signed()], |row| {
            Ok(span_if_whole(row))
        })?;
        spans.into_iter().filter_map(Result::transpose).collect()
    }

    /// Returns what self-play games with finish numbers in `from + 1..=to` were like.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn statistics(&self, from: u64, to: u64) -> Result<GameStatistics, StoreError> {
        let resignation = self.game_columns.resignation;
        let sql = format!(
            "SELECT count(*), coalesce(sum(result = 'draw'), 0), coalesce(sum(is_cut_off), 0),
                 coalesce(avg(ply_count), 0.0), coalesce(sum(sample_count), 0), count(DISTINCT opening_hash),
                 coalesce(sum({resignation} = 'resigned'), 0), coalesce(sum({resignation} IN ('right', 'false')), 0),
                 coalesce(sum({resignation} = 'false'), 0)
             FROM games
             WHERE state = 'finished' AND kind = 'self_play' AND finish_number > ?1 AND finish_number <= ?2"
        );
        let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(i64::cast_unsigned);
        Ok(self.connection.query_row(
            &sql,
            params![from.cast_signed(), to.min(i64::MAX as u64).cast_signed()],
            |row| {
                Ok(GameStatistics {
                    game_count: count(row, 0)?,
                    draw_count: count(row, 1)?,
                    cut_off_count: count(row, 2)?,
                    resigned_count: count(row, 6)?,
                    played_on: PlayedOn { game_count: count(row, 7)?, false_count: count(row, 8)? },
                    mean_ply_count: row.get(3)?,
                    sample_count: count(row, 4)?,
                    distinct_opening_count: count(row, 5)?,
                })
            },
        )?)
    }

    /// Returns what became of the newest `count_max` self-play games, up to finish number `to`, that were played on though a
    /// side would have resigned.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn newest_played_on(&self, to: u64, count_max: u32) -> Result<PlayedOn, StoreError> {
        let resignation = self.game_columns.resignation;
        let sql = format!(
            "SELECT count(*), coalesce(sum(resignation = 'false'), 0) FROM
                 (SELECT {resignation} AS resignation FROM games
                  WHERE finish_number <= ?1 AND kind = 'self_play' AND {resignation} IN ('right', 'false')
                  ORDER BY finish_number DESC LIMIT ?2)"
        );
        let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(i64::cast_unsigned);
        let values = params![to.min(i64::MAX as u64).cast_signed(), count_max];
        Ok(self
            .connection
            .query_row(&sql, values, |row| Ok(PlayedOn { game_count: count(row, 0)?, false_count: count(row, 1)? }))?)
    }

    /// Returns the highest id of a game.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn last_game_id(&self) -> Result<Option<GameId>, StoreError> {
        let last: Option<Column<GameId>> =
            self.connection.query_row("SELECT max(game_id) FROM games", [], |row| row.get(0))?;
        Ok(last.map(|Column(game_id)| game_id))
    }

    /// Returns the highest finish number in use, or of a game that may come back ([`super::Change::PutBack`]), 0 if there
    /// is none.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn last_finish_number(&self) -> Result<u64, StoreError> {
        self.number(
            "SELECT max(coalesce((SELECT max(finish_number) FROM games), 0),
                        coalesce((SELECT max(finish_number) FROM set_aside), 0))",
        )
    }

    /// Returns the number of finished self-play games.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn finished_self_play_count(&self) -> Result<u64, StoreError> {
        self.number("SELECT count(*) FROM games WHERE state = 'finished' AND kind = 'self_play'")
    }

    /// Returns the number of self-play games of an iteration that are open or finished.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn self_play_count(&self, iteration: u32) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM games
                   WHERE kind = 'self_play' AND iteration = ?1 AND state IN ('open', 'finished')";
        Ok(self.connection.query_row(sql, [iteration], |row| row.get::<_, i64>(0))?.cast_unsigned())
    }

    /// Returns the number of quarantined games.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn quarantined_count(&self) -> Result<u64, StoreError> {
        self.number("SELECT count(*) FROM games WHERE state = 'quarantined'")
    }

    /// Returns the highest id of a network.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn last_network_id(&self) -> Result<Option<NetworkId>, StoreError> {
        let last: Option<Column<NetworkId>> =
            self.connection.query_row("SELECT max(network_id) FROM networks", [], |row| row.get(0))?;
        Ok(last.map(|Column(network_id)| network_id))
    }

    /// Returns all networks by their number.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails, [`StoreError::UnknownValue`] for a row of a later version.
    pub fn networks(&self) -> Result<Vec<NetworkRow>, StoreError> {
        self.list(&format!("SELECT {NETWORK_COLUMNS} FROM networks ORDER BY network_id"), [], read_network)
    }

    /// Returns one network.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails, [`StoreError::UnknownValue`] for a row of a later version.
    pub fn network(&self, network_id: NetworkId) -> Result<Option<NetworkRow>, StoreError> {
        let sql = format!("SELECT {NETWORK_COLUMNS} FROM networks WHERE network_id = ?1");
        Ok(self.list(&sql, [Column(network_id)], read_network)?.pop())
    }

    /// Returns the best network.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails, [`StoreError::UnknownValue`] for a row of a later version.
    pub fn best_network(&self) -> Result<Option<NetworkRow>, StoreError> {
        let sql = format!("SELECT {NETWORK_COLUMNS} FROM networks WHERE state = 'best'");
        Ok(self.list(&sql, [], read_network)?.pop())
    }

    /// Returns the iteration with the highest number.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails, [`StoreError::UnknownValue`] for a row of a later version.
    pub fn last_iteration(&self) -> Result<Option<IterationRow>, StoreError> {
        let cost = self.cost_columns;
        let sql = format!("SELECT {ITERATION_COLUMNS}, {cost} FROM iterations ORDER BY number DESC LIMIT 1");
        Ok(self.list(&sql, [], read_iteration)?.pop())
    }

    /// Returns the finish number up to which games have been learned from, 0 before the first training.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn last_window_end(&self) -> Result<u64, StoreError> {
        self.number("SELECT coalesce(max(window_finish_number), 0) FROM iterations")
    }

    /// Returns all checkpoints, newest first.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn checkpoints(&self) -> Result<Vec<CheckpointRow>, StoreError> {
        let sql = "SELECT training_step, file, sha256, iteration FROM checkpoints ORDER BY training_step DESC";
        self.list(sql, [], |row| {
            Ok(CheckpointRow {
                training_step: row.get::<_, i64>(0)?.cast_unsigned(),
                file: row.get(1)?,
                sha256: row.get(2)?,
                iteration: row.get(3)?,
            })
        })
    }

    pub(super) fn list<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(values, read)?.collect::<rusqlite::Result<_>>()?;
        Ok(rows)
    }

    pub(super) fn number(&self, sql: &str) -> Result<u64, StoreError> {
        Ok(self.connection.query_row(sql, [], |row| row.get::<_, i64>(0))?.cast_unsigned())
    }
}

fn read_network(row: &Row<'_>) -> rusqlite::Result<NetworkRow> {
    Ok(NetworkRow {
        network: NewNetwork {
            network_id: row.get::<_, Column<_>>(0)?.0,
            file: row.get(2)?,
            sha256: row.get(3)?,
            training_step: row.get::<_, i64>(4)?.cast_unsigned(),
        },
        generation: row.get::<_, Option<Column<Generation>>>(1)?.map(|Column(generation)| generation),
        state: row.get(5)?,
        created_at: row.get(6)?,
    })
}

pub(super) fn read_iteration(row: &Row<'_>) -> rusqlite::Result<IterationRow> {
    let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    Ok(IterationRow {
        number: row.get(0)?,
        state: row.get(1)?,
        window_finish_number: row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned),
        training_step_start: count(3)?,
        training_step_end: row.get::<_, Option<i64>>(4)?.map(i64::cast_unsigned),
        candidate_id: row.get::<_, Option<Column<NetworkId>>>(5)?.map(|Column(network_id)| network_id),
        game_count: count(6)?,
        position_count: count(7)?,
        cost: read_cost(row, 8)?,
    })
}

/// Reads what [`version::cost_columns`] names, from this column on.
pub(super) fn read_cost(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<IterationCost>> {
    let count = |column| row.get::<_, Option<i64>>(column).map(|count| count.map(i64::cast_unsigned));
    let (evaluations, samples, flop) = (count(column)?, count(column + 1)?, row.get(column + 2)?);
    Ok(evaluations.zip(samples).zip(flop).map(|((evaluation_count, training_sample_count), flop)| IterationCost {
        evaluation_count,
        training_sample_count,
        flop,
    }))
}
