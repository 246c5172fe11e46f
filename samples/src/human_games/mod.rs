//! Human games: found in files and archives, read, split, and made into samples.
//!
//! How the texts are read is described in `docs/game-records.md`; which games are learned from, in `docs/training.md`.

mod game_key;
mod game_samples;
mod openings;
mod read;
mod sets;
mod share;
mod tables;
mod texts;

pub use game_key::game_key;
pub use game_samples::{GameSamples, NotHive, encoding_of, samples_of};
pub use openings::openings_of;
pub use read::{
    DroppedGame, HumanGamesError, ReadBatch, ReadGames, ReadSettings, check_paths, is_contradicted, read_games,
    read_in_batches, read_table,
};
pub use sets::{GameTypes, HumanSampleSets, LeftOutCounts, SetSettings, make_sets};
pub use share::{HumanGames, HumanSampler};
pub use texts::{ListedFiles, list_files};
