//! Which game a command is about, and from which position it starts.

use anyhow::ensure;
use clap::ValueEnum;
use runtime::exit::UsageError;
use shared::game::hive::GameType;

/// Which game a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GameName {
    /// Hive, with or without expansions.
    Hive,
    /// Italian draughts.
    Dama,
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
