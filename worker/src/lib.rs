//! What actors and evaluators share: they join a learner, lease games, search them on threads of their own, stream
//! leaves to the learner and evaluations back, and report each ply.
//!
//! A worker is stateless: the learner owns every game. Tasks under tokio talk to the learner and see messages only;
//! the threads see games and searches, and no gRPC. Neither links libtorch.
//!
//! Reading order: [`run`](run()) starts everything and keeps the session going; `learner_connection` joins the
//! learner; `leases`, `evaluation_stream`, `ply_reports` and `renewals` each carry one kind of message; `game_thread`
//! is one thread, `leased_game` one of its games; `leaf_batcher` answers leaves from the `cache` or puts them into a
//! batch.

mod cache;
mod channels;
mod counters;
mod evaluation_stream;
mod game_need;
mod game_thread;
mod held_leases;
mod leaf_batcher;
mod learner_connection;
mod learner_terms;
mod lease_terms;
mod leased_game;
mod leases;
mod log_throttle;
mod ply_reports;
pub mod program;
mod renewals;
mod run;
mod worker_progress;
mod worker_settings;

pub use counters::Summary;
pub use learner_connection::WorkerError;
pub use learner_terms::LearnerTerms;
pub use lease_terms::{LeaseError, LeaseTerms};
pub use run::run;
pub use worker_settings::{WorkerConfig, WorkerSettings};
