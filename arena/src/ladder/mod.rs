//! All players of a run that have met, and how strong each is.
//!
//! `store` keeps the results of matches, `rating` makes Elo of them, `table` shows it.

mod rating;
mod store;
mod table;

pub use rating::{Meeting, Rating, rate};
pub use store::{LadderError, LadderStore, MatchKey, StoredMatch};
pub use table::table;
