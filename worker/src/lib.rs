//! What actors and evaluators share: a learner to join, games leased from it, threads that search them, the stream
//! that carries leaves there and evaluations back, and the plies reported.
//!
//! A worker is stateless: the learner owns every game. Tasks under tokio speak with the learner and know messages
//! alone; the threads know games and search, and nothing of gRPC. libtorch is linked by neither.
//!
//! Reading order: [`run`](run()) starts all and holds the session, `connect` joins, `leases`, `evaluations`,
//! `reports` and `renewals` each carry one kind of message, `pool` is a thread, `game` one game in it, `desk` where
//! leaves are answered from the `cache` or put into a batch. `answers` is for threads that play games of their own.

pub mod answers;
mod backoff;
mod cache;
mod connect;
mod counters;
mod desk;
mod evaluations;
mod game;
mod leases;
pub mod load;
mod messages;
mod pool;
pub mod program;
mod progress;
mod renewals;
mod reports;
mod run;
mod settings;
mod tickets;

pub use connect::WorkerError;
pub use counters::Summary;
pub use run::run;
pub use settings::{WorkerConfig, WorkerSettings};
