//! A look at games, of a run or of people, and their way into other programs: `learner data-info`, `learner export`.
//!
//! Nothing here needs a network or a running learner; a run may go on meanwhile.

mod export;
mod game_file;
mod info;
mod samples;
mod sources;

pub use export::{ExportArgs, export};
pub use info::{InfoArgs, info};
