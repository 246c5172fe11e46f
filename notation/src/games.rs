//! Games as UHP GameStrings, one a line: `Base+MLP;WhiteWins;Black[16];wP;bS1 \wP;...`.
//!
//! The state in the line is trusted unless a queen is surrounded: people resign, and clocks run out. Pieces may be
//! numbered in any order.

use super::played::{Replay, StatedEnd};
use super::uhp::{GameState, GameString};
use super::{Ending, PlayedGame, ReadError, ReadOptions, Remark};
use shared::game::hive::text::read_recorded_move;
use shared::game::{MOVE_TEXT_BYTES_MAX, Outcome};
use shared::quoted::Quoted;

/// Why a line is not a game.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {error}")]
pub struct LineError {
    /// Number of the line, from 1.
    pub line: u32,
    /// What is wrong with it.
    pub error: ReadError,
}

/// Reads games, one a line, skipping empty lines. A broken game is dropped, and its error is returned in its place.
pub fn read_lines(text: &str, options: ReadOptions) -> impl Iterator<Item = Result<PlayedGame, LineError>> {
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(move |(line, text)| read(text, options).map_err(|error| LineError { line, error }))
}

/// Reads one game.
///
/// # Errors
/// [`ReadError`] if the text is not a GameString, a move is not legal, or the moves lead to another turn than the
/// text tells. Never panics.
pub fn read(text: &str, options: ReadOptions) -> Result<PlayedGame, ReadError> {
    let game: GameString = text.parse()?;
    let mut replay = Replay::new(game.game_type, options);
    for text in &game.moves {
        play_text(&mut replay, text)?;
    }
    // A line that was cut off would otherwise pass for a game that was given up.
    game.check_turn(replay.next_ply() - 1)?;
    Ok(finish_stated(replay, game.state.and_then(GameState::outcome)))
}

/// Reads one game beside which its outcome is stated once more, as in a table.
///
/// # Errors
/// As [`read`], and [`ReadError::OtherWinner`] if text and statement contradict each other where the moves do not decide.
/// Where they do, they count, and a contradiction is a [`Remark`].
pub fn read_beside(text: &str, beside: Option<Outcome>, options: ReadOptions) -> Result<PlayedGame, ReadError> {
    let mut game = read(text, options)?;
    let (Some(beside), found) = (beside, game.outcome) else { return Ok(game) };
    match found {
        Some(found) if found == beside => {}
        Some(_) if game.ending == Ending::QueenSurrounded => {
            let remark = Remark::StatedOtherwise { stated: beside };
            if !game.remarks.contains(&remark) {
                game.remarks.push(remark);
            }
        }
        Some(found) if game.ending == Ending::Stated => {
            let [winner, found] = [beside, found].map(|outcome| GameState::from(Some(outcome)));
            return Err(ReadError::OtherWinner { winner, found });
        }
        // A repetition is no more than the last position: people who stop there may have agreed otherwise.
        _ => (game.outcome, game.ending) = (Some(beside), Ending::Stated),
    }
    game.stated_outcome = game.stated_outcome.or(Some(beside));
    Ok(game)
}

/// Plays a move as it is written.
pub(super) fn play_text(replay: &mut Replay, text: &str) -> Result<(), ReadError> {
    let mv = read_recorded_move(replay.position(), text).map_err(|error| {
        let shown: String = text.chars().take(MOVE_TEXT_BYTES_MAX).collect();
        ReadError::Unreadable { ply: replay.next_ply(), reason: format!("{}: {error}", Quoted(&shown)) }
    })?;
    replay.play(mv)
}

/// Ends the reading of a game whose outcome is stated, but not what led to it.
pub(super) fn finish_stated(replay: Replay, stated: Option<Outcome>) -> PlayedGame {
    let end = |outcome: Outcome| {
        let is_repetition = outcome == Outcome::Draw && replay.is_repeated();
        (outcome, if is_repetition { Ending::Repetition } else { Ending::Stated })
    };
    let stated_end = StatedEnd { end: stated.map(end), stated };
    replay.finish(stated_end)
}
