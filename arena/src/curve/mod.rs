//! How a run grew stronger with what it cost: networks that were promoted play fixed opponents.
//!
//! `run` reads from a run's store which networks were promoted and what the run had cost by then, `choice` takes some of
//! them, `play` lets them play what is missing, `store` keeps the pairs of games in the folder of the run, `points` makes
//! Elo of them; `text` and `plot` show it. The learner does not know any of this, and its database is never written.

mod choice;
mod error;
mod play;
mod plot;
mod points;
mod run;
mod store;
mod text;

pub use choice::choose;
pub use error::CurveError;
pub use play::{CurveMatches, CurveSettings};
pub use plot::svg;
pub use points::{Curve, CurvePoint, curves};
pub use run::{CurveAxis, CurveRun, RunNetwork, axis_of};
pub use store::{CurveKey, CurveStore, PairPoints};
pub use text::{csv, table};
