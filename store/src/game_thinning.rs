//! Removing the plies of old games: which games there are, and removing those of one. Rows of games stay, so all that is
//! counted stays as it is. Which games are old enough is the caller's business.

use rusqlite::{Connection, OptionalExtension, params};
use shared::ids::GameId;

use super::columns::Column;
use super::statement::execute;
use super::{GameKind, Reader, StoreError};

/// Of games that are over and have their plies, those of gates that are not decided yet are searched again.
const IS_NEEDED: &str = "kind = 'gate' AND opponent_id IS NULL
    AND (SELECT state FROM networks WHERE network_id = games.candidate_id) IS 'candidate'";

/// A game whose plies can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThinnableGame {
    /// The game.
    pub game_id: GameId,
    /// Plies that are stored of it.
    pub ply_count: u32,
}

/// Removes the plies of a game that is over, and the texts of its row that are as good as plies.
pub(super) fn thin_game(connection: &Connection, game_id: GameId) -> Result<(), StoreError> {
    let sql = format!(
        "UPDATE games SET is_thinned = 1, settings = '', opening = ''
         WHERE game_id = ?1 AND state IN ('finished', 'abandoned') AND is_thinned = 0 AND NOT ({IS_NEEDED})"
    );
    if execute(connection, &sql, [Column(game_id)])? == 1 {
        execute(connection, "DELETE FROM plies WHERE game_id = ?1", [Column(game_id)])?;
    }
    Ok(())
}

impl Reader {
    /// Returns the finish number of the oldest of the newest `count` self-play games that have their plies; `None` if there
    /// are fewer.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn oldest_of_newest(&self, count: u32) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT finish_number FROM games
                   WHERE kind = 'self_play' AND is_thinned = 0 AND finish_number IS NOT NULL
                   ORDER BY finish_number DESC LIMIT 1 OFFSET ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let number = statement.query_row([count.saturating_sub(1)], |row| row.get::<_, i64>(0)).optional()?;
        Ok(number.map(i64::cast_unsigned))
    }

    /// Returns games that finished before this finish number, or were abandoned before then, and have their plies: at most
    /// `count_max` of each kind, the oldest first. Games of a gate that is not decided are not among them.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn thinnable_games(&self, before: u64, count_max: u32) -> Result<Vec<ThinnableGame>, StoreError> {
        let read = |row: &rusqlite::Row<'_>| {
            Ok(ThinnableGame { game_id: row.get::<_, Column<_>>(0)?.0, ply_count: row.get(1)? })
        };
        let before = before.min(i64::MAX as u64).cast_signed();
        let mut games = Vec::new();
        for kind in [GameKind::SelfPlay, GameKind::Gate] {
            let kind = kind.word();
            let sql = format!(
                "SELECT game_id, ply_count FROM games
                 WHERE kind = '{kind}' AND is_thinned = 0 AND finish_number < ?1 AND NOT ({IS_NEEDED})
                 ORDER BY finish_number LIMIT ?2"
            );
            games.extend(self.list(&sql, params![before, count_max], read)?);
        }
        // Their numbers are those of games that began before.
        let sql = format!(
            "SELECT game_id, (SELECT count(*) FROM plies WHERE plies.game_id = games.game_id) FROM games
             WHERE kind = 'gate' AND is_thinned = 0 AND finish_number IS NULL AND state = 'abandoned'
                 AND game_id < (SELECT game_id FROM games WHERE finish_number >= ?1 ORDER BY finish_number LIMIT 1)
                 AND NOT ({IS_NEEDED})
             ORDER BY game_id LIMIT ?2"
        );
        games.extend(self.list(&sql, params![before, count_max], read)?);
        Ok(games)
    }

    /// Returns how many finished games of a kind have had their plies removed.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn thinned_game_count(&self, kind: GameKind) -> Result<u64, StoreError> {
        let (kind, is_thinned) = (kind.word(), self.game_columns.is_thinned);
        self.number(&format!(
            "SELECT count(*) FROM games WHERE state = 'finished' AND kind = '{kind}' AND {is_thinned} = 1"
        ))
    }

    /// Returns games that are said to have no plies and have some, at most `count_max`: what no kill can leave behind.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn half_thinned_games(&self, count_max: u32) -> Result<Vec<GameId>, StoreError> {
        let sql = format!(
            "SELECT game_id FROM games WHERE {} = 1 AND EXISTS (SELECT 1 FROM plies WHERE plies.game_id = games.game_id)
             ORDER BY game_id LIMIT ?1",
            self.game_columns.is_thinned
        );
        self.list(&sql, [count_max], |row| row.get(0).map(|Column(game_id)| game_id))
    }
}
