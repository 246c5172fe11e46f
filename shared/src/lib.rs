//! The pure domain of Alveare: rules, encodings, search and records.
//!
//! Nothing here knows of tokio, tonic, tch, clocks, the environment, files or threads.
//! What a position is shown as lives in `encoding`, what a peer sends in `wire`.

pub mod bounds;
pub mod catalog;
pub mod conformance;
pub mod encoding;
pub mod game;
pub mod gate;
pub mod ids;
pub mod opening;
pub mod precision;
pub mod quoted;
pub mod record;
pub mod search;
pub mod seed;
pub mod setting;
pub mod wire;

/// Version of the rules, encodings, records and packed forms; peers that differ are refused.
pub const DOMAIN_VERSION: u32 = 2;
