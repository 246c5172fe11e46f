//! The messages and services of package `alveare.v1`, generated from the `.proto` files beside this crate.
//!
//! No domain type lives here: `shared::wire` translates.
#![allow(missing_docs, clippy::all, clippy::pedantic)]

include!(concat!(env!("OUT_DIR"), "/alveare.v1.rs"));

/// Encoded file descriptors, for gRPC reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// Version of the protocol; peers that differ are refused.
pub const PROTOCOL_VERSION: u32 = 6;
