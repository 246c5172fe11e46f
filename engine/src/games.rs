//! The games that the commands know. Of this program, here alone a game is chosen; each command has a file for each game.

use std::io::Write;

use anyhow::ensure;
use clap::ValueEnum;
use runtime::exit::UsageError;
use shared::game::hive::GameType;

use crate::{analyse, perft, verify};

/// Which game a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GameName {
    /// Hive, with or without expansions.
    Hive,
    /// Italian draughts.
    Dama,
}

impl GameName {
    /// Returns what `perft` counts from.
    ///
    /// # Errors
    /// [`runtime::exit::UsageError`] for options that do not go with the game, or a position that cannot be.
    pub fn counted(self, options: &perft::Options) -> anyhow::Result<Box<dyn perft::Counted>> {
        match self {
            Self::Hive => perft::hive::open(options),
            Self::Dama => perft::dama::open(options),
        }
    }

    /// Checks the facts of a file about this game.
    pub fn check_facts(self, text: &str) -> Vec<verify::Checked> {
        match self {
            Self::Hive => verify::hive::check_facts(text),
            Self::Dama => verify::dama::check_facts(text),
        }
    }

    /// Searches a position and prints what is thought of it.
    ///
    /// # Errors
    /// As [`analyse::run`].
    pub fn analyse(self, options: &analyse::Options, out: &mut dyn Write) -> anyhow::Result<()> {
        match self {
            Self::Hive => analyse::hive::run(options, out),
            Self::Dama => analyse::dama::run(options, out),
        }
    }
}

/// Where a command starts.
#[derive(Debug, Clone, clap::Args)]
pub struct StartOptions {
    /// The game.
    #[arg(long, value_enum)]
    pub game: GameName,
    /// Hive: expansions in play, Base, or Base+ and some of M, L, P. The default is that of --position, else Base+MLP.
    #[arg(long = "type", value_name = "TYPE")]
    pub game_type: Option<GameType>,
    /// The position: Hive, a UHP GameString `Base;InProgress;White[2];wS1;bS1 wS1-`; draughts, a FEN
    /// `W:W21,K7,30:BK3,12,14`. The default is the start of a game.
    #[arg(long, value_name = "POSITION")]
    pub position: Option<String>,
}

/// Refuses an option that belongs to another game.
///
/// # Errors
/// [`UsageError`] if it is not absent.
pub fn ensure_absent(is_absent: bool, option: &str, game: &str) -> anyhow::Result<()> {
    ensure!(is_absent, UsageError(format!("{option} is for --game {game}")));
    Ok(())
}

/// Returns the error for a --position that cannot be.
pub fn wrong_position(error: impl std::fmt::Display) -> anyhow::Error {
    UsageError(format!("--position: {error}")).into()
}
