//! Lists of games.

use serde::Serialize;
use shared::game::{Outcome, Side};
use shared::ids::{GameId, NetworkRef};
use store::{GameFilter, GameKind, GameKindFilter, GameState, GameSummary, Reader};

use super::answer::PageError;
use super::query::{Query, bad};

/// Most games of one answer.
pub(super) const GAME_COUNT_MAX: u32 = 200;
/// What can be asked for.
pub(super) const KEYS: [&str; 6] = ["iteration", "kind", "result", "state", "before", "limit"];

/// Part of a list of games.
#[derive(Debug, Serialize)]
pub(super) struct GamePage {
    games: Vec<GameLine>,
    /// Where the next part begins; none: this was the last one.
    next_before: Option<u64>,
}

/// A game.
#[derive(Debug, Serialize)]
struct GameLine {
    game_id: u64,
    kind: &'static str,
    iteration: u32,
    /// 0: the best network at each time.
    white_network: u32,
    black_network: u32,
    state: &'static str,
    result: Option<&'static str>,
    is_cut_off: bool,
    /// Whether the side that did not win resigned.
    is_resigned: bool,
    ply_count: Option<u32>,
    finished_at: Option<String>,
}

/// Reads which games are asked for.
pub(super) fn filter_of(query: &Query) -> Result<GameFilter, PageError> {
    let mut filter = GameFilter {
        iteration: query.value("iteration")?,
        before: query.value("before")?.map(GameId::new),
        ..GameFilter::default()
    };
    filter.kind = match query.text("kind") {
        None => None,
        Some("self_play") => Some(GameKindFilter::SelfPlay),
        Some("gate") => Some(GameKindFilter::Gate),
        Some("yardstick") => Some(GameKindFilter::Yardstick),
        Some(other) => return Err(bad("kind", format!("{other:?} is not self_play, gate or yardstick"))),
    };
    match query.text("result") {
        None => {}
        Some("white") => filter.outcome = Some(Outcome::Win(Side::White)),
        Some("black") => filter.outcome = Some(Outcome::Win(Side::Black)),
        Some("draw") => filter.outcome = Some(Outcome::Draw),
        Some("cut_off") => filter.is_cut_off = true,
        Some(other) => return Err(bad("result", format!("{other:?} is not white, black, draw or cut_off"))),
    }
    let states = [GameState::Open, GameState::Finished, GameState::Quarantined, GameState::Abandoned];
    filter.state = match query.text("state") {
        None => None,
        Some(word) => Some(
            states
                .into_iter()
                .find(|state| state.word() == word)
                .ok_or_else(|| bad("state", format!("{word:?} is not open, finished, quarantined or abandoned")))?,
        ),
    };
    Ok(filter)
}

/// Reads the newest games that pass the filter.
pub(super) fn read_games(reader: &Reader, filter: &GameFilter, count_max: u32) -> Result<GamePage, PageError> {
    let games = reader.games_before(filter, count_max)?;
    let is_more = games.len() == count_max as usize;
    let next_before = games.last().map(|last| last.game_id.get()).filter(|_| is_more);
    Ok(GamePage { games: games.into_iter().map(line_of).collect(), next_before })
}

/// Returns what a game is played for, in one word.
pub(super) const fn kind_word(kind: GameKind, is_yardstick: bool) -> &'static str {
    if is_yardstick { "yardstick" } else { kind.word() }
}

/// Returns the number of a network, 0 for the best one.
pub(super) const fn network_number(network: NetworkRef) -> u32 {
    match network {
        NetworkRef::Best => 0,
        NetworkRef::Id(network_id) => network_id.get(),
    }
}

/// Returns who won, in one word.
pub(super) const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(side) => side_word(side),
        Outcome::Draw => "draw",
    }
}

/// Returns the name of a side.
pub(super) const fn side_word(side: Side) -> &'static str {
    match side {
        Side::White => "white",
        Side::Black => "black",
    }
}

fn line_of(game: GameSummary) -> GameLine {
    GameLine {
        game_id: game.game_id.get(),
        kind: kind_word(game.kind, game.is_yardstick),
        iteration: game.iteration,
        white_network: network_number(game.white_network),
        black_network: network_number(game.black_network),
        state: game.state.word(),
        result: game.result.map(|result| outcome_word(result.outcome)),
        is_cut_off: game.result.is_some_and(|result| result.is_cut_off),
        is_resigned: game.result.is_some_and(|result| result.resigned_by().is_some()),
        ply_count: game.ply_count,
        finished_at: game.finished_at,
    }
}
