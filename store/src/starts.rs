//! Reads earlier games of the run, for those that begin from one of their positions.

use rusqlite::{OptionalExtension, params};
use shared::ids::GameId;

use super::columns::Column;
use super::{Reader, StoreError};

/// A finished self-play game from which another may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierGame {
    /// The game.
    pub game_id: GameId,
    /// Its place in the order in which games finished.
    pub finish_number: u64,
    /// The position that it began from; `None`: the initial one.
    pub start: Option<String>,
    /// Plies played, its opening included.
    pub ply_count: u32,
}

impl Reader {
    /// Returns the self-play game that finished last up to this finish number, of those that have their plies.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn self_play_game_finished_by(&self, finish_number: u64) -> Result<Option<EarlierGame>, StoreError> {
        let sql = format!(
            "SELECT game_id, start_position, ply_count, finish_number FROM games
             WHERE finish_number <= ?1 AND state = 'finished' AND kind = 'self_play' AND {} = 0
             ORDER BY finish_number DESC LIMIT 1",
            self.game_columns.is_thinned
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let game = statement.query_row([finish_number.cast_signed()], |row| {
            Ok(EarlierGame {
                game_id: row.get::<_, Column<_>>(0)?.0,
                finish_number: row.get::<_, i64>(3)?.cast_unsigned(),
                start: row.get(1)?,
                ply_count: row.get(2)?,
            })
        });
        Ok(game.optional()?)
    }

    /// Returns the first `count` moves of a game, its opening included.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn first_moves(&self, game_id: GameId, count: u32) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT move_text FROM plies WHERE game_id = ?1 AND ply < ?2 ORDER BY ply";
        self.list(sql, params![Column(game_id), count], |row| row.get(0))
    }
}
