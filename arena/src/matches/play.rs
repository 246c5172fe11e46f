//! One game: the arbiter asks the players in turn and knows the rules.

use shared::game::{Game, Outcome, Side, Value};
use tokio_util::sync::CancellationToken;

use super::finished::{Ending, FinishedGame};
use super::match_game::MatchGame;
use super::plan::PlannedGame;
use crate::players::{MatchPlayer, Opening, PlayerError, PlayerFailure};

/// Plays a game; `players` are White's and Black's. `None` if the match is being stopped.
///
/// # Errors
/// [`PlayerError`] if a player of ours failed: the match cannot go on.
pub fn play<G: MatchGame>(
    game: &G,
    planned: &PlannedGame<G>,
    mut players: [&mut dyn MatchPlayer<G>; 2],
    stop: &CancellationToken,
) -> Result<Option<FinishedGame<G>>, PlayerError> {
    let mut played = Played { moves: planned.opening.to_vec(), values: vec![None; planned.opening.len()] };
    let result = play_on(game, planned, &mut players, &mut played, stop);
    let Played { moves, values } = played;
    let finish = |outcome, ending| Ok(Some(FinishedGame { planned: planned.clone(), moves, values, outcome, ending }));
    match result {
        Ok(position) => match game.outcome(&position) {
            Some(outcome) => finish(outcome, ending_of(game, &position)),
            None => Ok(None),
        },
        Err((side, PlayerFailure::Forfeit(reason))) => {
            finish(Outcome::Win(side.opponent()), Ending::Forfeit(side, reason))
        }
        Err((_, PlayerFailure::Failed(error))) => Err(error),
        Err((_, PlayerFailure::Cancelled)) => Ok(None),
    }
}

/// What was played so far.
struct Played<G: Game> {
    moves: Vec<G::Move>,
    values: Vec<Option<Value>>,
}

/// Plays until the game is over or the match is to stop; an error names the side that failed.
fn play_on<G: Game>(
    game: &G,
    planned: &PlannedGame<G>,
    players: &mut [&mut dyn MatchPlayer<G>; 2],
    played: &mut Played<G>,
    stop: &CancellationToken,
) -> Result<G::Position, (Side, PlayerFailure)> {
    let (texts, mut position) = format_moves(game, &played.moves);
    let opening = Opening { moves: &planned.opening, texts: &texts, position: position.clone() };
    for side in [Side::White, Side::Black] {
        players[side.index()].begin(&opening, planned.seed_of(side)).map_err(|failure| (side, failure))?;
    }
    while game.outcome(&position).is_none() && !stop.is_cancelled() {
        let side = game.side_to_move(&position);
        let mv = players[side.index()].choose(&position).map_err(|failure| (side, failure))?;
        let before = position.clone();
        game.play(&mut position, mv);
        played.moves.push(mv);
        played.values.push(players[side.index()].value());
        if game.outcome(&position).is_some() {
            // Nobody has to agree that the game is over.
            break;
        }
        for side in [side, side.opponent()] {
            players[side.index()].observe(&before, mv).map_err(|failure| (side, failure))?;
        }
    }
    Ok(position)
}

/// Returns the texts of legal moves from the start of a game, and the position after them.
fn format_moves<G: Game>(game: &G, moves: &[G::Move]) -> (Vec<String>, G::Position) {
    let mut position = game.initial_position();
    let format = |mv: &G::Move| {
        let text = game.format_move(&position, *mv);
        game.play(&mut position, *mv);
        text
    };
    (moves.iter().map(format).collect(), position)
}

fn ending_of<G: MatchGame>(game: &G, position: &G::Position) -> Ending {
    if game.is_cut_off(position) { Ending::PlyLimit } else { Ending::Rules(game.ending(position)) }
}
