//! Analysing a position of Italian draughts.

use std::io::Write;

use shared::game::Game;
use shared::game::dama::fen;
use shared::game::dama::{Dama, DamaRules};

use super::{Analysed, Options, analyse};
use crate::start::{GameName, ensure_absent, wrong_position};

/// Searches the position of the options no longer than `goes_on`.
///
/// # Errors
/// [`runtime::exit::UsageError`] for an impossible position; else as [`super::analyse`].
pub fn run(options: &Options, goes_on: &dyn Fn() -> bool, out: &mut dyn Write) -> anyhow::Result<()> {
    ensure_absent(options.start.game_type.is_none(), "--type", "hive")?;
    options.start.ensure_position_of(GameName::Dama)?;
    let dama = Dama::new(DamaRules { ply_limit: u32::MAX });
    let position = match &options.start.position {
        Some(text) => fen::read(text).map_err(wrong_position)?,
        None => dama.initial_position(),
    };
    let heading = fen::write(position.board(), position.side_to_move());
    analyse(Analysed { game: &dama, position: &position, heading: &heading }, options, goes_on, out)
}
