//! One game: the network searches each move, and the search says what is to be learned from it.

use shared::catalog::NetworkGame;
use shared::encoding::Encoding;
use shared::game::Game;
use shared::record::{ReplayState, ReplayedGame, searched_ply};
use shared::search::{Evaluator, Search, SearchEffort, select_leaves};
use tokio_util::sync::CancellationToken;

use super::{SelfPlayError, SelfPlaySettings};

/// Plays a game from the initial position; what is random in it follows from `seed`. `None` if the stop came first.
pub(super) fn play_game<E: Encoding<Game: NetworkGame>>(
    encoding: &E,
    evaluator: &mut impl Evaluator<E::Game>,
    settings: &SelfPlaySettings<E::Game>,
    seed: u64,
    stop: &CancellationToken,
) -> Result<Option<ReplayedGame>, SelfPlayError> {
    let game = encoding.game();
    let SelfPlaySettings { search: settings, oracle, .. } = settings;
    let search = Search::new(game.clone(), game.initial_position(), settings.clone(), seed)?;
    let mut search = search.with_oracle(oracle.clone());
    let mut state = ReplayState::of_whole_game(encoding.clone());
    let mut leaves = vec![];
    while state.outcome().is_none() {
        if stop.is_cancelled() {
            return Ok(None);
        }
        let effort = settings.effort_at(seed, state.ply_count());
        search.set_effort(effort);
        while !search.is_done() {
            select_leaves(&mut search, settings.leaves_per_game, &mut leaves);
            if !leaves.is_empty() {
                evaluator.evaluate(&mut search, &leaves)?;
            }
        }
        let mv = search.choose_move();
        // The record is replayed by the rules as it grows, as a learner replays what workers report.
        state.play(&searched_ply(encoding, &search, mv, effort == SearchEffort::Full))?;
        search.play(mv);
    }
    Ok(Some(state.finish()))
}
