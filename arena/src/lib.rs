//! Who is stronger: matches between any two players, and a ladder of all that have met.
//!
//! Players are random play, searches with and without a network, and other programs that speak UHP (Hive) or the hub
//! protocol (draughts). Networks are computed in this process, and the leaves of all games of a match that are played
//! at the same time share batches (feature `network`, which links libtorch). The commands `alveare match` and
//! `alveare ladder` are made of this, and `alveare curve`, which shows how a run grew stronger; command line, log and
//! signals are theirs.
//!
//! Reading order: [`players`] (`spec` reads a player from its text, the others play), then [`mod@matches`] (`plan` says
//! which games there are, `play` plays one, `runner` many at once, `result` and `games_file` report them), then
//! [`levels`] (the table of named strengths), [`ladder`] (`store` keeps results, `rating` makes Elo of them, `table` shows it), which knows nothing of the others, then
//! [`curve`], which uses both. `run_game` says what a run plays; `self_play` makes games of one network to learn from.

pub mod curve;
mod database;
pub mod ladder;
pub mod levels;
pub mod matches;
pub mod players;
mod run_game;
#[cfg(feature = "network")]
pub mod self_play;

pub use run_game::{RunGameError, game_of_run};
