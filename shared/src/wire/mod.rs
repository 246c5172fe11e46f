//! Domain to messages and back: the only place that knows both.
//!
//! Whatever a peer sends is checked here, so that what comes out needs no second look. The messages themselves are
//! described in `docs/wire.md` and in the `.proto` files. Nothing here sends or receives.

mod evaluations;
mod ids;
mod leaves;
mod ply;
mod search;
mod spec;
mod worker_kind;

pub use evaluations::{EvaluationHeader, read_evaluations, write_evaluations};
pub use ids::{network_id_from_wire, network_ref_from_wire, network_ref_to_wire};
pub use leaves::{Leaf, LeafBatchBuilder, LeafBatchView, read_leaf_batch};
pub use ply::{ReportedPly, ply_from_proto, ply_to_proto};
pub use search::{search_settings_from_proto, search_settings_to_proto};
pub use spec::{game_spec_from_proto, game_spec_to_proto};
pub use worker_kind::worker_kind_word;

use std::ops::RangeInclusive;

use crate::record::PolicyTargetError;
use crate::search::EvaluationError;
use crate::setting::SettingError;

/// Message of the status `Unavailable` that ends the evaluation streams of a learner that is stopping.
pub const LEARNER_STOPPING: &str = "the learner is stopping";
/// Most leaves that a batch of a worker may hold.
pub const BATCH_LEAF_COUNT_MAX: usize = 16_384;
/// Possible numbers of leaves of a batch of a worker.
pub const BATCH_LEAF_COUNTS: RangeInclusive<u32> = 1..=BATCH_LEAF_COUNT_MAX as u32;
/// Most games whose leases one call may renew.
pub const RENEWED_GAME_COUNT_MAX: usize = 4096;
/// Most bytes a packed position may take.
pub const POSITION_BYTE_COUNT_MAX: usize = 1024;

/// Most bytes that position and policy indices of a leaf may take, on average over a batch: ten times those of Hive.
pub const LEAF_BYTES_MAX: usize = 2048;

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WireError {
    /// A part that must be there is not.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A number or text is outside what may be sent.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field of the message.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Two parts of a message that belong together differ in length.
    #[error("{field} has {actual} entries, expected {expected}")]
    Length {
        /// The field of the message.
        field: &'static str,
        /// What was found.
        actual: usize,
        /// What the rest of the message asks for.
        expected: usize,
    },
    /// Something is longer than allowed.
    #[error("{field}: {actual} is more than {limit}")]
    TooLarge {
        /// The field of the message.
        field: &'static str,
        /// What was found.
        actual: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// The policy target of a ply cannot be read.
    #[error(transparent)]
    PolicyTarget(#[from] PolicyTargetError),
    /// A setting of the game or the search is impossible.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The peer says why it could not evaluate a batch.
    #[error("the learner could not evaluate the batch: {0}")]
    Refused(String),
}

/// What an answer that cannot be read means for the leaves that wait for it.
impl From<WireError> for EvaluationError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Refused(reason) => Self::Refused(reason),
            other => Self::InvalidAnswer(other.to_string()),
        }
    }
}

impl WireError {
    fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { field, reason: reason.into() }
    }
}

/// Checks that `actual` is at most `limit`.
fn check_limit(field: &'static str, actual: usize, limit: usize) -> Result<(), WireError> {
    if actual > limit { Err(WireError::TooLarge { field, actual, limit }) } else { Ok(()) }
}

/// Checks that two lengths agree.
fn check_length(field: &'static str, actual: usize, expected: usize) -> Result<(), WireError> {
    if actual == expected { Ok(()) } else { Err(WireError::Length { field, actual, expected }) }
}
