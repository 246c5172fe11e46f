//! The samples that a network learns from: where they come from, how they are kept, and how batches are drawn.
//!
//! - [`buffer`] holds packed positions in memory; [`sampler`] draws the random batches of a run from it, and
//!   [`epoch_batches`] the shuffled batches of an epoch.
//! - [`dataset`] reads and writes files of samples; [`human_games`] reads human games and makes samples of
//!   them, [`game_collection`] gathers them in a file; [`split`] holds games out to measure with, and [`sample_sets`] keeps both sides.
//! - [`part_file`] writes a file that appears only once it is complete.
//!
//! Nothing here knows tensors, a database, gRPC or settings. Only the learner and `alveare book` read human games: they are a feature.

pub mod buffer;
pub mod dataset;
pub mod epoch_batches;
#[cfg(feature = "human_games")]
pub mod game_collection;
#[cfg(feature = "human_games")]
pub mod human_games;
pub mod part_file;
pub mod sample_sets;
pub mod sampler;
pub mod split;
