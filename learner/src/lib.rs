//! The learner's memory: the store of a run, the games that workers play for it, and the replay buffer.
//!
//! Everything here is synchronous and knows neither gRPC nor tensors; services and pipeline are in the program.

pub mod games;
pub mod replay;
pub mod store;
