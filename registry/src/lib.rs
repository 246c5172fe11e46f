//! The registry of games: the learner owns every game, workers hold leases on them and report plies.
//!
//! A ply is checked by the rules as it comes, and acknowledged once it is on disk. A finished game is replayed as a
//! whole before it counts, once. Time is passed in: nothing here reads a clock.

mod barred;
mod discount;
mod error;
mod game_progress;
mod gate;
mod gates;
mod grants;
mod held_games;
mod holders;
mod lease;
mod load;
mod open_game;
mod open_games;
mod pairs;
mod ply_fit;
mod rebuild;
mod registry;
mod report;
mod resignation;
mod seed;
mod starts;
mod yardstick;

pub use barred::Bar;
pub use error::RegistryError;
pub use game_progress::{FinishedCounters, GameCounters, GameProgress};
pub use gate::{GatePlan, GateReport};
pub use grants::{GrantSettings, LeafLoad};
pub use held_games::{HeldCounts, HeldGames};
pub use lease::{Lease, LeaseRequester, Leases, LeasesUnderWay, check_worker_id};
pub use rebuild::{RebuildReport, rebuild};
pub use registry::{GameRegistry, RegistryLimits, SelfPlayPlan};
pub use report::{PlyStatus, ReportUnderWay};
pub use resignation::ResignationRule;
pub use seed::hash_moves;
pub use starts::StartPlan;
pub use yardstick::YardstickPlan;
