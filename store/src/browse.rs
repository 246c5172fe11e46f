//! Reading what people look at: lists of iterations and games page by page, gate scores, and metrics over time.
//!
//! No query here looks at every game of a run: there may be millions. Each takes as long as what it returns is large,
//! except for filters that few games pass, which [`Reader::interrupter`] bounds.

use rusqlite::types::ToSql;
use rusqlite::{InterruptHandle, OptionalExtension, Row};
use shared::game::Outcome;
use shared::gate::GateScore;
use shared::ids::{GameId, Generation, NetworkId, NetworkRef};

use super::columns::Column;
use super::read::{ITERATION_COLUMNS, read_iteration};
use super::rows::{outcome_of, outcome_word};
use super::{GameKind, GameState, IterationRow, Reader, StoreError, StoredResult};

/// An iteration with the times between which it went on.
#[derive(Debug, Clone, PartialEq)]
pub struct IterationSummary {
    /// What it did.
    pub row: IterationRow,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// When it was over.
    pub finished_at: Option<String>,
}

/// A number of the run at one training step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricValue {
    /// Its place in the order in which numbers were stored.
    pub row: i64,
    /// The training step.
    pub step: u64,
    /// The number.
    pub value: f64,
}

/// Sums over a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunTotals {
    /// Iterations, the one that goes on included.
    pub iteration_count: u64,
    /// Iterations whose candidate was promoted.
    pub promotion_count: u64,
    /// Self-play games of the iterations whose games are complete.
    pub game_count: u64,
    /// Their positions.
    pub position_count: u64,
}

/// Which kind of games a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GameKindFilter {
    /// Games to learn from.
    SelfPlay,
    /// Games that decide about a candidate.
    Gate,
    /// Games that measure the best network against an earlier one.
    Yardstick,
}

/// Which games a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GameFilter {
    /// Those that began in this iteration alone.
    pub iteration: Option<u32>,
    /// Those of this kind alone.
    pub kind: Option<GameKindFilter>,
    /// Those that ended so alone.
    pub outcome: Option<Outcome>,
    /// Those that ended at the ply limit alone.
    pub is_cut_off: bool,
    /// Those in this state alone.
    pub state: Option<GameState>,
    /// Those with smaller numbers alone.
    pub before: Option<GameId>,
}

/// A game as a line of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct GameSummary {
    /// The game.
    pub game_id: GameId,
    /// What it is played for; yardstick games are [`GameKind::Gate`] with an opponent.
    pub kind: GameKind,
    /// The iteration in which it began.
    pub iteration: u32,
    /// Network of White.
    pub white_network: NetworkRef,
    /// Network of Black.
    pub black_network: NetworkRef,
    /// How far it is.
    pub state: GameState,
    /// How it ended, if it did.
    pub result: Option<StoredResult>,
    /// Its plies, of a finished game.
    pub ply_count: Option<u32>,
    /// Whether it measures the best network against an earlier one.
    pub is_yardstick: bool,
    /// When it ended.
    pub finished_at: Option<String>,
}

impl Reader {
    /// Returns what stops a query of this connection from another thread: it then ends with [`StoreError::Database`].
    #[must_use]
    pub fn interrupter(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// Returns at most `count_max` iterations with numbers below `before`, the newest first.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails, [`StoreError::UnknownValue`] for a row of a later version.
    pub fn iterations_before(&self, before: Option<u32>, count_max: u32) -> Result<Vec<IterationSummary>, StoreError> {
        let sql = format!(
            "SELECT {ITERATION_COLUMNS}, {}, started_at, finished_at FROM iterations
             WHERE number < ?1 ORDER BY number DESC LIMIT ?2",
            self.cost_columns
        );
        let read = |row: &Row<'_>| {
            Ok(IterationSummary { row: read_iteration(row)?, started_at: row.get(11)?, finished_at: row.get(12)? })
        };
        self.list(&sql, [before.unwrap_or(u32::MAX), count_max], read)
    }

