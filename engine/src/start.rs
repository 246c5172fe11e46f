//! Which game a command is about, and from which position it starts.

use std::error::Error;
use std::fmt;

use anyhow::ensure;
use clap::ValueEnum;
use networks::NetworkSource;
use runtime::exit::{UsageError, one_line};
use shared::catalog::{GameSpec, NetworkGame};
use shared::game::dama::Dama;
use shared::game::hive::{GameType, Hive};

/// Which game a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GameName {
    /// Hive, with or without expansions.
    Hive,
    /// Italian draughts.
    Dama,
}

impl GameName {
    /// Returns the game that a network is of; `None` if this program does not play it.
    pub const fn of_spec(spec: &GameSpec) -> Option<Self> {
        match spec {
            GameSpec::Hive { .. } => Some(Self::Hive),
            GameSpec::Dama { .. } => Some(Self::Dama),
            GameSpec::TicTacToe {} => None,
        }
    }

    /// Returns the game of a network in a file; `None` for the one that the program carries for each game, and for a file
    /// that is none.
    #[cfg(feature = "network")]
    pub fn of_network(source: &NetworkSource) -> Option<Self> {
        Self::of_spec(&net::NetworkFile::read(source.file()?).ok()?.spec().ok()?.game)
    }

    /// Returns the game of a network: none is read.
    #[cfg(not(feature = "network"))]
    pub const fn of_network(_: &NetworkSource) -> Option<Self> {
        None
    }

    /// Returns how the game is named on the command line.
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Hive => "hive",
            Self::Dama => "dama",
        }
    }

    /// Returns the game that the text of a position is of: a FEN has colons, a GameString of Hive has none.
    pub fn of_position(text: &str) -> Self {
        if text.contains(':') { Self::Dama } else { Self::Hive }
    }

    /// Returns the game that a file of games or facts is about; `None` if it is no such file.
    pub fn of_facts(text: &str) -> Option<Self> {
        let text = text.trim_start();
        let line = text.lines().next()?;
        match text.as_bytes()[0] {
            b'{' if line.contains("\"gametype\"") => Some(Self::Hive),
            // PDN begins with a tag or a move.
            b'{' | b'[' | b'0'..=b'9' => Some(Self::Dama),
            _ if line.starts_with("Base") => Some(Self::Hive),
            _ => None,
        }
    }
}

/// As sentences name it.
impl fmt::Display for GameName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hive => Hive::NAME,
            Self::Dama => Dama::NAME,
        })
    }
}

/// Where a command starts.
#[derive(Debug, Clone, clap::Args)]
pub struct StartOptions {
    /// The game. The default is that of the position or the network that is named, else Hive.
    #[arg(long, value_enum)]
    pub game: Option<GameName>,
    /// Hive: expansions in play, Base, or Base+ and some of M, L, P. The default is that of --position, else Base+MLP.
    #[arg(long = "type", value_name = "TYPE")]
    pub game_type: Option<GameType>,
    /// The position: Hive, a UHP GameString `Base;InProgress;White[2];wS1;bS1 wS1-`; draughts, a FEN
    /// `W:W21,K7,30:BK3,12,14`. The default is the start of a game.
    #[arg(long, value_name = "POSITION")]
    pub position: Option<String>,
}

impl StartOptions {
    /// Returns the game that is named, else that of the position, else that of the network, else Hive.
    pub fn game(&self, of_network: impl FnOnce() -> Option<GameName>) -> GameName {
        let of_position = || self.position.as_deref().map(GameName::of_position);
        self.game.or_else(of_position).or_else(of_network).unwrap_or(GameName::Hive)
    }

    /// Refuses a position of another game than `game`, which `--game` has named.
    ///
    /// # Errors
    /// [`UsageError`].
    pub fn ensure_position_of(&self, game: GameName) -> anyhow::Result<()> {
        let Some(text) = &self.position else { return Ok(()) };
        let found = GameName::of_position(text);
        // What has no colon may be of no game at all.
        let is_other = found != game && (found == GameName::Dama || text.trim_start().starts_with("Base"));
        if is_other {
            return Err(wrong_position(format!("a position of {found}: leave --game {} away", game.flag())));
        }
        Ok(())
    }
}

/// Returns an error for the user, its causes included, with the exit code for wrong usage if that is what it is.
pub fn failure(error: impl Error + Send + Sync + 'static, is_usage: bool) -> anyhow::Error {
    if is_usage { UsageError(one_line(&error)).into() } else { error.into() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_usage_keeps_its_causes() {
        let error = shared::game::MoveError::GameOver { text: "pass".to_owned(), ply: 3 };
        let error = arena::matches::MatchError::Opening(error);
        let text = failure(error, true).to_string();
        assert_eq!(text, "opening: move \"pass\" after the end of the game at ply 3");
    }

    #[test]
    fn a_position_of_another_game_than_the_one_named_is_refused() {
        let check = |game: GameName, text: &str| {
            let start = StartOptions { game: Some(game), game_type: None, position: Some(text.to_owned()) };
            start.ensure_position_of(game).map_err(|error| error.to_string())
        };
        let refused = |text: &str| Err(format!("--position: a position of {text} away"));
        assert_eq!(check(GameName::Hive, "W:W21:B12"), refused("Italian draughts: leave --game hive"));
        assert_eq!(check(GameName::Dama, "Base;NotStarted;White[1]"), refused("Hive: leave --game dama"));
        for (game, text) in
            [(GameName::Hive, "Base+MLP"), (GameName::Hive, "x"), (GameName::Dama, "x"), (GameName::Dama, "W:B")]
        {
            assert_eq!(check(game, text), Ok(()));
        }
    }

    #[test]
    fn a_position_and_facts_say_which_game_they_are_of() {
        for (text, game) in [
            ("Base", GameName::Hive),
            ("Base+MLP;InProgress;White[2];wS1;bS1 wS1-", GameName::Hive),
            ("W:W21,K7,30:BK3,12,14", GameName::Dama),
            ("[FEN \"B:W18:B22\"]", GameName::Dama),
        ] {
            assert_eq!(GameName::of_position(text), game, "{text}");
        }
        for (text, game) in [
            ("\n{\"gametype\":\"Base\"}", Some(GameName::Hive)),
            ("{\"fen\":\"W:W21:B\"}\n{\"gametype\":1}", Some(GameName::Dama)),
            ("[Event \"x\"] 21-17", Some(GameName::Dama)),
            ("1. 21-17 12-15", Some(GameName::Dama)),
            ("Base;NotStarted;White[1]", Some(GameName::Hive)),
            ("\nBase+MLP;Draw;White[2];wS1;bS1 wS1-\n", Some(GameName::Hive)),
            ("some notes", None),
            (" \n", None),
        ] {
            assert_eq!(GameName::of_facts(text), game, "{text}");
        }
    }
}
