//! One game: the arbiter asks the players in turn and knows the rules.

use shared::game::{Game, Outcome, Side, Value};
use tokio_util::sync::CancellationToken;

use super::game::MatchGame;
use super::mover::{Mover, Opening, Stop};
use super::plan::PlannedGame;

/// How a game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// As the rules say: one of [`MatchGame::ENDINGS`].
    Rules(&'static str),
    /// The ply limit.
    PlyLimit,
    /// This side lost, for this reason.
    Forfeit(Side, String),
}

/// A game that is over.
#[derive(Debug, Clone)]
pub struct FinishedGame<G: Game> {
    /// Which one.
    pub planned: PlannedGame<G>,
    /// All moves, the opening included.
    pub moves: Vec<G::Move>,
    /// What the mover expected at each of them, if it thinks in numbers.
    pub values: Vec<Option<Value>>,
    /// Who won.
    pub outcome: Outcome,
    /// Why.
    pub ending: Ending,
}

/// Plays a game; `movers` are White's and Black's. `None` if the match is being stopped.
///
/// # Errors
/// What makes it impossible to go on with the match.
pub fn play<G: MatchGame>(
    game: &G,
    planned: &PlannedGame<G>,
    mut movers: [&mut dyn Mover<G>; 2],
    stop: &CancellationToken,
) -> anyhow::Result<Option<FinishedGame<G>>> {
    let mut played = Played { moves: planned.opening.to_vec(), values: vec![None; planned.opening.len()] };
    let result = play_on(game, planned, &mut movers, &mut played, stop);
    let Played { moves, values } = played;
    let finish = |outcome, ending| Ok(Some(FinishedGame { planned: planned.clone(), moves, values, outcome, ending }));
    match result {
        Ok(position) => match game.outcome(&position) {
            Some(outcome) => finish(outcome, ending_of(game, &position)),
            None => Ok(None),
        },
        Err((side, Stop::Forfeit(reason))) => finish(Outcome::Win(side.opponent()), Ending::Forfeit(side, reason)),
        Err((_, Stop::Failed(error))) => Err(error),
        Err((_, Stop::Cancelled)) => Ok(None),
    }
}

/// What was played so far.
struct Played<G: Game> {
    moves: Vec<G::Move>,
    values: Vec<Option<Value>>,
}

/// Plays until the game is over or the match is to stop; tells whose fault it is otherwise.
fn play_on<G: Game>(
    game: &G,
    planned: &PlannedGame<G>,
    movers: &mut [&mut dyn Mover<G>; 2],
    played: &mut Played<G>,
    stop: &CancellationToken,
) -> Result<G::Position, (Side, Stop)> {
    let (texts, mut position) = format_moves(game, &played.moves);
    let opening = Opening { texts: &texts, position: position.clone() };
    for side in [Side::White, Side::Black] {
        movers[side.index()].begin(&opening, planned.seed_of(side)).map_err(|stop| (side, stop))?;
    }
    while game.outcome(&position).is_none() && !stop.is_cancelled() {
        let side = game.side_to_move(&position);
        let mv = movers[side.index()].choose(&position).map_err(|stop| (side, stop))?;
        let before = position.clone();
        game.play(&mut position, mv);
        played.moves.push(mv);
        played.values.push(movers[side.index()].value());
        if game.outcome(&position).is_some() {
            // Nobody has to agree that the game is over.
            break;
        }
        for side in [side, side.opponent()] {
            movers[side.index()].observe(&before, mv).map_err(|stop| (side, stop))?;
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