    /// Returns (first training step, number) of all iterations, the oldest first.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn iteration_starts(&self) -> Result<Vec<(u64, u32)>, StoreError> {
        let sql = "SELECT training_step_start, number FROM iterations ORDER BY number";
        self.list(sql, [], |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?)))
    }

    /// Returns the sums over all iterations.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn totals(&self) -> Result<RunTotals, StoreError> {
        let sql = "SELECT count(*), coalesce(sum(state = 'promoted'), 0), coalesce(sum(game_count), 0),
                       coalesce(sum(position_count), 0) FROM iterations";
        let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(i64::cast_unsigned);
        Ok(self.connection.query_row(sql, [], |row| {
            Ok(RunTotals {
                iteration_count: count(row, 0)?,
                promotion_count: count(row, 1)?,
                game_count: count(row, 2)?,
                position_count: count(row, 3)?,
            })
        })?)
    }

    /// Returns the score of a candidate's gate over the games that are finished.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn gate_score(&self, candidate_id: NetworkId) -> Result<GateScore, StoreError> {
        let sql = format!(
            "SELECT coalesce(sum(result = iif(white_network_id = candidate_id, 'white', 'black')), 0),
                 coalesce(sum(result = 'draw'), 0), count(*)
             FROM games WHERE kind = 'gate' AND candidate_id = ?1 AND {} IS NULL AND state = 'finished'",
            self.opponent_column()
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let [wins, draws, games]: [u32; 3] =
            statement.query_row([Column(candidate_id)], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
        Ok(GateScore { wins, draws, losses: games - wins - draws })
    }

    /// Returns all best networks, present and former: (generation, network), the first generation first.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn generations(&self) -> Result<Vec<(Generation, NetworkId)>, StoreError> {
        let sql = "SELECT generation, network_id FROM networks WHERE generation IS NOT NULL ORDER BY generation";
        self.list(sql, [], |row| Ok((row.get::<_, Column<_>>(0)?.0, row.get::<_, Column<_>>(1)?.0)))
    }

    /// Returns the values of a metric that were stored after row `after` (0: all), by rising step; values that were not
    /// finite are left out.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn metric_since(&self, name: &str, after: i64) -> Result<Vec<MetricValue>, StoreError> {
        // The row's number is part of the index: of values that are known no more than the index is read.
        let sql = "SELECT rowid, step, value FROM metrics
                   WHERE name = ?1 AND rowid > ?2 AND value IS NOT NULL ORDER BY step";
        self.list(sql, rusqlite::params![name, after], |row| {
            Ok(MetricValue { row: row.get(0)?, step: row.get::<_, i64>(1)?.cast_unsigned(), value: row.get(2)? })
        })
    }

    /// Returns the last training step at which a metric was measured.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn last_metric_step(&self, name: &str) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT max(step) FROM metrics WHERE name = ?1";
        let steps = self.list(sql, [name], |row| row.get::<_, Option<i64>>(0))?;
        Ok(steps.first().copied().flatten().map(i64::cast_unsigned))
    }

    /// Returns at most `count_max` games that pass `filter`, the newest first.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails, [`StoreError::UnknownValue`] for a row of a later version.
    pub fn games_before(&self, filter: &GameFilter, count_max: u32) -> Result<Vec<GameSummary>, StoreError> {
        let opponent = self.opponent_column();
        let mut conditions = vec!["game_id < ?1".to_owned()];
        let before = filter.before.map_or(i64::MAX, |game_id| game_id.get().min(i64::MAX as u64).cast_signed());
        let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(before), Box::new(count_max)];
        let mut bind = |condition: &str, value: Box<dyn ToSql>| {
            values.push(value);
            conditions.push(format!("{condition} ?{}", values.len()));
        };
        if let Some(iteration) = filter.iteration {
            let [first, end] = self.game_ids_of(iteration)?;
            bind("game_id >=", Box::new(first));
            bind("game_id <", Box::new(end));
            bind("iteration =", Box::new(iteration));
        }
        if let Some(outcome) = filter.outcome {
            bind("result =", Box::new(outcome_word(outcome)));
        }
        if let Some(state) = filter.state {
            bind("state =", Box::new(state));
        }
        match filter.kind {
            Some(GameKindFilter::SelfPlay) => conditions.push("kind = 'self_play'".to_owned()),
            Some(GameKindFilter::Gate) => conditions.push(format!("kind = 'gate' AND {opponent} IS NULL")),
            Some(GameKindFilter::Yardstick) => conditions.push(format!("kind = 'gate' AND {opponent} IS NOT NULL")),
            None => {}
        }
        if filter.is_cut_off {
            conditions.push("is_cut_off".to_owned());
        }
        let resignation = self.game_columns.resignation;
        let sql = format!(
            "SELECT game_id, kind, iteration, white_network_id, black_network_id, state, result, is_cut_off, ply_count,
                 {opponent} IS NOT NULL, finished_at, {resignation}
             FROM games WHERE {} ORDER BY game_id DESC LIMIT ?2",
            conditions.join(" AND ")
        );
        self.list(&sql, rusqlite::params_from_iter(values), read_summary)
    }

    /// Returns the first number of a game of an iteration, and the first of a later one. Games are numbered as they are
    /// made, so their iterations rise with their numbers: a binary search finds both.
    fn game_ids_of(&self, iteration: u32) -> Result<[i64; 2], StoreError> {
        let last = self.last_game_id()?.map_or(0, |game_id| game_id.get().cast_signed());
        let mut next = self.connection.prepare_cached("SELECT iteration FROM games WHERE game_id >= ?1 LIMIT 1")?;
        let mut first_from = |iteration: u64| {
            let (mut low, mut high) = (0, last + 1);
            while low < high {
                let middle = i64::midpoint(low, high);
                let found: Option<u32> = next.query_row([middle], |row| row.get(0)).optional()?;
                if found.is_some_and(|found| u64::from(found) < iteration) { low = middle + 1 } else { high = middle }
            }
            Ok::<i64, StoreError>(low)
        };
        Ok([first_from(iteration.into())?, first_from(u64::from(iteration) + 1)?])
    }

    /// Returns whether games have a column `opponent_id`: those of an earlier version have not.
    pub(super) fn has_opponents(&self) -> bool {
        self.game_columns.has_opponents
    }

    /// Returns what stands for that column.
    fn opponent_column(&self) -> &'static str {
        if self.has_opponents() { "opponent_id" } else { "NULL" }
    }
}

fn read_summary(row: &Row<'_>) -> rusqlite::Result<GameSummary> {
    let outcome = row.get::<_, Option<String>>(6)?.and_then(|word| outcome_of(&word));
    let (is_cut_off, resignation) = (row.get::<_, Option<bool>>(7)?.unwrap_or(false), row.get(11)?);
    Ok(GameSummary {
        game_id: row.get::<_, Column<_>>(0)?.0,
        kind: row.get(1)?,
        iteration: row.get(2)?,
        white_network: row.get::<_, Column<_>>(3)?.0,
        black_network: row.get::<_, Column<_>>(4)?.0,
        state: row.get(5)?,
        result: outcome.map(|outcome| StoredResult { outcome, is_cut_off, resignation }),
        ply_count: row.get(8)?,
        is_yardstick: row.get(9)?,
        finished_at: row.get(10)?,
    })
}
