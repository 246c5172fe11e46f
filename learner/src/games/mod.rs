//! The registry of games: the learner owns every game, workers hold leases on them and report plies.
//!
//! A ply is checked by the rules as it comes, and acknowledged once it is on disk. A finished game is replayed as a
//! whole before it counts, once. Time is passed in: nothing here reads a clock.

mod discount;
mod game_progress;
mod gate;
mod grants;
mod held_games;
mod holders;
mod lease;
mod load;
mod open_game;
mod open_games;
mod pairs;
mod ply_fit;
mod registry;
mod report;
mod seed;
mod starts;
mod yardstick;

pub use game_progress::{FinishedCounters, GameCounters, GameProgress};
pub use gate::{GatePlan, GateReport};
pub use grants::{GrantSettings, LeafLoad};
pub use held_games::{HeldCounts, HeldGames};
pub use lease::{Lease, Leases};
pub(crate) use lease::{LeasesUnderWay, check_worker_id};
pub use registry::{GameRegistry, RegistryError, RegistryLimits, SelfPlayPlan};
pub use report::PlyStatus;
pub(crate) use report::ReportUnderWay;
pub(crate) use seed::hash_moves;
pub use shared::opening::random_openings;
pub use shared::seed::mix_seed;
pub use starts::StartPlan;
pub use yardstick::YardstickPlan;
