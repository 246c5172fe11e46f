//! Analysing a position of Hive.

use std::io::Write;

use notation::ReplayRules;
use notation::uhp::{GameString, format_game};
use shared::game::hive::{GameType, Hive, HiveRules};

use super::{Analysed, Options, analyse};
use crate::start::{GameName, wrong_position};

/// Searches the position of the options no longer than `goes_on`.
///
/// # Errors
/// [`runtime::exit::UsageError`] for an impossible position; else as [`super::analyse`].
pub fn run(options: &Options, goes_on: &dyn Fn() -> bool, out: &mut dyn Write) -> anyhow::Result<()> {
    options.start.ensure_position_of(GameName::Hive)?;
    let start = format!("{}", options.start.game_type.unwrap_or(GameType::MLP));
    let game: GameString = options.start.position.as_ref().unwrap_or(&start).parse().map_err(wrong_position)?;
    let fitting = ReplayRules::default().hive(&game);
    let game_type = options.start.game_type.unwrap_or(game.game_type);
    let hive = Hive::new(HiveRules { game_type, ..*fitting.rules() });
    let (position, moves) = game.replay(&hive).map_err(wrong_position)?;
    let heading = format_game(&hive, &moves);
    analyse(Analysed { game: &hive, position: &position, heading: &heading }, options, goes_on, out)
}
