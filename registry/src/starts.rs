//! Where self-play games begin: at the initial position, at a random endgame, or in the middle of another game.

use std::sync::Arc;

use shared::encoding::Encoding;
use shared::game::Game;
use shared::record::{PlyRecord, ReplayState};
use shared::seed::mix_seed;
use store::{Reader, StoreError};

/// Own games that a start is drawn from: the newest.
const EARLIER_GAMES_MAX: u64 = 2000;

/// Mixed into a game's seed for all that is drawn for its start.
const START_SEED: u64 = 0x0073_7461_7274;

/// Where self-play games begin. What is left of the shares begins at the initial position.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StartPlan {
    /// Share that begins from random endgames, 0..=1; the game must have some.
    pub endgame_share: f64,
    /// Share that begins from positions of `human_games`, 0..=1.
    pub human_share: f64,
    /// Share that begins from positions of the run's own finished games, 0..=1.
    pub earlier_share: f64,
    /// Moves of human games, each game from its start for as long as it goes on by the rules of the run.
    pub human_games: Arc<[Vec<String>]>,
}

/// Where one game begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct GameStart {
    /// The position before its first move; `None`: the initial one.
    pub position: Option<String>,
    /// Moves that are played before the players begin: no one learns from them.
    pub opening: Vec<String>,
}

impl StartPlan {
    /// Returns the finish number of the oldest game of the run from which another may begin; `None` if none can.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the run's own games cannot be read.
    pub fn oldest_game(&self, reader: &Reader) -> Result<Option<u64>, StoreError> {
        if self.earlier_share == 0.0 {
            return Ok(None);
        }
        let last = reader.last_finish_number()?;
        let first = last.saturating_sub(EARLIER_GAMES_MAX) + 1;
        // The one at or before the first that can be drawn: there may be gate games between.
        let oldest = reader.self_play_game_finished_by(first)?.map(|game| game.finish_number);
        Ok(Some(oldest.unwrap_or(first)))
    }

    /// Draws where the game of this seed begins. A start that the rules do not allow, or in which the game is over, gives
    /// way to the initial position.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the run's own games cannot be read.
    pub(super) fn draw<E: Encoding>(&self, encoding: &E, reader: &Reader, seed: u64) -> Result<GameStart, StoreError> {
        let drawn = unit(draw(seed, 0));
        let human_end = self.endgame_share + self.human_share;
        let start = if drawn < self.endgame_share {
            GameStart { position: encoding.game().random_endgame(draw(seed, 1)), opening: Vec::new() }
        } else if drawn < human_end {
            self.within_human_game(seed)
        } else if drawn < human_end + self.earlier_share {
            within_earlier_game(reader, seed)?
        } else {
            GameStart::default()
        };
        let is_playable = start.opening.is_empty() || goes_on(encoding, &start);
        Ok(if is_playable { start } else { GameStart::default() })
    }

    fn within_human_game(&self, seed: u64) -> GameStart {
        let Some(index) = (draw(seed, 2)).checked_rem(self.human_games.len() as u64) else {
            return GameStart::default();
        };
        let moves = &self.human_games[index as usize];
        let ply_count = draw_ply(seed, moves.len() as u64) as usize;
        GameStart { position: None, opening: moves[..ply_count].to_vec() }
    }
}

/// Draws a position of one of the newest finished games of the run; the initial one before there are any.
fn within_earlier_game(reader: &Reader, seed: u64) -> Result<GameStart, StoreError> {
    let last = reader.last_finish_number()?;
    let Some(back) = draw(seed, 2).checked_rem(last.min(EARLIER_GAMES_MAX)) else { return Ok(GameStart::default()) };
    let Some(game) = reader.self_play_game_finished_by(last - back)? else { return Ok(GameStart::default()) };
    // The last ply ended the game.
    let ply_count = draw_ply(seed, u64::from(game.ply_count.saturating_sub(1)));
    let opening = reader.first_moves(game.game_id, ply_count as u32)?;
    Ok(GameStart { position: game.start, opening })
}

/// Returns a number of plies from 1 to `ply_count_max`, 0 if that is 0.
fn draw_ply(seed: u64, ply_count_max: u64) -> u64 {
    draw(seed, 3).checked_rem(ply_count_max).map_or(0, |ply| ply + 1)
}

/// Returns the random number of this index that belongs to a game's seed.
fn draw(seed: u64, index: u64) -> u64 {
    mix_seed(seed ^ START_SEED, index)
}

/// Returns a random number as one from 0 to 1.
fn unit(random: u64) -> f64 {
    random as f64 / u64::MAX as f64
}

/// Returns whether the moves are legal from the start and the game is not over after them.
fn goes_on<E: Encoding>(encoding: &E, start: &GameStart) -> bool {
    let state = ReplayState::new(encoding.clone(), start.position.as_deref(), start.opening.len() as u32);
    let Ok(mut state) = state else { return false };
    let is_legal = |move_text: &String| state.play(&PlyRecord::unsearched(move_text)).is_ok();
    start.opening.iter().all(is_legal) && state.outcome().is_none()
}
