//! What every program needs to start and to stop: settings in layers, logs, exit codes, signals, lines read from
//! anybody, files that may be written over, and the gRPC settings that both sides must share.
//!
//! No game, no search and no network lives here. Only [`layers::Sources::new`] reads the environment.

pub mod auth;
pub mod backoff;
pub mod call_guard;
mod connection_limits;
mod connection_places;
pub mod connections;
pub mod counted;
pub mod exit;
pub mod flags;
pub mod layers;
pub mod limits;
pub mod lines;
pub mod logging;
pub mod open_files;
pub mod origin;
pub mod refusals;
pub mod replaced_file;
pub mod server_auth;
pub mod shutdown;
pub mod summed_log;
pub mod tls;
pub mod worker_key;
