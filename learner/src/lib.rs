//! The learner: owns the games, the networks and the GPU of a run.
//!
//! Its memory is the crates `registry` and `store`: synchronous, and they know neither gRPC nor tensors. The crate
//! `inference` answers leaves, `backup` keeps copies elsewhere. What is learned from is the crate `samples`; `supervised`
//! trains without self-play. `trainer` owns its tensors on a thread of its own. `services` translates messages, `pipeline`
//! decides what comes next, `page` shows the run in a browser, and `run` puts everything together. `bench` measures a
//! device, `plan` computes what it makes of a run.

pub mod bench;
pub mod best_file;
pub mod certificates;
pub mod check;
pub mod config;
mod devices;
mod gate_check;
pub mod http;
mod human_share;
pub mod infer;
mod losses;
pub mod numbers;
pub mod page;
mod pipeline;
pub mod plan;
pub mod prediction;
pub mod presets;
mod progress;
pub mod run;
mod services;
pub mod start_network;
pub mod supervised;
mod tensorboard;
#[cfg(test)]
mod tests;
mod trainer;
pub mod training_source;
mod upkeep;
mod webhook;
