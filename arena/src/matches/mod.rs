//! Which games a match has, how they are played, and what came of them.
//!
//! `plan` says which games there are, `finished` what a game is when it is over, `match_game` what a match must know of
//! its game beside the rules; `play` plays one game, `runner` many at once; `result` and `games_file` report them.

mod error;
mod finished;
mod games_file;
mod match_game;
mod plan;
mod play;
mod result;
mod runner;

pub use error::MatchError;
pub use finished::{Ending, FinishedGame};
pub use games_file::GamesFile;
pub use match_game::MatchGame;
pub use plan::{PlannedGame, plan};
pub use result::MatchResult;
pub use runner::{MatchRunner, MatchSettings, player_name};
