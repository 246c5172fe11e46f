//! Analysing a position of Italian draughts.

use std::io::Write;

use shared::game::Game;
use shared::game::dama::{Dama, DamaRules};
use shared::notation::dama::fen;

use super::{Options, analyse};
use crate::games::{ensure_absent, wrong_position};

/// Searches the position of the options.
///
/// # Errors
/// As [`super::run`].
pub fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    ensure_absent(options.start.game_type.is_none(), "--type", "hive")?;
    let dama = Dama::new(DamaRules { ply_limit: u32::MAX });
    let position = match &options.start.position {
        Some(text) => fen::read(text).map_err(wrong_position)?,
        None => dama.initial_position(),
    };
    analyse(&dama, &position, &fen::write(position.board(), position.side_to_move()), options, out)
}
