//! What the tests of the learner share besides the crate `fixtures`: whole programs, and what they are compared with.
#![allow(dead_code)]

pub mod s3;
pub mod searched;
pub mod system;
pub mod truth;
