//! What is played and how it is searched, as the learner tells its workers.

use proto::game_spec::Game;

use super::WireError;
use crate::catalog::GameSpec;
use crate::encoding::dama::PolicyCoding;
use crate::game::dama::DamaRules;
use crate::game::hive::{GameTypeError, HiveRules};

/// Returns the message for a game.
#[must_use]
pub fn game_spec_to_proto(spec: &GameSpec) -> proto::GameSpec {
    let game = match spec {
        GameSpec::Hive { rules, frame } => Game::Hive(proto::HiveSpec {
            game_type: rules.game_type.to_string(),
            ply_limit: rules.ply_limit,
            repetition_draw: rules.repetition_draw,
            queen_first_allowed: rules.queen_first_allowed,
            frame: u32::from(*frame),
        }),
        GameSpec::Dama { rules, policy } => {
            let policy = match policy {
                PolicyCoding::Lossless => proto::DamaPolicy::Lossless,
                PolicyCoding::From4 => proto::DamaPolicy::From4,
            };
            Game::Dama(proto::DamaSpec { ply_limit: rules.ply_limit, policy: policy.into() })
        }
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
        Game::Hive(hive) => hive_from_proto(hive)?,
        Game::Dama(dama) => dama_from_proto(*dama)?,
        Game::TicTacToe(_) => GameSpec::TicTacToe {},
    };
    spec.check().map_err(|error| error.under("game"))?;
    Ok(spec)
}

fn hive_from_proto(message: &proto::HiveSpec) -> Result<GameSpec, WireError> {
    let game_type =
        message.game_type.parse().map_err(|error: GameTypeError| WireError::invalid("game_type", error.to_string()))?;
    let frame = u8::try_from(message.frame)
        .map_err(|_| WireError::invalid("frame", format!("{} is not in 8..=32", message.frame)))?;
    let rules = HiveRules {
        game_type,
        ply_limit: message.ply_limit,
        repetition_draw: message.repetition_draw,
        queen_first_allowed: message.queen_first_allowed,
        rest_counts: false,
    };
    Ok(GameSpec::Hive { rules, frame })
}

fn dama_from_proto(message: proto::DamaSpec) -> Result<GameSpec, WireError> {
    let policy = match message.policy() {
        proto::DamaPolicy::Lossless => PolicyCoding::Lossless,
        proto::DamaPolicy::From4 => PolicyCoding::From4,
        proto::DamaPolicy::Unspecified => {
            return Err(WireError::invalid("policy", format!("there is no coding {}", message.policy)));
        }
    };
    Ok(GameSpec::Dama { rules: DamaRules { ply_limit: message.ply_limit }, policy })
}
