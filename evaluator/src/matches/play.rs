//! One game: the arbiter asks the players in turn and knows the rules.

use shared::game::hive::{Hive, Move, Position};
use shared::game::{Game, Outcome, Side, Value};
use tokio_util::sync::CancellationToken;

use super::mover::{Mover, Opening, Stop};
use super::plan::PlannedGame;

/// How a game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// A queen or both are surrounded.
    QueenSurrounded,
    /// The third occurrence of a position.
    Repetition,
    /// The ply limit.
    PlyLimit,
    /// This side lost, for this reason.
    Forfeit(Side, String),
}

/// A game that is over.
#[derive(Debug, Clone)]
pub struct FinishedGame {
    /// Which one.
    pub planned: PlannedGame,
    /// All moves, the opening included.
    pub moves: Vec<Move>,
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
pub fn play(
    hive: &Hive,
    planned: &PlannedGame,
    mut movers: [&mut dyn Mover; 2],
    stop: &CancellationToken,
) -> anyhow::Result<Option<FinishedGame>> {
    let mut played = Played { moves: planned.opening.to_vec(), values: vec![None; planned.opening.len()] };
    let result = play_on(hive, planned, &mut movers, &mut played, stop);
    let Played { moves, values } = played;
    let finish = |outcome, ending| Ok(Some(FinishedGame { planned: planned.clone(), moves, values, outcome, ending }));
    match result {
        Ok(position) => match hive.outcome(&position) {
            Some(outcome) => finish(outcome, ending_of(hive, &position)),
            None => Ok(None),
        },
        Err((side, Stop::Forfeit(reason))) => finish(Outcome::Win(side.opponent()), Ending::Forfeit(side, reason)),
        Err((_, Stop::Failed(error))) => Err(error),
        Err((_, Stop::Cancelled)) => Ok(None),
    }
}

/// What was played so far.
struct Played {
    moves: Vec<Move>,
    values: Vec<Option<Value>>,
}

/// Plays until the game is over or the match is to stop; tells whose fault it is otherwise.
fn play_on(
    hive: &Hive,
    planned: &PlannedGame,
    movers: &mut [&mut dyn Mover; 2],
    played: &mut Played,
    stop: &CancellationToken,
) -> Result<Position, (Side, Stop)> {
    let (texts, mut position) = shared::notation::uhp::format_moves(hive, &played.moves);
    let opening = Opening { texts: &texts, position: position.clone() };
    for side in [Side::White, Side::Black] {
        movers[side.index()].begin(&opening, planned.seed_of(side)).map_err(|stop| (side, stop))?;
    }
    while hive.outcome(&position).is_none() && !stop.is_cancelled() {
        let side = hive.side_to_move(&position);
        let mv = movers[side.index()].choose(&position).map_err(|stop| (side, stop))?;
        let before = position.clone();
        hive.play(&mut position, mv);
        played.moves.push(mv);
        played.values.push(movers[side.index()].value());
        if hive.outcome(&position).is_some() {
            // Nobody has to agree that the game is over.
            break;
        }
        for side in [side, side.opponent()] {
            movers[side.index()].observe(&before, mv).map_err(|stop| (side, stop))?;
        }
    }
    Ok(position)
}

fn ending_of(hive: &Hive, position: &Position) -> Ending {
    let is_surrounded = [Side::White, Side::Black].iter().any(|side| position.queen_neighbour_count(*side) == 6);
    if is_surrounded {
        Ending::QueenSurrounded
    } else if hive.is_cut_off(position) {
        Ending::PlyLimit
    } else {
        Ending::Repetition
    }
}
