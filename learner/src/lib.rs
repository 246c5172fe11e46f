//! The learner: owns the games, the networks and the GPU of a run.
//!
//! `store`, `games` and `replay` are its memory: synchronous, and they know neither gRPC nor tensors. `inference` and
//! `trainer` each own their tensors on a thread of their own. `services` translates messages, `pipeline` decides what
//! comes next, and `run` puts everything together.

mod best;
pub mod config;
pub mod data;
pub mod datasets;
mod durable;
pub mod evaluate;
pub mod figures;
pub mod files;
pub mod games;
pub mod inference;
pub mod inquire;
mod known_network;
mod lock;
pub mod offline;
mod part;
pub mod people;
mod pipeline;
pub mod presets;
pub mod replay;
pub mod run;
pub mod serve;
mod services;
pub mod split;
pub mod store;
mod trainer;
