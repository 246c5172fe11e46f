//! Which version a database has, and what stands for the columns that an older one lacks.

use rusqlite::Connection;

use super::StoreError;

/// Returns what stands for the columns `start_position`, `opponent_id`, `checksum`, `is_thinned` and `resignation` of games in
/// a query.
pub(super) fn added_game_columns(connection: &Connection) -> Result<&'static str, StoreError> {
    Ok(match user_version(connection)? {
        ..2 => "NULL, NULL, NULL, 0, NULL",
        2..5 => "start_position, NULL, NULL, 0, NULL",
        5..7 => "start_position, opponent_id, NULL, 0, NULL",
        7 => "start_position, opponent_id, checksum, 0, NULL",
        8 => "start_position, opponent_id, checksum, is_thinned, NULL",
        _ => "start_position, opponent_id, checksum, is_thinned, resignation",
    })
}

/// Returns what stands for the columns of the costs of iterations in a query.
pub(super) fn cost_columns(connection: &Connection) -> Result<&'static str, StoreError> {
    let is_counted = user_version(connection)? >= 4;
    Ok(if is_counted { "evaluation_count, training_sample_count, flop" } else { "NULL, NULL, NULL" })
}

/// Returns the version of the tables; 0 before there are any.
pub(super) fn user_version(connection: &Connection) -> Result<u32, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}
