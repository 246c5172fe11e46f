//! What the tests of the learner share: games and run directories of the registry's tests, whole programs, and what
//! they are compared with.
#![allow(dead_code, unused_imports)]

#[path = "../../../registry/tests/common/mod.rs"]
mod registry_common;
pub mod s3;
pub mod searched;
pub mod system;
pub mod truth;

pub use registry_common::*;
