//! Analysing a position of Hive.

use std::io::Write;

use notation::ReplayRules;
use notation::uhp::{GameString, format_game};
use shared::game::hive::{GameType, Hive, HiveRules};

use super::{Options, analyse};
use crate::start::wrong_position;

/// Searches the position of the options.
///
/// # Errors
/// [`runtime::exit::UsageError`] for an impossible position; else as [`super::analyse`].
pub fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    let start = format!("{}", options.start.game_type.unwrap_or(GameType::MLP));
    let game: GameString = options.start.position.as_ref().unwrap_or(&start).parse().map_err(wrong_position)?;
    let fitting = ReplayRules::default().hive(&game);
    let game_type = options.start.game_type.unwrap_or(game.game_type);
    let hive = Hive::new(HiveRules { game_type, ..*fitting.rules() });
    let (position, moves) = game.replay(&hive).map_err(wrong_position)?;
    analyse(&hive, &position, &format_game(&hive, &moves), options, out)
}
