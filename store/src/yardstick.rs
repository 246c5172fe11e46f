//! Reading the games that measure best networks against earlier ones.

use shared::gate::GateScore;
use shared::ids::{Generation, NetworkId};

use super::columns::Column;
use super::{Reader, StoreError};

/// How a network that was the best once fared against an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YardstickScore {
    /// The network.
    pub network_id: NetworkId,
    /// Its generation.
    pub generation: Generation,
    /// The earlier network.
    pub opponent_id: NetworkId,
    /// Their games, from the network's view.
    pub score: GateScore,
}

impl Reader {
    /// Returns how many yardstick games of these two networks there are, finished or not.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn yardstick_game_count(&self, network_id: NetworkId, opponent_id: NetworkId) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM games
                   WHERE candidate_id = ?1 AND opponent_id = ?2 AND state IN ('open', 'finished')";
        let values = [Column(network_id), Column(opponent_id)];
        let counts = self.list(sql, values, |row| row.get::<_, i64>(0))?;
        Ok(counts.first().map_or(0, |count| count.cast_unsigned()))
    }

    /// Returns how many yardstick games are still to finish.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn open_yardstick_count(&self) -> Result<u64, StoreError> {
        self.number("SELECT count(*) FROM games WHERE kind = 'gate' AND opponent_id IS NOT NULL AND state = 'open'")
    }

    /// Returns the scores of all yardstick games that are finished, by the generation of the network that was measured.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn yardstick_scores(&self) -> Result<Vec<YardstickScore>, StoreError> {
        if !self.has_opponents() {
            return Ok(Vec::new());
        }
        let sql = "SELECT candidate_id, generation, opponent_id,
                       sum(result = iif(white_network_id = candidate_id, 'white', 'black')), sum(result = 'draw'), count(*)
                   FROM games JOIN networks ON network_id = candidate_id
                   WHERE kind = 'gate' AND opponent_id IS NOT NULL AND games.state = 'finished'
                   GROUP BY candidate_id, opponent_id ORDER BY generation, opponent_id";
        self.list(sql, [], |row| {
            let [wins, draws, games]: [u32; 3] = [row.get(3)?, row.get(4)?, row.get(5)?];
            Ok(YardstickScore {
                network_id: row.get::<_, Column<_>>(0)?.0,
                generation: row
                    .get::<_, Option<Column<Generation>>>(1)?
                    .map(|Column(number)| number)
                    .unwrap_or_default(),
                opponent_id: row.get::<_, Column<_>>(2)?.0,
                score: GateScore { wins, draws, losses: games - wins - draws },
            })
        })
    }
}
