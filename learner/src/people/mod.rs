//! Games that people played: found in files and archives, read, split, and made into samples.
//!
//! Nothing here knows tensors. How the texts are read is told in `docs/game-records.md`; which games teach what, in
//! `docs/training.md`.

mod key;
mod read;
mod samples;
mod sets;
mod texts;

pub use key::game_key;
pub use read::{Dropped, ReadGames, ReadSettings, check_paths, read_games, tell_dropped};
pub use samples::{GameSamples, encoding_of, samples_of};
pub use sets::{LeftOut, PeopleSets, SetSettings, make_sets};
