//! Where a game is chosen, of this program here alone: each command has a file for each game.

use std::io::Write;

use crate::start::GameName;
use crate::{analyse, perft, verify};

/// Counts the ways to play on.
///
/// # Errors
/// [`runtime::exit::UsageError`] for options that do not go with the game, or an impossible position; else as
/// [`perft::run`].
pub fn perft(options: &perft::Options, out: &mut impl Write) -> anyhow::Result<()> {
    let counted = match options.start.game(|| None) {
        GameName::Hive => perft::hive::open(options)?,
        GameName::Dama => perft::dama::open(options)?,
    };
    perft::run(&*counted, options.depth, out)
}

/// Checks files of facts about a game.
///
/// # Errors
/// As [`verify::run`].
pub fn verify(options: &verify::Options, out: &mut impl Write) -> anyhow::Result<()> {
    let check_facts = |text: &str| match options.game.or_else(|| GameName::of_facts(text)) {
        Some(GameName::Hive) => verify::hive::check_facts(text),
        Some(GameName::Dama) => verify::dama::check_facts(text),
        None => vec![],
    };
    verify::run(options, &check_facts, out)
}

/// Searches a position no longer than `goes_on`, and prints the moves that it finds best.
///
/// # Errors
/// [`runtime::exit::UsageError`] for an impossible position; a network that cannot be played; if the output is closed.
pub fn analyse(options: &analyse::Options, goes_on: &dyn Fn() -> bool, out: &mut impl Write) -> anyhow::Result<()> {
    match options.start.game(|| options.player.game()) {
        GameName::Hive => analyse::hive::run(options, goes_on, out),
        GameName::Dama => analyse::dama::run(options, goes_on, out),
    }
}
