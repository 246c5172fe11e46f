//! Reading a game with its plies, and distinguishing a damaged game from a database that fails.

use rusqlite::{Connection, OptionalExtension, Row};
use shared::ids::GameId;
use shared::record::{GameRecord, PlyRecord, PolicyTarget, PolicyTargetError};

use super::columns::Column;
use super::rows::{FinishedSpan, NewGame, StoredGame, StoredResult, outcome_of};
use super::{StoreError, version};

/// Columns of a game, in the order in which [`read_game`] takes them; after them come [`version::added_game_columns`].
const GAME_COLUMNS: &str = "game_id, kind, iteration, pair_index, candidate_id, white_network_id, black_network_id,
    seed, settings, opening, opening_ply_count, state, result, is_cut_off, finish_number, moves_hash";

/// Columns of a game, in the order in which [`read_game`] takes them.
#[derive(Debug)]
pub(super) struct GameColumns {
    /// As a query names them, NULL for those of later versions.
    pub(super) list: String,
    /// Whether there is a column `opponent_id`.
    pub(super) has_opponents: bool,
    /// What stands for the column `is_thinned`.
    pub(super) is_thinned: &'static str,
    /// What stands for the column `resignation`.
    pub(super) resignation: &'static str,
}

impl GameColumns {
    /// Returns the columns that the database has.
    pub(super) fn of(connection: &Connection) -> Result<Self, StoreError> {
        let added = version::added_game_columns(connection)?;
        Ok(Self {
            list: format!("{GAME_COLUMNS}, {added}"),
            has_opponents: added.contains("opponent_id"),
            is_thinned: if added.contains("is_thinned") { "is_thinned" } else { "0" },
            resignation: if added.contains("resignation") { "resignation" } else { "NULL" },
        })
    }
}

/// Reads one game with its plies, whatever its checksum says.
pub(super) fn stored_game(
    connection: &Connection,
    columns: &GameColumns,
    game_id: GameId,
) -> Result<Option<StoredGame>, StoreError> {
    let damaged = |error| damage_of(game_id, error);
    let sql = format!("SELECT {} FROM games WHERE game_id = ?1", columns.list);
    let mut statement = connection.prepare_cached(&sql)?;
    let game = statement.query_row([Column(game_id)], read_game).optional().map_err(damaged)?;
    let Some(mut game) = game else { return Ok(None) };
    read_plies(connection, &mut game)?;
    Ok(Some(game))
}

/// Fills in the plies of `game`, which must be numbered without a gap.
fn read_plies(connection: &Connection, game: &mut StoredGame) -> Result<(), StoreError> {
    let sql = "SELECT ply, move_text, policy_target, root_value, simulation_count, network_id
               FROM plies WHERE game_id = ?1 ORDER BY ply";
    let game_id = game.game.game_id;
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([Column(game_id)])?;
    while let Some(row) = rows.next().map_err(|error| damage_of(game_id, error))? {
        let damaged = |what: String| StoreError::Damaged { what: format!("game {game_id}: {what}") };
        let ply = game.record.plies.len() as u32;
        let (found, record) = read_ply(row).map_err(|error| match damage_of(game_id, error) {
            StoreError::Damaged { .. } => damaged(format!("ply {ply} cannot be read")),
            error => error,
        })?;
        if found != ply {
            return Err(damaged(format!("ply {ply} is missing")));
        }
        game.record.plies.push(record.map_err(|error| damaged(format!("ply {ply}: {error}")))?);
    }
    Ok(())
}

/// Reads a ply with its number; the inner error says what is wrong with its policy target.
fn read_ply(row: &Row<'_>) -> rusqlite::Result<(u32, Result<PlyRecord, PolicyTargetError>)> {
    let target = row.get_ref(2)?.as_blob_or_null()?.map(PolicyTarget::from_bytes).transpose();
    let (move_text, root_value, simulation_count) = (row.get(1)?, row.get::<_, f64>(3)? as f32, row.get(4)?);
    let Column(network_id) = row.get(5)?;
    let record =
        target.map(|policy_target| PlyRecord { move_text, policy_target, root_value, simulation_count, network_id });
    Ok((row.get(0)?, record))
}

/// Returns what an error says about a game: whether the game alone is damaged, or the whole database fails.
fn damage_of(game_id: GameId, error: rusqlite::Error) -> StoreError {
    let is_damage = match &error {
        rusqlite::Error::SqliteFailure(cause, _) => cause.code == rusqlite::ErrorCode::DatabaseCorrupt,
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) => true,
        _ => false,
    };
    match StoreError::from(error) {
        StoreError::Database(cause) if is_damage => {
            StoreError::Damaged { what: format!("game {game_id} cannot be read: {cause}") }
        }
        error => error,
    }
}

/// Reads the numbers of a game; `None` if they are damaged: the game is left out.
pub(super) fn span_if_whole(row: &Row<'_>) -> Result<Option<FinishedSpan>, StoreError> {
    let Column(game_id) = row.get(0)?;
    read_span(row).map(Some).or_else(|error| match damage_of(game_id, error) {
        StoreError::Damaged { what } => {
            tracing::error!(game_id = game_id.get(), what, "finished game is damaged, left out");
            Ok(None)
        }
        error => Err(error),
    })
}

fn read_span(row: &Row<'_>) -> rusqlite::Result<FinishedSpan> {
    Ok(FinishedSpan {
        game_id: row.get::<_, Column<_>>(0)?.0,
        finish_number: row.get::<_, i64>(1)?.cast_unsigned(),
        sample_count: row.get(2)?,
        moves_hash: row.get::<_, i64>(3)?.cast_unsigned(),
        is_cut_off: row.get::<_, Option<bool>>(4)?.unwrap_or(false),
    })
}

pub(super) fn read_game(row: &Row<'_>) -> rusqlite::Result<StoredGame> {
    let opening: String = row.get(9)?;
    let opening = if opening.is_empty() { Vec::new() } else { opening.split("; ").map(String::from).collect() };
    let outcome = row.get::<_, Option<String>>(12)?.and_then(|word| outcome_of(&word));
    let (is_cut_off, resignation) = (row.get::<_, Option<bool>>(13)?.unwrap_or(false), row.get(20)?);
    let result = outcome.map(|outcome| StoredResult { outcome, is_cut_off, resignation });
    let resigned_by = result.and_then(|result| result.resigned_by());
    let start: Option<String> = row.get(16)?;
    Ok(StoredGame {
        game: NewGame {
            game_id: row.get::<_, Column<_>>(0)?.0,
            kind: row.get(1)?,
            iteration: row.get(2)?,
            pair_index: row.get(3)?,
            candidate_id: row.get::<_, Option<Column<_>>>(4)?.map(|Column(network_id)| network_id),
            opponent_id: row.get::<_, Option<Column<_>>>(17)?.map(|Column(network_id)| network_id),
            white_network: row.get::<_, Column<_>>(5)?.0,
            black_network: row.get::<_, Column<_>>(6)?.0,
            seed: row.get::<_, i64>(7)?.cast_unsigned(),
            settings: row.get(8)?,
            start: start.clone(),
            opening,
        },
        state: row.get(11)?,
        result,
        finish_number: row.get::<_, Option<i64>>(14)?.map(i64::cast_unsigned),
        moves_hash: row.get::<_, Option<i64>>(15)?.map(i64::cast_unsigned),
        checksum: row.get::<_, Option<i64>>(18)?.map(i64::cast_unsigned),
        is_thinned: row.get(19)?,
        record: GameRecord { start, opening_ply_count: row.get(10)?, plies: Vec::new(), resigned_by },
    })
}
