//! What is played and how it is searched, as the learner tells its workers.

use proto::game_spec::Game;

use super::WireError;
use crate::game::catalog::GameSpec;

/// Returns the message for a game.
#[must_use]
pub fn game_spec_to_proto(spec: &GameSpec) -> proto::GameSpec {
    let game = match spec {
        GameSpec::TicTacToe {} => Game::TicTacToe(proto::TicTacToeSpec {}),
    };
    proto::GameSpec { game: Some(game) }
}

/// Reads a game and checks it.
///
/// # Errors
/// [`WireError`] if no game is named or the game is impossible.
pub fn game_spec_from_proto(message: &proto::GameSpec) -> Result<GameSpec, WireError> {
    let spec = match message.game.as_ref().ok_or(WireError::Missing("game"))? {
        Game::Hive(_) => return Err(WireError::invalid("game", "this program does not play Hive")),
        Game::TicTacToe(_) => GameSpec::TicTacToe {},
    };
    spec.check()?;
    Ok(spec)
}
