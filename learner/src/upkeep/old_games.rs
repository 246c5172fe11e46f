//! Which games lose their plies: those that are older than the newest that are to be kept, and that nothing of the run
//! needs any more.

use std::sync::Arc;

use registry::StartPlan;
use samples::buffer::SharedReplay;
use store::{Change, Reader, StoreError, ThinnableGame};

/// Plies that one transaction removes, unless a single game has more.
const STEP_PLIES_MAX: u32 = 2000;
/// Games of a kind that one transaction removes the plies of.
const STEP_GAMES_MAX: u32 = 64;

/// Chooses the games.
pub(crate) struct OldGames {
    /// Newest self-play games that are kept; 0: all.
    pub(crate) keep_games: u32,
    /// What is learned from and measured with: its games stay, so that a restart finds them.
    pub(crate) replay: Arc<SharedReplay>,
    /// Where new games begin: those that they begin in stay.
    pub(crate) starts: StartPlan,
}

impl OldGames {
    /// Returns the next games to remove the plies of, few enough for one transaction; none if there are none.
    pub(crate) fn next_step(&self, reader: &Reader) -> Result<Vec<Change>, StoreError> {
        let Some(first_kept) = self.first_kept(reader)? else { return Ok(Vec::new()) };
        let games = reader.thinnable_games(first_kept, STEP_GAMES_MAX)?;
        Ok(step_of(&games).iter().map(|game| Change::ThinGame { game_id: game.game_id }).collect())
    }

    /// Returns the finish number of the oldest game that stays; `None` if all do.
    fn first_kept(&self, reader: &Reader) -> Result<Option<u64>, StoreError> {
        if self.keep_games == 0 {
            return Ok(None);
        }
        let Some(newest) = reader.oldest_of_newest(self.keep_games)? else { return Ok(None) };
        let needed = [self.replay.first_finish_number(), self.starts.oldest_game(reader)?];
        Ok(needed.into_iter().flatten().chain([newest]).min())
    }
}

/// Returns the first of these games, as many as one transaction takes, and one in any case.
fn step_of(games: &[ThinnableGame]) -> &[ThinnableGame] {
    let mut ply_count = 0;
    let fits = games.iter().take_while(|game| {
        ply_count += game.ply_count;
        ply_count <= STEP_PLIES_MAX
    });
    &games[..fits.count().max(1).min(games.len())]
}

#[cfg(test)]
mod tests {
    use shared::ids::GameId;

    use super::*;

    #[test]
    fn a_step_has_few_plies_but_at_least_one_game() {
        let games = |counts: &[u32]| -> Vec<ThinnableGame> {
            (1..)
                .zip(counts)
                .map(|(number, &ply_count)| ThinnableGame { game_id: GameId::new(number), ply_count })
                .collect()
        };
        for (counts, taken) in
            [(&[][..], 0), (&[70; 64], 28), (&[STEP_PLIES_MAX, 1], 1), (&[5000, 5000], 1), (&[9; 64], 64)]
        {
            assert_eq!(step_of(&games(counts)).len(), taken, "{counts:?}");
        }
    }
}
